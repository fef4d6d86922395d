#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A real job array on a Slurm of this test's own: one task is killed, one requeued, and the merged export must have the
# bytes of a single process. TOY_MAIN is the program, SCRIPTS the folder of slurm-sweep.sh. Status 77 means skipped.
set -euo pipefail

skip() {
    echo "SKIP: $1"
    exit 77
}

PATH=$PATH:/usr/sbin:/sbin
for tool in munged slurmctld slurmd sbatch scontrol squeue sinfo; do
    command -v "$tool" >/dev/null || skip "no $tool here (Debian packages: slurm-wlm, munge)"
done
[ "$(id -u)" -eq 0 ] || skip "starting slurmd needs root"

dir=$(mktemp -d /tmp/slurm-test.XXXXXX)
host=$(hostname -s)
port=$((20000 + RANDOM))
export SLURM_CONF=$dir/slurm.conf SLUBSIM=$dir/program

stop_by_pid_file() {
    local pid
    pid=$(cat "$dir/$1.pid" 2>/dev/null) || return 0
    kill "$pid" 2>/dev/null || return 0
    for _ in $(seq 50); do
        kill -0 "$pid" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -9 "$pid" 2>/dev/null || true
}

finish() {
    local status=$?
    # 77 is a skip: what could not be started has nothing to tell about us.
    if [ "$status" -ne 0 ] && [ "$status" -ne 77 ]; then
        tail -n 20 "$dir"/*.log "$dir"/merged.study.shards/*.log 2>/dev/null || true
    fi
    scancel --quiet --user=root 2>/dev/null || true
    stop_by_pid_file slurmd
    stop_by_pid_file slurmctld
    stop_by_pid_file munged
    rm -rf "$dir"
    exit "$status"
}
trap finish EXIT

# wait_for SECONDS COMMAND...
wait_for() {
    local until=$((SECONDS + $1))
    shift
    until "$@"; do
        ((SECONDS < until)) || return 1
        sleep 0.2
    done
}

start_slurm() {
    mkdir "$dir/state" "$dir/spool"
    chmod 755 "$dir"
    dd if=/dev/urandom of="$dir/munge.key" bs=1024 count=1 status=none
    chmod 400 "$dir/munge.key"
    cat >"$SLURM_CONF" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket
CredType=cred/munge
SlurmctldPort=$port
SlurmdPort=$((port + 1))
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
KillWait=2
MinJobAge=300
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=main Nodes=$host Default=YES State=UP MaxTime=10
CONF
    munged --force --key-file="$dir/munge.key" --socket="$dir/munge.socket" --pid-file="$dir/munged.pid" \
        --log-file="$dir/munged.log" --seed-file="$dir/munged.seed" 2>/dev/null || skip "munged does not start here"
    slurmctld 2>/dev/null || skip "slurmctld does not start here"
    slurmd 2>/dev/null || skip "slurmd does not start here"
    wait_for 30 node_is_idle || skip "the node does not come up here"
}

node_is_idle() {
    [ "$(sinfo --noheader --format=%t 2>/dev/null)" = idle ]
}

n_runs() {
    "$TOY_MAIN" export "$dir/merged.study.shards/$1.study" --out "$dir/peek.tsv" 2>/dev/null || return 1
    wc -l <"$dir/peek.tsv"
}

has_begun() {
    [ -s "$dir/pid.$1" ] && [ "$(n_runs "$1" || echo 0)" -ge 3 ]
}

job_state() {
    scontrol --oneliner show job "$1" 2>/dev/null | grep -o 'JobState=[A-Z_]*' | head -n 1 | cut -d= -f2
}

is_pending() {
    [ "$(job_state "$1")" = PENDING ]
}

has_ended() {
    case $(job_state "$1") in
    COMPLETED | FAILED | CANCELLED | TIMEOUT | NODE_FAIL | OUT_OF_MEMORY) return 0 ;;
    *) return 1 ;;
    esac
}

start_slurm
# The program, leaving the number of its process.
cat >"$SLUBSIM" <<PROGRAM
#!/bin/sh
echo \$\$ >"$dir/pid.\${SLURM_ARRAY_TASK_ID:-none}"
exec "$TOY_MAIN" "\$@"
PROGRAM
chmod 755 "$SLUBSIM"
cat >"$dir/a.scenario" <<SCENARIO
[scenario]
title = an array
[run]
duration = 1 ms
replications = 12
starts = cold; warm
[toy]
delay_us = 60000
[sweep]
toy.cpus = 2; 8; 32
toy.cost = 1; 10
SCENARIO
"$TOY_MAIN" sweep "$dir/a.scenario" --study "$dir/single.study" -q

words=$("$SCRIPTS/slurm-sweep.sh" "$dir/a.scenario" 3 "$dir/merged.study" --cpus-per-task=1)
echo "# submitted: $words"
read -r _ array _ merge <<<"$words"
wait_for 30 has_begun 2
kill -9 "$(cat "$dir/pid.2")"
echo "# killed the sweep of shard 2 after $(n_runs 2) lines"
wait_for 30 has_begun 1
scontrol requeue "${array}_1"
echo "# requeued shard 1"
wait_for 30 is_pending "${array}_1"
# Slurm would wait two minutes for stragglers.
scontrol update JobId="${array}_1" StartTime=now
wait_for 90 has_ended "$merge"
echo "# merge: $(job_state "$merge"), restarts of shard 1: $(scontrol show job "${array}_1" | grep -o 'Restarts=[0-9]*')"
[ "$(job_state "$merge")" = COMPLETED ]
grep -q "attempt 2" "$dir/merged.study.shards/2.log"
for table in metrics summary points locks series waits memory; do
    "$TOY_MAIN" export "$dir/single.study" --table "$table" --out "$dir/single.tsv"
    "$TOY_MAIN" export "$dir/merged.study" --table "$table" --out "$dir/merged.tsv"
    cmp "$dir/single.tsv" "$dir/merged.tsv"
done
echo "ok: the merged export has the bytes of a single process"
