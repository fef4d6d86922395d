/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "page-fixture.h"
#include "slab-types.h"

/* The per-CPU page lists by hand (slub-facts D.3.1). The machine is one node of 4 GiB with 4 CPUs: batch 63; low
 * watermark sqrt(16 * 4194304) kB = 2048 pages + 0.1 % of 1048576 = 3096, so high is 3096 / 4 = 774 from 5.14 on; and
 * high_max, from 6.7 on, is 1048576 / 8 / 4 = 32768. */

enum {
    BATCH = 63,
    HIGH = 774,
    HIGH_MAX = 32768,
};

static const char *const four_cpus = "[machine]\nsockets = 1\ncores_per_l3 = 4\nmemory_per_node = 4G\n";

static void
test_batch(void)
{
    /* b = min(zone pages / 1024, pages of 1 MiB) / 4, at least 1; 2^floor(log2(b + b / 2)) - 1, at least 1. */
    static const struct {
        const char *memory, *page_size;
        guint batch;
    } rows[] = {
        {"16M", "4K", 1}, {"32M", "4K", 1},    {"64M", "4K", 3},  {"256M", "4K", 15}, {"512M", "4K", 31},
        {"1G", "4K", 63}, {"1024G", "4K", 63}, {"32G", "64K", 3}, {"32G", "16K", 15},
    };

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *text =
            g_strdup_printf("[machine]\nmemory_per_node = %s\npage_size = %s\n", rows[i].memory, rows[i].page_size);
        PageFixture f;

        page_fixture_init(&f, text, SLAB_KERNEL(6, 1));
        g_assert_cmpuint(f.pages->batch, ==, rows[i].batch);
        page_fixture_clear(&f);
    }
}

static void
expect_high(const char *text, guint kernel, guint node, guint high_min, guint high_max)
{
    PageFixture f;

    page_fixture_init(&f, text, kernel);
    g_assert_cmpuint(f.pages->zone[node].high_min, ==, high_min);
    g_assert_cmpuint(f.pages->zone[node].high_max, ==, high_max);
    g_assert_cmpuint(f.pages->pcp[node].high, ==, high_min);
    page_fixture_clear(&f);
}

static void
test_high(void)
{
    expect_high(four_cpus, SLAB_KERNEL(6, 1), 0, HIGH, HIGH_MAX);
    expect_high(four_cpus, SLAB_KERNEL(6, 12), 0, HIGH, HIGH_MAX);
    /* 6 * 63 */
    expect_high(four_cpus, SLAB_KERNEL(5, 10), 0, 378, 378);
    /* Two zones of 1 GiB share sqrt(16 * 2097152) = 5792 kB: 724 + 262 pages over 8 CPUs are less than 4 * 63. */
    expect_high("[machine]\nsockets = 2\ncores_per_l3 = 8\nmemory_per_node = 1G\n", SLAB_KERNEL(6, 1), 1, 252, 4096);
    /* 32 GiB, 16 CPUs: 23170 kB are 5792 pages, 0.1 % are 8388; 14180 / 16. */
    expect_high("[machine]\nsockets = 1\ncores_per_l3 = 16\nmemory_per_node = 32G\n", SLAB_KERNEL(6, 8), 0, 886, 65536);
}

static void
refill_each_order(PageFixture *f, MachCpu *cpu)
{
    static const guint blocks[] = {63, 31, 15, 7};
    guint n_held = 0, count = 0;

    for (guint order = 0; order < G_N_ELEMENTS(blocks); order++) {
        page_fixture_alloc(f, cpu, order, 1);
        n_held += 1u << order;
        count += (blocks[order] - 1) << order;
        page_fixture_expect_locks(f, order + 1, 0, 0);
        g_assert_cmpuint(f->pages->pcp[0].blocks[order], ==, blocks[order] - 1);
        page_fixture_expect_count(f, 0, count, n_held);
        page_fixture_alloc(f, cpu, order, blocks[order] - 1);
        n_held += (blocks[order] - 1) << order;
        count -= (blocks[order] - 1) << order;
        page_fixture_expect_locks(f, order + 1, 0, 0);
        page_fixture_expect_count(f, 0, count, n_held);
    }
    /* Orders without a list go to the zone one by one. */
    page_fixture_alloc(f, cpu, 4, 5);
    page_fixture_expect_locks(f, 4, 0, 5);
    page_fixture_free(f, cpu, 4, 5);
    page_fixture_expect_locks(f, 4, 0, 10);
    page_fixture_expect_count(f, 0, 0, n_held);
}

