/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-fiber.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#ifndef WITH_ASAN
#define WITH_ASAN 0
#endif

#if WITH_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>
#define WITH_UCONTEXT 1
#else
#define WITH_UCONTEXT 0
#endif

enum
{
    STACK_BYTES = WITH_ASAN ? 256 * 1024 : 48 * 1024,
    /* Fibers touch the same depths of their stacks. Without an offset of their own these lines would all fall into
     * the same few cache sets. */
    COLOUR_BYTES = 320,
    N_COLOURS = 24,
};

struct _SimFiberStacks
{
    guint8 *base;
    gsize bytes, stride;
    guint n_fibers;
};

SimFiberStacks *
sim_fiber_stacks_new(guint n_fibers)
{
    gsize page = (gsize) sysconf(_SC_PAGESIZE);
    SimFiberStacks *stacks = g_new0(SimFiberStacks, 1);

    stacks->stride = (STACK_BYTES + page - 1) / page * page + page;
    stacks->bytes = stacks->stride * MAX(n_fibers, 1);
    stacks->n_fibers = n_fibers;
    stacks->base = mmap(NULL, stacks->bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks->base == MAP_FAILED)
        g_error("no address space for %u fiber stacks", n_fibers);
    for (guint i = 0; i < n_fibers; i++)
        mprotect(stacks->base + i * stacks->stride, page, PROT_NONE);
    return stacks;
}

void
sim_fiber_stacks_free(SimFiberStacks *stacks)
{
    if (!stacks)
        return;
#if WITH_ASAN
    /* Suspended fibers leave their frames' red zones behind, to be found by whoever maps these addresses next. */
    __asan_unpoison_memory_region(stacks->base, stacks->bytes);
#endif
    munmap(stacks->base, stacks->bytes);
    g_free(stacks);
}

#if defined(__x86_64__)
void sim__fiber_swap(void **save_sp, void *load_sp);
void sim__fiber_start(void);
__asm__(".text\n"
        ".globl sim__fiber_swap\n"
        ".type sim__fiber_swap,@function\n"
        "sim__fiber_swap:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
        "  ret\n"
        ".size sim__fiber_swap,.-sim__fiber_swap\n"
        ".globl sim__fiber_start\n"
        ".type sim__fiber_start,@function\n"
        "sim__fiber_start:\n"
        "  movq %r13, %rdi\n"
        "  callq *%r12\n"
        "  ud2\n"
        ".size sim__fiber_start,.-sim__fiber_start\n");

static void *
prepare_stack(guint8 *top, void (*entry)(void *), void *argument)
{
    void **sp = (void **) ((gsize) top & ~(gsize) 15);

    *--sp = NULL; /* so that the callq in sim__fiber_start leaves the stack as the ABI wants it */
    *--sp = NULL;
    *--sp = (void *) sim__fiber_start; /* return address of the first swap */
    *--sp = NULL;                      /* rbp */
    *--sp = NULL;                      /* rbx */
    *--sp = (void *) entry;            /* r12 */
    *--sp = argument;                  /* r13 */
    *--sp = NULL;                      /* r14 */
    *--sp = NULL;                      /* r15 */
    return sp;
}
#elif defined(__aarch64__)
void sim__fiber_swap(void **save_sp, void *load_sp);
void sim__fiber_start(void);
__asm__(".text\n"
        ".globl sim__fiber_swap\n"
        ".type sim__fiber_swap,%function\n"
        "sim__fiber_swap:\n"
        "  sub sp, sp, #160\n"
        "  stp x19, x20, [sp, #0]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"
        "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n"
        "  stp d14, d15, [sp, #144]\n"
        "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
        "  ldp x19, x20, [sp, #0]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n"
        "  ldp x25, x26, [sp, #48]\n  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
        "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n"
        "  ldp d14, d15, [sp, #144]\n"
        "  add sp, sp, #160\n"
        "  ret\n"
        ".globl sim__fiber_start\n"
        ".type sim__fiber_start,%function\n"
        "sim__fiber_start:\n"
        "  mov x0, x20\n"
        "  blr x19\n"
        "  brk #1\n");

static void *
prepare_stack(guint8 *top, void (*entry)(void *), void *argument)
{
    void **sp = (void **) (((gsize) top & ~(gsize) 15) - 160);

    memset(sp, 0, 160);
    sp[0] = (void *) entry;             /* x19 */
    sp[1] = argument;                   /* x20 */
    sp[11] = (void *) sim__fiber_start; /* x30 */
    return sp;
}
#endif

#if WITH_ASAN
/* The fiber being left: its stack bounds become known only on the other side of the switch when it is the thread's
 * own stack. */
static __thread SimFiber *left_fiber;

static void
finish_switch(SimFiber *self)
{
    const void *bottom;
    gsize bytes;

    __sanitizer_finish_switch_fiber(self ? self->fake_stack : NULL, &bottom, &bytes);
    if (!left_fiber->stack_bottom) {
        left_fiber->stack_bottom = (void *) bottom;
        left_fiber->stack_bytes = bytes;
    }
}

typedef struct
{
    void (*entry)(void *);
    void *argument;
} AsanEntry;

static void
asan_entry(void *data)
{
    AsanEntry start = *(AsanEntry *) data;

    finish_switch(NULL);
    start.entry(start.argument);
}
#endif

void
sim_fiber_init(SimFiber *fiber, SimFiberStacks *stacks, guint index, void (*entry)(void *), void *argument)
{
    gsize page = (gsize) sysconf(_SC_PAGESIZE);
    guint8 *bottom = stacks->base + index * stacks->stride + page;
    guint8 *top = stacks->base + (index + 1) * stacks->stride - index % N_COLOURS * COLOUR_BYTES;

    fiber->stack_bottom = bottom;
    fiber->stack_bytes = (gsize) (stacks->base + (index + 1) * stacks->stride - bottom);
    fiber->fake_stack = NULL;
#if WITH_ASAN
    AsanEntry *start = (AsanEntry *) (top - sizeof *start);
    *start = (AsanEntry){entry, argument};
    top = (guint8 *) start;
    entry = asan_entry;
    argument = start;
#endif
#if WITH_UCONTEXT
    ucontext_t *context = (ucontext_t *) (((gsize) top - sizeof *context) & ~(gsize) 63);
    getcontext(context);
    context->uc_stack.ss_sp = bottom;
    context->uc_stack.ss_size = (gsize) ((guint8 *) context - bottom);
    context->uc_link = NULL;
    makecontext(context, (void (*)(void)) entry, 1, argument);
    fiber->stack_pointer = context;
#else
    fiber->stack_pointer = prepare_stack(top, entry, argument);
#endif
}

void
sim_fiber_switch(SimFiber *from, SimFiber *to)
{
#if WITH_ASAN
    left_fiber = from;
    __sanitizer_start_switch_fiber(&from->fake_stack, to->stack_bottom, to->stack_bytes);
#endif
#if WITH_UCONTEXT
    ucontext_t here;
    void *target = to->stack_pointer;
    from->stack_pointer = &here;
    swapcontext(&here, target);
#else
    sim__fiber_swap(&from->stack_pointer, to->stack_pointer);
#endif
#if WITH_ASAN
    finish_switch(from);
#endif
}
