#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A sweep as a Slurm job array: one shard a task, then a merge that waits for all of them. See docs/cluster.md.
#
#   slurm-sweep.sh SCENARIO SHARDS OUT.study [SBATCH OPTION...]
#
# SLUBSIM names the program (default: slubsim). Prints the numbers of the two jobs. The same command again goes on where
# the shards are: they stay in OUT.study.shards/ until you remove them.
set -euo pipefail

program=${SLUBSIM:-slubsim}

# A task that died in the middle goes on from its shard; a wrong scenario (2) fails at once.
task() {
    local scenario=$1 shards=$2 out=$3 status=1 attempt
    local shard=$SLURM_ARRAY_TASK_ID jobs=${SLURM_CPUS_ON_NODE:-1}
    for attempt in 1 2 3; do
        echo "shard $shard of $shards, attempt $attempt, restart ${SLURM_RESTART_COUNT:-0}"
        status=0
        "$program" sweep "$scenario" --study "$out.shards/$shard.study" --shard "$shard/$shards" -j "$jobs" --yes ||
            status=$?
        case $status in
        0 | 2) return "$status" ;;
        esac
    done
    return "$status"
}

merge() {
    local shards=$1 out=$2 shard files=()
    for ((shard = 1; shard <= shards; shard++)); do
        files+=("$out.shards/$shard.study")
    done
    "$program" merge "$out" "${files[@]}"
}

submit() {
    local scenario=$1 shards=$2 out=$3 array joined
    shift 3
    if ! [[ $shards =~ ^[1-9][0-9]*$ ]]; then
        echo "slurm-sweep.sh: $shards: not a number of shards" >&2
        exit 2
    fi
    mkdir -p "$out.shards"
    # --requeue: a preempted task, or one whose node was lost, starts again and finds its shard.
    array=$(sbatch --parsable --job-name=sweep --array="1-$shards" --requeue --open-mode=append \
        --output="$out.shards/%a.log" "$@" "$self" --task "$scenario" "$shards" "$out")
    joined=$(sbatch --parsable --job-name=merge --dependency="afterok:${array%%;*}" --kill-on-invalid-dep=yes \
        --output="$out.shards/merge.log" "$@" "$self" --merge "$shards" "$out")
    echo "array ${array%%;*} merge ${joined%%;*}"
}

self=$0
case ${1:-} in
--task) task "${@:2}" ;;
--merge) merge "${@:2}" ;;
*)
    if (($# < 3)); then
        echo "usage: slurm-sweep.sh SCENARIO SHARDS OUT.study [SBATCH OPTION...]" >&2
        exit 2
    fi
    submit "$@"
    ;;
esac