/* A batch of 3 pages is scaled to no less than 2 blocks, one of 1 page is not scaled. */
static void
refill_small_zone(PageFixture *f, MachCpu *cpu)
{
    static const guint blocks_of_3[] = {3, 2, 2, 2};

    for (guint order = 0; order <= PAGE_ALLOC_COSTLY_ORDER; order++) {
        page_fixture_alloc(f, cpu, order, 1);
        g_assert_cmpuint(f->pages->pcp[0].blocks[order], ==, f->pages->batch == 3 ? blocks_of_3[order] - 1 : 0);
    }
}

static void
test_refill(void)
{
    page_fixture_run(four_cpus, SLAB_KERNEL(5, 15), refill_each_order, NULL);
    page_fixture_run(four_cpus, SLAB_KERNEL(6, 1), refill_each_order, NULL);
    page_fixture_run("[machine]\nsockets = 1\nmemory_per_node = 64M\n", SLAB_KERNEL(6, 1), refill_small_zone, NULL);
    page_fixture_run("[machine]\nsockets = 1\nmemory_per_node = 16M\n", SLAB_KERNEL(6, 1), refill_small_zone, NULL);
    page_fixture_run("[machine]\nsockets = 1\nmemory_per_node = 16M\n", SLAB_KERNEL(6, 12), refill_small_zone, NULL);
}

static void
use_510(PageFixture *f, MachCpu *cpu)
{
    page_fixture_alloc(f, cpu, 3, 120);
    page_fixture_free(f, cpu, 3, 120);
    page_fixture_expect_locks(f, 0, 0, 240);
    /* 16 refills of 63 leave 8. Full at 378, each time 63 go back: after free 370, and each 63 from then on. */
    page_fixture_alloc(f, cpu, 0, 1000);
    page_fixture_expect_count(f, 0, 8, 1000);
    page_fixture_free(f, cpu, 0, 369);
    page_fixture_expect_locks(f, 16, 0, 240);
    page_fixture_free(f, cpu, 0, 1);
    page_fixture_expect_locks(f, 16, 1, 240);
    page_fixture_expect_count(f, 0, 315, 630);
    page_fixture_free(f, cpu, 0, 630);
    page_fixture_expect_locks(f, 16, 11, 240);
    page_fixture_expect_count(f, 0, 315, 0);
}

static void
test_510(void)
{
    page_fixture_run(four_cpus, SLAB_KERNEL(5, 10), use_510, NULL);
}

/* Each overflow without an allocation in between gives twice as much back: 63, 126, 252, at most high - batch. */
static void
overflow_order_0(PageFixture *f, MachCpu *cpu)
{
    page_fixture_alloc(f, cpu, 0, 3000); /* 48 refills, 24 left */
    page_fixture_expect_count(f, 0, 24, 3000);
    page_fixture_free(f, cpu, 0, 749);
    page_fixture_expect_locks(f, 48, 0, 0);
    page_fixture_free(f, cpu, 0, 1);
    page_fixture_expect_locks(f, 48, 1, 0);
    page_fixture_expect_count(f, 0, HIGH - 63, 2250);
    page_fixture_free(f, cpu, 0, 63);
    page_fixture_expect_count(f, 0, HIGH - 126, 2187);
    page_fixture_free(f, cpu, 0, 126);
    page_fixture_expect_count(f, 0, HIGH - 252, 2061);
    page_fixture_free(f, cpu, 0, 252);
    page_fixture_expect_count(f, 0, HIGH - 504, 1809);
    /* 1008 exceeds 774 - 63 = 711. */
    page_fixture_free(f, cpu, 0, 504);
    page_fixture_expect_count(f, 0, 63, 1305);
    page_fixture_expect_locks(f, 48, 5, 0);
    g_assert_cmpuint(f->pages->pcp[0].free_factor, ==, 4); /* and no further */
    /* An allocation halves the factor, 4 to 2. */
    page_fixture_alloc(f, cpu, 0, 1);
    g_assert_cmpuint(f->pages->pcp[0].free_factor, ==, 2);
    page_fixture_free(f, cpu, 0, 712);
    page_fixture_expect_count(f, 0, HIGH - 252, 594);
}

