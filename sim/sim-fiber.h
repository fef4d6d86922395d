/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_FIBER_H
#define SIM_FIBER_H

#include <glib.h>

/* Coroutines, so that a model can be written as straight code that waits in the middle. A switch saves the
 * callee-saved registers only (x86-64 and aarch64; ucontext elsewhere). */

typedef struct
{
    void *stack_pointer;  /* of a suspended fiber; a ucontext_t * in the portable build */
    void *stack_bottom;   /* lowest address, NULL for the thread's own stack */
    gsize stack_bytes;
    void *fake_stack;     /* AddressSanitizer's bookkeeping while suspended */
} SimFiber;

/* One mapping that holds the stacks of all fibers of an engine, a guard page below each. */
typedef struct _SimFiberStacks SimFiberStacks;

SimFiberStacks *sim_fiber_stacks_new(guint n_fibers);
void sim_fiber_stacks_free(SimFiberStacks *stacks);

/* Prepares fiber `index` to run entry(argument) when first switched to. `entry` must never return. */
void sim_fiber_init(SimFiber *fiber, SimFiberStacks *stacks, guint index, void (*entry)(void *argument),
                    void *argument);

/* Suspends `from` (the running fiber) and continues `to`. Returns when somebody switches back to `from`. */
void sim_fiber_switch(SimFiber *from, SimFiber *to);

#endif
