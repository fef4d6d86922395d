/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Barns: a node's stock of full and empty sheaves (mm/slub.c 6.18 to 7.1; slub-facts B.4). A sheaf taken over from
 * another CPU brings cache lines with it: its header under the lock, the lines of its array at once after it. The
 * neighbour in a list is written too. */
#include "slub-sheaf-parts.h"

const char *
slub_barn_site_name(SlubBarnSite site)
{
    static const char *const names[SLUB_N_BARN_SITES] = {
#define SITE(name, text) [SLUB_BARN_##name] = text,
        SLUB_BARN_SITES(SITE)
#undef SITE
    };
    return names[site];
}

static void
touch_header(MachCpu *cpu, SlubSheaf *sheaf)
{
    if (sheaf)
        mach_spend(cpu, slub_touch_line(cpu, sheaf->home, &sheaf->toucher));
}

/* The lines of the array that hold its objects, beside the header's. */
static void
touch_objects(MachCpu *cpu, SlubSheaf *sheaf)
{
    enum {
        HEADER_BYTES = 32, /* struct slab_sheaf without its array */
        POINTER_BYTES = 8,
        LINE_BYTES = 64
    };
    guint n_lines = (HEADER_BYTES + POINTER_BYTES * sheaf->size - 1) / LINE_BYTES;

    mach_spend(cpu, n_lines * slub_touch_line(cpu, sheaf->home, &sheaf->filler));
}

static void
lock_barn(MachCpu *cpu, SlubBarn *barn, SlubBarnSite site)
{
    sim_lock_acquire(cpu->engine, &barn->lock, cpu->agent, site);
    mach_spend(cpu, cpu->machine->costs.barn_hold);
}

static void
push(MachCpu *cpu, SlubSheafList *list, SlubSheaf *sheaf)
{
    touch_header(cpu, sheaf);
    touch_header(cpu, list->head);
    sheaf->next = list->head;
    list->head = sheaf;
    list->count++;
}

static SlubSheaf *
pop(MachCpu *cpu, SlubSheafList *list)
{
    SlubSheaf *sheaf = list->head;

    if (!sheaf)
        return NULL;
    touch_header(cpu, sheaf);
    touch_header(cpu, sheaf->next);
    list->head = sheaf->next;
    sheaf->next = NULL;
    list->count--;
    return sheaf;
}

/* An unlocked look at one of the counts, in order; it costs its line only when it ends the matter. */
static gboolean
seen_to_be(MachCpu *cpu, const SlubBarn *barn, gboolean condition)
{
    if (condition)
        mach_spend(cpu, sim_distance(barn->lock.distance, barn->lock.owner, cpu->agent));
    return condition;
}

SlubSheaf *
slub_barn_replace_empty(MachCpu *cpu, SlubBarn *barn, SlubSheaf *empty)
{
    SlubSheaf *full;

    sim_sync(cpu->engine, cpu->agent);
    if (seen_to_be(cpu, barn, barn->full.count == 0))
        return NULL;
    lock_barn(cpu, barn, SLUB_BARN_REPLACE_EMPTY);
    full = pop(cpu, &barn->full);
    if (full)
        push(cpu, &barn->empty, empty);
    slub_release(cpu, &barn->lock);
    if (full)
        touch_objects(cpu, full);
    return full;
}

SlubBarnAnswer
slub_barn_replace_full(MachCpu *cpu, SlubBarn *barn, SlubSheaf *full, SlubSheaf **ret_empty)
{
    SlubSheaf *empty;

    sim_sync(cpu->engine, cpu->agent);
    if (seen_to_be(cpu, barn, barn->full.count >= SLUB_BARN_FULL_MAX))
        return SLUB_BARN_TOO_MANY_FULL;
    if (seen_to_be(cpu, barn, barn->empty.count == 0))
        return SLUB_BARN_NO_EMPTY;
    lock_barn(cpu, barn, SLUB_BARN_REPLACE_FULL);
    empty = pop(cpu, &barn->empty);
    if (empty)
        push(cpu, &barn->full, full);
    slub_release(cpu, &barn->lock);
    if (!empty)
        return SLUB_BARN_NO_EMPTY;
    full->filler = cpu->id;
    *ret_empty = empty;
    return SLUB_BARN_DONE;
}

SlubSheaf *
slub_barn_get_empty(MachCpu *cpu, SlubBarn *barn)
{
    SlubSheaf *sheaf;

    sim_sync(cpu->engine, cpu->agent);
    if (seen_to_be(cpu, barn, barn->empty.count == 0))
        return NULL;
    lock_barn(cpu, barn, SLUB_BARN_GET_EMPTY);
    sheaf = pop(cpu, &barn->empty);
    slub_release(cpu, &barn->lock);
    return sheaf;
}

SlubSheaf *
slub_barn_get_any(MachCpu *cpu, SlubBarn *barn)
{
    SlubSheaf *sheaf;

    sim_sync(cpu->engine, cpu->agent);
    if (seen_to_be(cpu, barn, barn->full.count + barn->empty.count == 0))
        return NULL;
    lock_barn(cpu, barn, SLUB_BARN_GET_ANY);
    sheaf = pop(cpu, barn->full.head ? &barn->full : &barn->empty);
    slub_release(cpu, &barn->lock);
    if (sheaf)
        touch_objects(cpu, sheaf);
    return sheaf;
}

void
slub_barn_put_empty(MachCpu *cpu, SlubBarn *barn, SlubSheaf *sheaf)
{
    lock_barn(cpu, barn, SLUB_BARN_PUT_EMPTY);
    push(cpu, &barn->empty, sheaf);
    slub_release(cpu, &barn->lock);
}

void
slub_barn_put_full(MachCpu *cpu, SlubBarn *barn, SlubSheaf *sheaf)
{
    sheaf->filler = cpu->id;
    lock_barn(cpu, barn, SLUB_BARN_PUT_FULL);
    push(cpu, &barn->full, sheaf);
    slub_release(cpu, &barn->lock);
}

void
slub_barn_empty_out(MachCpu *cpu, SlubBarn *barn, SlubSheaf **ret_full, SlubSheaf **ret_empty)
{
    lock_barn(cpu, barn, SLUB_BARN_SHRINK);
    *ret_full = barn->full.head;
    *ret_empty = barn->empty.head;
    barn->full = barn->empty = (SlubSheafList){NULL, 0};
    slub_release(cpu, &barn->lock);
}