static void
test_overflow(void)
{
    page_fixture_run(four_cpus, SLAB_KERNEL(5, 17), overflow_order_0, NULL);
    page_fixture_run(four_cpus, SLAB_KERNEL(6, 1), overflow_order_0, NULL);
    page_fixture_run(four_cpus, SLAB_KERNEL(6, 6), overflow_order_0, NULL);
}

/* 18 refills of 7 blocks leave 48 pages. After 91 frees there are 776: 8 blocks go back. */
static void
free_order_3_to_overflow(PageFixture *f, MachCpu *cpu)
{
    page_fixture_alloc(f, cpu, 3, 120);
    page_fixture_expect_count(f, 0, 48, 960);
    page_fixture_free(f, cpu, 3, 90);
    page_fixture_expect_locks(f, 18, 0, 0);
    page_fixture_free(f, cpu, 3, 1);
    page_fixture_expect_locks(f, 18, 1, 0);
    page_fixture_expect_count(f, 0, 712, 232);
}

static void
cliff(PageFixture *f, MachCpu *cpu)
{
    free_order_3_to_overflow(f, cpu);
    /* From now on each free of orders 1 to 3 empties the lists of all orders. */
    page_fixture_free(f, cpu, 3, 1);
    page_fixture_expect_locks(f, 18, 2, 0);
    page_fixture_expect_count(f, 0, 0, 224);
    page_fixture_free(f, cpu, 3, 28);
    page_fixture_expect_locks(f, 18, 30, 0);
    page_fixture_expect_count(f, 0, 0, 0);
    /* One allocation ends it. */
    page_fixture_alloc(f, cpu, 3, 1);
    page_fixture_expect_locks(f, 19, 30, 0);
    page_fixture_free(f, cpu, 3, 1);
    page_fixture_expect_locks(f, 19, 30, 0);
    page_fixture_expect_count(f, 0, 56, 0);
}

static void
no_cliff(PageFixture *f, MachCpu *cpu)
{
    free_order_3_to_overflow(f, cpu);
    /* 776 again after 8 frees: 126 pages are 16 blocks; after 16 more: 252 are 32 blocks. */
    page_fixture_free(f, cpu, 3, 8);
    page_fixture_expect_count(f, 0, 648, 168);
    page_fixture_free(f, cpu, 3, 16);
    page_fixture_expect_count(f, 0, 520, 40);
    page_fixture_free(f, cpu, 3, 5);
    page_fixture_expect_locks(f, 18, 3, 0);
    page_fixture_expect_count(f, 0, 560, 0);
}

static void
order_0_has_no_cliff(PageFixture *f, MachCpu *cpu)
{
    f->pages->pcp[0].free_factor = 1;
    page_fixture_set_blocks(f, 100, 0, 0, 0);
    page_fixture_free(f, cpu, 0, 1);
    page_fixture_expect_locks(f, 0, 0, 0);
    page_fixture_free(f, cpu, 1, 1);
    page_fixture_expect_locks(f, 0, 1, 0);
    page_fixture_expect_blocks(f, 0, 0, 0, 0);
}

static void
test_cliff(void)
{
    page_fixture_run(four_cpus, SLAB_KERNEL(5, 15), no_cliff, NULL);
    page_fixture_run(four_cpus, SLAB_KERNEL(5, 17), no_cliff, NULL);
    page_fixture_run(four_cpus, SLAB_KERNEL(5, 19), cliff, NULL);
    page_fixture_run(four_cpus, SLAB_KERNEL(6, 1), cliff, NULL);
    page_fixture_run(four_cpus, SLAB_KERNEL(6, 5), cliff, NULL);
    page_fixture_run(four_cpus, SLAB_KERNEL(6, 1), order_0_has_no_cliff, NULL);
}

static void
drain_in_order(PageFixture *f, MachCpu *cpu)
{
    /* 777 pages; 63 to free: all 11 blocks of order 2, then 19 pages are 3 blocks of order 3. */
    page_fixture_set_blocks(f, 593, 50, 10, 5);
    page_fixture_free(f, cpu, 2, 1);
    page_fixture_expect_blocks(f, 593, 50, 0, 2);
    /* 776 pages: the one block of order 3, then order 0. */
    f->pages->pcp[0].free_factor = 0;
    page_fixture_set_blocks(f, 728, 20, 0, 0);
    page_fixture_free(f, cpu, 3, 1);
    page_fixture_expect_blocks(f, 673, 20, 0, 0);
    /* 774: order 0 itself is the coldest too. */
    f->pages->pcp[0].free_factor = 0;
    page_fixture_set_blocks(f, 773, 0, 0, 0);
    page_fixture_free(f, cpu, 0, 1);
    page_fixture_expect_blocks(f, 711, 0, 0, 0);
    page_fixture_expect_locks(f, 0, 3, 0);
}

