#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The compact traces of the replay tests, from a folder with kmem-trace-*: only some caches, no process ids, and the
# number of the event instead of its time (objects of one bulk call share it).
set -eu
from=$1
cd "$(dirname "$0")"

reduce()
{
    zcat "$from/kmem-trace-$1.events.tsv.gz" | awk -F'\t' -v OFS='\t' -v names="$2" -v most="${3:-1000000}" '
        BEGIN { n = split(names, list, ","); for (i = 1; i <= n; i++) wanted[list[i]] = 1 }
        NR == 1 { print; next }
        !($6 in wanted) { next }
        count >= most { exit }
        { call = $1 FS $2 FS $5 FS $6; if (($5 != "B" && $5 != "G") || call != last) count++; last = call
          $1 = sprintf("%d.%06d", count / 1000000, count % 1000000); $3 = ""; $8 = ""; print }' |
        zstd -19 -q -f -o "replay-$1.events.tsv.zst"
    awk -F'\t' -v names="$2" '
        NR == 1 { print; next }
        { n = split(names, list, ","); m = split($NF, own, ",")
          for (i = 1; i <= n; i++) { if ($1 == list[i]) { print; next }
              for (j = 1; j <= m; j++) if (own[j] == list[i]) { print; next } } }' \
        "$from/kmem-trace-$1.geom-before.tsv" > "replay-$1.geom-before.tsv"
    grep -E '^(uname|cmdline|cpus_|nodes?|page_size)' "$from/kmem-trace-$1.env" > "replay-$1.env"
}

reduce 6.1-hackbench-smp2 skbuff_head_cache
reduce 6.1-files-smp2 dentry,shmem_inode_cache
reduce 6.1-mmap1-smp2 maple_node 15000
reduce 6.12-hackbench-smp8 skbuff_head_cache
reduce 6.12-mmap1-smp8 maple_node
