/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every cost of a machine, one row each: field and scenario key, default with bounds and source, what it is. The
 * defaults are a generic two-socket x86-64 server; machine files give their own. No include guard: read several
 * times under different meanings of COST. */
COST(alloc_fast, "7 ns [3 ns .. 15 ns] kmem_cache_alloc of a cpu slab object without memcg (slub-facts D.3)",
     "one allocation from the cpu slab's freelist")
COST(free_fast, "6 ns [3 ns .. 15 ns] slub-facts D.3", "one free to the cpu slab's freelist")
COST(bulk_object, "3 ns [1 ns .. 10 ns] BULK rows: half to two thirds of a single call",
     "each object that a bulk call takes off a freelist, each further one that it frees into one slab")
COST(alloc_slow, "35 ns [15 ns .. 80 ns] slub-facts D.3, refill 30 to 60 ns with its CAS", "___slab_alloc without its line transfers")
COST(free_slow, "12 ns [5 ns .. 40 ns] slub-facts D.3", "__slab_free without its line transfers")
COST(slab_cas, "8 ns [4 ns .. 15 ns] lock cmpxchg16b on an owned line, 20 to 30 cycles (slub-facts D.2)",
     "one compare-exchange of a slab's freelist and counters")
COST(lock_acquire, "6 ns [3 ns .. 12 ns] locked RMW on an owned line, 18 to 22 cycles (slub-facts D.2)",
     "taking a free lock whose line the CPU owns")
COST(lock_release, "2 ns [0 ns .. 8 ns] plain store", "unlock store")
COST(ticket_spinner, "40 ns [10 ns .. 200 ns] one line re-read per spinner (Non-scalable locks are dangerous, 2012)",
     "ticket lock: added to a hand-off for each other spinner")
COST(hold_base, "25 ns [5 ns .. 100 ns] list_lock section without slabs", "list_lock held, fixed part")
COST(hold_slab, "45 ns [10 ns .. 200 ns] list_add, list_del, counters and their misses",
     "list_lock held, each slab moved, without the transfer of its struct slab")
COST(scan_slab, "15 ns [2 ns .. 90 ns] estimate: a pointer chased through struct slabs in L2, or in memory",
     "list_lock held, each slab that is only looked at, without the transfer of its struct slab")
COST(ipi_send, "100 ns [30 ns .. 500 ns] estimate: one ICR write and its bookkeeping",
     "asking another CPU for something, by interrupt or by work")
COST(ipi_delivery, "800 ns [200 ns .. 3000 ns] estimate: from the request to the first instruction of the handler",
     "the way of an interrupt to another CPU")
COST(ipi_handler, "300 ns [100 ns .. 1500 ns] estimate: interrupt entry and exit",
     "an interrupt by another CPU, without what it does")
COST(work_switch, "2000 ns [800 ns .. 6000 ns] estimate: two context switches and the work item",
     "going to a kworker and back, without what it does")
COST(line_own, "4 ns [1 ns .. 20 ns] L1 to L2 hit (slub-facts D.2)", "touching a line the CPU touched last itself")
COST(line_same_l3, "52 ns [20 ns .. 90 ns] dirty line of another core, 44 to 62 ns (slub-facts D.2, C2C rows)",
     "moving a dirty line within a last-level cache domain")
COST(line_same_node, "52 ns [20 ns .. 140 ns] as line_same_l3 where a node has one domain",
     "moving a dirty line between last-level cache domains of a node")
COST(line_same_socket, "100 ns [50 ns .. 160 ns] sub-NUMA nodes (slub-facts D.2)",
     "moving a dirty line between nodes of a socket")
COST(line_other_socket, "111 ns [90 ns .. 250 ns] MLC HITM, homed at the owner (slub-facts D.2)",
     "moving a dirty line from the other socket")
COST(line_other_socket_homed_here, "176 ns [90 ns .. 450 ns] MLC HITM, homed at the requester (slub-facts D.2)",
     "the same when the line's memory is on the requester's socket")
COST(line_memory, "80 ns [60 ns .. 150 ns] local DRAM, idle (slub-facts D.2)", "a line that is in no cache")
COST(page_pcp, "30 ns [10 ns .. 80 ns] order-0 pair 40 to 60 ns (slub-facts D.3)",
     "one block from or to a per-CPU page list")
COST(zone_hold_base, "40 ns [10 ns .. 150 ns] zone lock section without blocks", "zone lock held, fixed part")
COST(zone_hold_block, "70 ns [30 ns .. 150 ns] 50 to 100 ns a buddy block (slub-facts D.3)",
     "zone lock held, each buddy block moved")
COST(new_slab, "150 ns [50 ns .. 500 ns] allocate_slab set-up, accounting, vmstat", "a new slab, fixed part")
COST(new_slab_object, "2 ns [0.5 ns .. 10 ns] one freelist link an object (slub-facts D.3)",
     "a new slab, each object's freelist link")