static void
test_drain_order(void)
{
    page_fixture_run(four_cpus, SLAB_KERNEL(6, 1), drain_in_order, NULL);
}

/* 6.7+: refills double from one to the next without a free, and high grows with them. */
static void
grow(PageFixture *f, MachCpu *cpu)
{
    static const guint batches[] = {63, 126, 252, 504, 1008, 2016, 2016};
    guint high = HIGH, n_held = 0;

    for (guint i = 0; i < G_N_ELEMENTS(batches); i++) {
        page_fixture_alloc(f, cpu, 0, 1);
        high += batches[i];
        n_held += batches[i];
        page_fixture_expect_locks(f, i + 1, 0, 0);
        g_assert_cmpuint(f->pages->pcp[0].count, ==, batches[i] - 1);
        g_assert_cmpuint(f->pages->pcp[0].high, ==, high);
        page_fixture_alloc(f, cpu, 0, batches[i] - 1);
        page_fixture_expect_count(f, 0, 0, n_held);
    }
    /* A free halves the factor, 5 to 2; a refill of order 3 takes the plain batch but raises high as well. */
    page_fixture_free(f, cpu, 0, 1);
    g_assert_cmpuint(f->pages->pcp[0].alloc_factor, ==, 2);
    page_fixture_alloc(f, cpu, 3, 1);
    g_assert_cmpuint(f->pages->pcp[0].blocks[3], ==, 6);
    g_assert_cmpuint(f->pages->pcp[0].high, ==, high + BATCH);
}

static void
grow_to_the_bound(PageFixture *f, MachCpu *cpu)
{
    /* high 774 + 504 = 1278, bound 1278 - 600 - 63 = 615: 504 fits and the factor rises. Next: high 2286, of which
     * 2000 are taken: bound 223 < 1008, so no rise. */
    f->pages->pcp[0].alloc_factor = 3;
    page_fixture_set_blocks(f, 0, 300, 0, 0);
    page_fixture_alloc(f, cpu, 0, 1);
    page_fixture_expect_blocks(f, 503, 300, 0, 0);
    g_assert_cmpuint(f->pages->pcp[0].alloc_factor, ==, 4);
    page_fixture_set_blocks(f, 0, 1000, 0, 0);
    page_fixture_alloc(f, cpu, 0, 1);
    page_fixture_expect_blocks(f, 222, 1000, 0, 0);
    g_assert_cmpuint(f->pages->pcp[0].alloc_factor, ==, 4);
    g_assert_cmpuint(f->pages->pcp[0].high, ==, 2286);
    /* high stops at high_max. */
    f->pages->pcp[0].high = HIGH_MAX - 1;
    page_fixture_set_blocks(f, 0, 0, 0, 0);
    page_fixture_alloc(f, cpu, 0, 1);
    g_assert_cmpuint(f->pages->pcp[0].high, ==, HIGH_MAX);
}

static void
test_growth(void)
{
    page_fixture_run(four_cpus, SLAB_KERNEL(6, 8), grow, NULL);
    page_fixture_run(four_cpus, SLAB_KERNEL(6, 12), grow, NULL);
    page_fixture_run(four_cpus, SLAB_KERNEL(6, 18), grow, NULL);
    page_fixture_run(four_cpus, SLAB_KERNEL(6, 12), grow_to_the_bound, NULL);
}

static void
alloc_5000(PageFixture *f, MachCpu *cpu)
{
    page_fixture_alloc(f, cpu, 0, 5000);
}

/* 6.7+: a CPU that only frees. Each overflow gives free_count pages back, 774, 1548, .. at most 2016, within high -
 * batch, and raises high to free_count + batch for the next time. */
