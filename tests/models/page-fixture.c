/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "page-fixture.h"

void
page_fixture_init(PageFixture *f, const char *machine_text, guint kernel)
{
    test_machine_init(&f->test, machine_text);
    f->machine = test_machine_start(&f->test, 1, NULL, 0);
    f->pages = page_allocator_new(f->machine, kernel);
}

void
page_fixture_clear(PageFixture *f)
{
    page_allocator_free(f->pages);
    test_machine_stop(f->machine);
    test_machine_clear(&f->test);
}

typedef struct {
    PageFixture *fixture;
    PageScript on_cpu[2];
} Scripts;

static void
run_script(MachCpu *cpu, void *data)
{
    const Scripts *scripts = data;

    if (cpu->id < G_N_ELEMENTS(scripts->on_cpu) && scripts->on_cpu[cpu->id])
        scripts->on_cpu[cpu->id](scripts->fixture, cpu);
}

void
page_fixture_run(const char *machine_text, guint kernel, PageScript first, PageScript second)
{
    PageFixture f;
    Scripts scripts = {&f, {first, second}};

    page_fixture_init(&f, machine_text, kernel);
    test_machine_run_each(f.machine, run_script, &scripts);
    page_fixture_clear(&f);
}

void
page_fixture_alloc(PageFixture *f, MachCpu *cpu, guint order, guint n)
{
    for (guint i = 0; i < n; i++)
        g_assert_cmpint(page_alloc(f->pages, cpu, 0, order, FALSE), ==, 0);
}

void
page_fixture_free(PageFixture *f, MachCpu *cpu, guint order, guint n)
{
    for (guint i = 0; i < n; i++)
        page_free(f->pages, cpu, 0, order);
}

void
page_fixture_expect_locks(const PageFixture *f, guint refills, guint drains, guint direct)
{
    const SimLockSite *sites = f->pages->zone[0].lock.sites;

    g_assert_cmpuint(sites[PAGE_LOCK_REFILL].acquisitions, ==, refills);
    g_assert_cmpuint(sites[PAGE_LOCK_DRAIN].acquisitions, ==, drains);
    g_assert_cmpuint(sites[PAGE_LOCK_DIRECT].acquisitions, ==, direct);
}

/* The count of the CPU's lists, and that no page is lost; `n_held` are in the caller's hands. */
void
page_fixture_expect_count(const PageFixture *f, guint cpu, guint count, guint n_held)
{
    gint64 n_pages = f->pages->zone[0].free_pages + n_held;

    g_assert_cmpuint(f->pages->pcp[cpu].count, ==, count);
    for (guint i = 0; i < f->machine->n_cpus; i++)
        n_pages += (gint64) page_pcp_pages(f->pages, i);
    g_assert_cmpint(n_pages, ==, f->test.topology->node_memory_bytes[0] / f->test.topology->page_size_bytes);
}

void
page_fixture_set_blocks(PageFixture *f, guint n0, guint n1, guint n2, guint n3)
{
    PagePcp *pcp = &f->pages->pcp[0];
    guint blocks[] = {n0, n1, n2, n3};

    pcp->count = 0;
    for (guint order = 0; order < G_N_ELEMENTS(blocks); order++) {
        pcp->blocks[order] = blocks[order];
        pcp->count += blocks[order] << order;
    }
}

void
page_fixture_expect_blocks(const PageFixture *f, guint n0, guint n1, guint n2, guint n3)
{
    guint32 blocks[] = {n0, n1, n2, n3};

    g_assert_cmpmem(f->pages->pcp[0].blocks, sizeof blocks, blocks, sizeof blocks);
}