COST(discard_slab, "100 ns [30 ns .. 400 ns] free of the page, accounting, vmstat", "giving a slab back, fixed part")
COST(rcu_callback, "35 ns [10 ns .. 150 ns] callback invocation with a cold object",
     "one RCU callback without the frees it makes")
COST(sheaf_alloc, "5 ns [3 ns .. 10 ns] sheaf paths 4 to 5 ns each (slub-facts D.3)",
     "one allocation from the CPU's main sheaf")
COST(sheaf_free, "5 ns [3 ns .. 10 ns] sheaf paths 4 to 5 ns each (slub-facts D.3)", "one free to the CPU's main sheaf")
COST(array_call, "13 ns [8 ns .. 25 ns] estimate: a sheaf's access, and trylock and unlock of an owned line (slub-facts D.2)",
     "a look at the CPU's array of free objects, with what it takes or puts (RFC of 2023)")
COST(sheaf_object, "0.5 ns [0.2 ns .. 2 ns] estimate: 8 bytes of a memcpy and of the loop around it",
     "each object of a bulk call that is copied to or from a sheaf")
COST(sheaf_refill_object, "3 ns [1 ns .. 30 ns] estimate: as bulk_object, the free pointer is read from the object",
     "each object taken off a slab's freelist into a sheaf, to 6.19 bulk_object instead")
COST(sheaf_new, "60 ns [30 ns .. 300 ns] kzalloc of 512 bytes about 30 ns and zeroing (slub-facts D.3)",
     "allocating an empty sheaf")
COST(sheaf_discard, "25 ns [10 ns .. 100 ns] estimate: kfree and what follows it later",
     "giving an empty sheaf back")
COST(barn_hold, "15 ns [5 ns .. 60 ns] estimate: half a list_lock section without slabs",
     "barn lock held, without the transfers of the sheaves' lines")
COST(objcg_lookup, "17.8 ns [8 ns .. 40 ns] SEED4: root cgroup, to 6.6, less the array's share",
     "finding a task's objcg by RCU and a walk up its memcgs, without the reference")
COST(objcg_lookup_scoped, "0.9 ns [0.3 ns .. 4 ns] SEED4: root cgroup with scoped pointers, less the array's share",
     "reading the task's own objcg pointer")
COST(objcg_ref, "4.3 ns [2 ns .. 10 ns] SEED4: half of what scoped pointers save beyond the lookup",
     "one percpu_ref get or put of an objcg")
COST(memcg_irq_section, "7.2 ns [4 ns .. 15 ns] pushf, cli, popf; WML patch 4",
     "entering and leaving a stock section with interrupts off")
COST(memcg_task_section, "1.2 ns [0.3 ns .. 5 ns] preemption count and a flag; WML patch 4",
     "the same without touching interrupts")
COST(memcg_stock, "1.5 ns [0.5 ns .. 5 ns] a compare and an addition on a per-CPU line",
     "one change of the byte stock inside a section")
COST(memcg_vmstat_cached, "1.5 ns [0.5 ns .. 6 ns] as memcg_stock", "statistics of one object into the stock")
COST(memcg_vmstat_update, "9 ns [4 ns .. 25 ns] WML patch 2",
     "statistics into the memcg's and the node's per-CPU counters")
COST(memcg_charge_pages, "22 ns [10 ns .. 80 ns] WML rows of 4 KiB", "obj_cgroup_charge_pages without page counters")
COST(memcg_uncharge_pages, "8 ns [4 ns .. 60 ns] WML rows of 4 KiB", "obj_cgroup_uncharge_pages without page counters")
COST(objcg_atomic, "4 ns [2 ns .. 12 ns] locked RMW beyond its line (slub-facts D.2)",
     "one operation on an objcg's nr_charged_bytes")
COST(page_counter, "11 ns [5 ns .. 25 ns] locked addition, watermark and protection; WML v1 rows",
     "one level of a page counter, beyond its line")
COST(objext_set, "5 ns [1.5 ns .. 12 ns] index by multiplication, check, store", "writing an object's ext")
COST(objext_clear, "1.5 ns [0.5 ns .. 8 ns] store on a line just read", "clearing an object's ext")
COST(alloc_tag, "3 ns [1 ns .. 8 ns] per-CPU counter of allocation profiling", "profiling of one allocation or free")
COST(memset_byte, "0.04 ns [0.03 ns .. 0.1 ns] 16 to 32 bytes a cycle warm, 10 bytes/ns cold (slub-facts D.3, D.4)",
     "filling or zeroing a byte")
COST(check_byte, "0.12 ns [0.1 ns .. 0.15 ns] 8 bytes a step (slub-facts D.4)", "slub_debug: comparing a byte of poison or red zone")
COST(debug_track, "1500 ns [1000 ns .. 3000 ns] stack capture and stack depot (slub-facts D.4)",
     "slub_debug=U: one record of who allocates or frees")