static void
free_5000(PageFixture *f, MachCpu *cpu)
{
    static const struct {
        guint n_frees, high_after;
    } rounds[] = {{774, 774 + 63}, {774, 1548 + 63}, {1548, 2016 + 63}};

    for (guint i = 0; i < G_N_ELEMENTS(rounds); i++) {
        page_fixture_free(f, cpu, 0, rounds[i].n_frees - 1);
        g_assert_cmpuint(f->pages->zone[0].lock.sites[PAGE_LOCK_DRAIN].acquisitions, ==, i);
        page_fixture_free(f, cpu, 0, 1);
        g_assert_cmpuint(f->pages->zone[0].lock.sites[PAGE_LOCK_DRAIN].acquisitions, ==, i + 1);
        g_assert_cmpuint(f->pages->pcp[1].count, ==, 63);
        g_assert_cmpuint(f->pages->pcp[1].high, ==, rounds[i].high_after);
    }
    page_fixture_free(f, cpu, 0, 5000 - 3096);
    page_fixture_expect_count(f, 1, 63 + 1904, 0);
    g_assert_cmpuint(f->pages->pcp[1].free_factor, ==, 2016);
    page_fixture_alloc(f, cpu, 0, 2);
    g_assert_cmpuint(f->pages->pcp[1].free_factor, ==, 504);
}

static void
test_free_only(void)
{
    page_fixture_run(four_cpus, SLAB_KERNEL(6, 8), alloc_5000, free_5000);
    page_fixture_run(four_cpus, SLAB_KERNEL(6, 12), alloc_5000, free_5000);
    page_fixture_run(four_cpus, SLAB_KERNEL(6, 18), alloc_5000, free_5000);
}

/* 6.7 to 6.17: 6 refills leave 2 blocks. The 9th free finds free_count 64 and 88 pages: all go. From then on each
 * time that 63 are there, that is 8 blocks: frees 17, 25, 33. */
static void
high_order_612(PageFixture *f, MachCpu *cpu)
{
    page_fixture_alloc(f, cpu, 3, 40);
    g_assert_cmpuint(f->pages->pcp[0].high, ==, HIGH + 6 * BATCH);
    page_fixture_free(f, cpu, 3, 8);
    page_fixture_expect_count(f, 0, 80, 256);
    page_fixture_free(f, cpu, 3, 1);
    page_fixture_expect_count(f, 0, 0, 248);
    g_assert_cmpuint(f->pages->pcp[0].high, ==, HIGH);
    page_fixture_free(f, cpu, 3, 31);
    page_fixture_expect_locks(f, 6, 4, 0);
    page_fixture_expect_count(f, 0, 56, 0);
    /* Not after a free of order 0. */
    page_fixture_free(f, cpu, 0, 10);
    page_fixture_free(f, cpu, 3, 1);
    page_fixture_expect_locks(f, 6, 4, 0);
    page_fixture_free(f, cpu, 3, 1);
    page_fixture_expect_locks(f, 6, 5, 0);
    g_assert_cmpuint(f->pages->pcp[0].count, ==, 0);
}

/* 6.18: free_count must reach 63 + 774 / 2 = 450, which the 58th free finds; then as before, frees 66, 74, .. 98. */
static void
high_order_618(PageFixture *f, MachCpu *cpu)
{
    page_fixture_alloc(f, cpu, 3, 100);
    page_fixture_free(f, cpu, 3, 57);
    page_fixture_expect_locks(f, 15, 0, 0);
    page_fixture_expect_count(f, 0, 40 + 456, 344);
    page_fixture_free(f, cpu, 3, 1);
    page_fixture_expect_count(f, 0, 0, 336);
    page_fixture_free(f, cpu, 3, 42);
    page_fixture_expect_locks(f, 15, 6, 0);
    page_fixture_expect_count(f, 0, 16, 0);
}

/* At most 63 << 5 pages at once: 252 blocks of the 300. */
static void
high_order_limit(PageFixture *f, MachCpu *cpu)
{
    f->pages->pcp[0].high = 10000;
    f->pages->pcp[0].free_factor = 64;
    f->pages->pcp[0].last_free_was_high_order = TRUE;
    page_fixture_set_blocks(f, 0, 0, 0, 299);
    page_fixture_free(f, cpu, 3, 1);
    page_fixture_expect_blocks(f, 0, 0, 0, 48);
    g_assert_cmpuint(f->pages->pcp[0].high, ==, 10000 - 2016);
}

static void
test_high_order(void)
{
    page_fixture_run(four_cpus, SLAB_KERNEL(6, 8), high_order_612, NULL);
    page_fixture_run(four_cpus, SLAB_KERNEL(6, 12), high_order_612, NULL);
    page_fixture_run(four_cpus, SLAB_KERNEL(6, 18), high_order_618, NULL);
    page_fixture_run(four_cpus, SLAB_KERNEL(6, 12), high_order_limit, NULL);
}

