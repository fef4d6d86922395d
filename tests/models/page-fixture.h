/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PAGE_FIXTURE_H
#define PAGE_FIXTURE_H

#include "page-alloc.h"
#include "test-machine.h"

/* A page allocator and short scripts on its CPUs. */

typedef struct {
    TestMachine test;
    Machine *machine;
    PageAllocator *pages;
} PageFixture;

typedef void (*PageScript)(PageFixture *f, MachCpu *cpu);

void page_fixture_init(PageFixture *f, const char *machine_text, guint kernel);
void page_fixture_clear(PageFixture *f);

/* A fresh machine on which CPU 0 runs `first` and then, when not NULL, CPU 1 runs `second`. */
void page_fixture_run(const char *machine_text, guint kernel, PageScript first, PageScript second);

/* On node 0. */
void page_fixture_alloc(PageFixture *f, MachCpu *cpu, guint order, guint n);
void page_fixture_free(PageFixture *f, MachCpu *cpu, guint order, guint n);

/* What CPU 0's lists of node 0 hold, by order. */
void page_fixture_set_blocks(PageFixture *f, guint n0, guint n1, guint n2, guint n3);
void page_fixture_expect_blocks(const PageFixture *f, guint n0, guint n1, guint n2, guint n3);

/* Acquisitions of node 0's zone lock. */
void page_fixture_expect_locks(const PageFixture *f, guint refills, guint drains, guint direct);

/* The pages on a CPU's lists of the only node, and that no page is lost; `n_held` are in the caller's hands. */
void page_fixture_expect_count(const PageFixture *f, guint cpu, guint count, guint n_held);

#endif