static void
use_zonelist(MachCpu *cpu, void *data)
{
    PageFixture *f = data;

    if (cpu->id != 0)
        return;
    f->pages->zone[2].free_pages = 8;
    g_assert_cmpint(page_alloc(f->pages, cpu, 1, 3, TRUE), ==, -1); /* no memory */
    g_assert_cmpint(page_alloc(f->pages, cpu, 1, 3, FALSE), ==, 2);
    g_assert_cmpint(f->pages->zone[2].free_pages, ==, 0);
    g_assert_cmpint(page_alloc(f->pages, cpu, 2, 3, TRUE), ==, -1); /* used up */
    g_assert_cmpint(page_alloc(f->pages, cpu, 2, 3, FALSE), ==, 0);
    page_free(f->pages, cpu, 2, 3);
    g_assert_cmpint(page_alloc(f->pages, cpu, 2, 3, TRUE), ==, 2); /* from this CPU's list of that zone */
    for (guint node = 0; node < 3; node++)
        f->pages->zone[node].free_pages = 0;
    f->pages->pcp[0].blocks[3] = f->pages->pcp[0].count = 0;
    g_assert_cmpint(page_alloc(f->pages, cpu, 2, 3, FALSE), ==, -1);
}

static void
test_zonelist(void)
{
    PageFixture f;

    page_fixture_init(&f, "[machine]\nsockets = 3\nmemoryless_nodes = 1\n", SLAB_KERNEL(6, 1));
    test_machine_run_each(f.machine, use_zonelist, &f);
    page_fixture_clear(&f);
}

/* Blocks of all orders come and go; the pages in hand, on the lists and in the zone are all there are, and the lists
 * add up to their counts. */
static void
random_use(PageFixture *f, MachCpu *cpu)
{
    guint held[PAGE_ALLOC_COSTLY_ORDER + 2] = {0};
    guint n_held = 0;

    for (guint i = 0; i < 30000; i++) {
        guint order = (guint) sim_rng_below(&cpu->rng, G_N_ELEMENTS(held));
        gboolean grows = i / 3000 % 2 == 0;

        if (held[order] == 0 || sim_rng_below(&cpu->rng, 100) < (grows ? 70 : 30)) {
            page_fixture_alloc(f, cpu, order, 1);
            held[order]++;
            n_held += 1u << order;
        } else {
            const PagePcp *pcp = &f->pages->pcp[0];

            page_fixture_free(f, cpu, order, 1);
            held[order]--;
            n_held -= 1u << order;
            g_assert_cmpuint(pcp->count, <, pcp->high);
            g_assert_cmpuint(pcp->high, >=, f->pages->zone[0].high_min);
            g_assert_cmpuint(pcp->high, <=, f->pages->zone[0].high_max);
        }
        page_fixture_expect_count(f, 0,
                                  f->pages->pcp[0].blocks[0] + 2 * f->pages->pcp[0].blocks[1] +
                                      4 * f->pages->pcp[0].blocks[2] + 8 * f->pages->pcp[0].blocks[3],
                                  n_held);
    }
}

static void
test_conservation(void)
{
    page_fixture_run(four_cpus, SLAB_KERNEL(5, 10), random_use, NULL);
    page_fixture_run(four_cpus, SLAB_KERNEL(5, 15), random_use, NULL);
    page_fixture_run(four_cpus, SLAB_KERNEL(6, 1), random_use, NULL);
    page_fixture_run(four_cpus, SLAB_KERNEL(6, 12), random_use, NULL);
    page_fixture_run(four_cpus, SLAB_KERNEL(6, 18), random_use, NULL);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/page-alloc/batch", test_batch);
    g_test_add_func("/page-alloc/high", test_high);
    g_test_add_func("/page-alloc/refill", test_refill);
    g_test_add_func("/page-alloc/5.10", test_510);
    g_test_add_func("/page-alloc/overflow", test_overflow);
    g_test_add_func("/page-alloc/cliff", test_cliff);
    g_test_add_func("/page-alloc/drain-order", test_drain_order);
    g_test_add_func("/page-alloc/growth", test_growth);
    g_test_add_func("/page-alloc/free-only", test_free_only);
    g_test_add_func("/page-alloc/high-order", test_high_order);
    g_test_add_func("/page-alloc/zonelist", test_zonelist);
    g_test_add_func("/page-alloc/conservation", test_conservation);
    return g_test_run();
}
