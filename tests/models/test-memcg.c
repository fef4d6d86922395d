/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "memcg.h"
#include "test-machine.h"
#include "test-world.h"

/* Accounting: the published sums of steps, the collapse on a shared line, known answers for stocks and counters, and
 * conservation of every byte charged. */

static double
run_metric(const char *workload, const char *settings, const char *metric)
{
    g_autoptr(TestWorld) test = test_world_finished(workload, settings);

    return test_world_metric(test, metric);
}

#define SEED4 "machine.profile=clx96;kernel.version=6.6;workload.objects=1000000;run.duration=400 ms"

static void
test_seed4(void)
{
    static const struct {
        const char *settings;
        double published_ns;
    } rows[] = {
        {SEED4, 29.764},
        {SEED4 ";memcg.mode=user", 84.548},
        {SEED4 ";memcg.mode=user;memcg.scoped_pointer=yes", 59.078},
        {SEED4 ";memcg.mode=root", 48.342},
        {SEED4 ";memcg.mode=root;memcg.scoped_pointer=yes", 31.501},
    };

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        double ns = run_metric("kmalloc_accounted", rows[i].settings, "alloc_best_ns");

        g_test_message("%s: %.2f ns, published %.2f", rows[i].settings, ns, rows[i].published_ns);
        g_assert_cmpfloat_with_epsilon(ns / rows[i].published_ns, 1, 0.01);
    }
}

#define WML "machine.profile=clx96;kernel.version=5.12;workload.batch=4;workload.accounted=true;run.duration=1 ms"
#define WML_32 WML ";workload.bench_cache=bench_32"
#define WML_4K WML ";workload.bench_cache=bench_4096;memcg.mode=user"
#define WML_V1 WML_4K ";memcg.hierarchy=v1"
#define USED ";memcg.stocks=used"
#define PATCH_2 ";memcg.vmstat_cached=yes"
#define PATCH_3 PATCH_2 ";memcg.keeps_stock=yes"
#define PATCH_4 PATCH_3 ";memcg.irqs_off=no"

/* 100 M pairs in so many seconds are ten times as many nanoseconds a pair. */
static void
test_wml(void)
{
    static const struct {
        const char *settings;
        double published_ns;
    } rows[] = {
        {WML_32, 31.3},
        {WML_32 ";memcg.mode=user", 116.34},
        {WML_32 ";memcg.mode=user" PATCH_2, 94.25},
        {WML_32 ";memcg.mode=user" PATCH_3, 97.08},
        {WML_4K, 221.07},
        {WML_4K PATCH_2, 209.6},
        {WML_4K PATCH_4, 113.29},
        {WML_V1, 368.07},
        {WML_V1 PATCH_2, 366.48},
        {WML_V1 PATCH_3, 223.45},
        {WML_V1 PATCH_4, 186.62},
        {WML_4K USED, 221.07},
        {WML_4K PATCH_4 USED, 113.29},
        {WML_V1 PATCH_3 USED, 223.45},
    };

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        double ns = run_metric("microbench", rows[i].settings, "pair_ns");

        g_test_message("%s: %.1f ns, published %.1f", rows[i].settings, ns, rows[i].published_ns);
        g_assert_cmpfloat_with_epsilon(ns / rows[i].published_ns, 1, 0.15);
    }
}

#define BENCH_4K "machine.profile=clx96;kernel.version=5.12;workload.accounted=true;workload.bench_cache=bench_4096;"
#define SHARED BENCH_4K "run.warmup=0.1 ms;run.duration=0.4 ms;workload.bench_threads="
#define PATCHES BENCH_4K "run.warmup=0.5 ms;run.duration=2 ms;memcg.mode=user;workload.bench_threads=96" USED

/* 96 threads: WML-16 and WML-20, factors 421 and 237. */
static void
test_shared_line(void)
{
    double off = run_metric("microbench", SHARED "96", "pair_ns");
    double v2 = run_metric("microbench", SHARED "96;memcg.mode=user", "pair_ns");
    double v1 = run_metric("microbench", SHARED "96;memcg.mode=user;memcg.hierarchy=v1", "pair_ns");
    double apart = run_metric("microbench", SHARED "96;memcg.mode=user;memcg.groups=96", "pair_ns");
    double alone = run_metric("microbench", SHARED "1;memcg.mode=user", "pair_ns");

    g_test_message("off %.1f ns, one line %.0f (v2) %.0f (v1), a line each %.1f, one thread %.1f", off, v2, v1, apart,
                   alone);
    g_assert_cmpfloat(v2 / off, >, 100);
    g_assert_cmpfloat(v2 / off, <, 1000);
    g_assert_cmpfloat(v1 / off, >, 100);
    g_assert_cmpfloat(v1 / off, <, 1000);
    g_assert_cmpfloat_with_epsilon(apart / alone, 1, 0.02);
}

/* 96 threads, WML-13 to WML-17: v2 runs at 1.77 of v1, and patch 3 gains 1.34 on v1, patch 2 1.36 on v2, where the
 * third takes the line away. */
static void
test_patches(void)
{
#define RATE(settings) (1 / run_metric("microbench", PATCHES settings, "pair_ns"))
    double v1 = RATE(";memcg.hierarchy=v1"), v2 = RATE("");

    g_assert_cmpfloat_with_epsilon(v2 / v1, 1.77, 0.4);
    g_assert_cmpfloat_with_epsilon(RATE(";memcg.hierarchy=v1" PATCH_2) / v1, 1.22, 0.3);
    g_assert_cmpfloat_with_epsilon(RATE(";memcg.hierarchy=v1" PATCH_3) / v1, 1.34, 0.25);
    g_assert_cmpfloat_with_epsilon(RATE(PATCH_2) / v2, 1.36, 0.2);
    g_assert_cmpfloat(RATE(PATCH_3) / v2, >, 50);
#undef RATE
}

/* Every cost of a shipped machine lies within its own bounds. */
static void
test_costs_in_bounds(void)
{
    static const char *const profiles[] = {"clx96", "desktop16", "epyc192", "laptop2", "spr224"};

    for (guint i = 0; i < G_N_ELEMENTS(profiles); i++) {
        g_autofree char *settings = g_strconcat("machine.profile=", profiles[i], NULL);
        g_autoptr(TestWorld) test = test_world_new("mmap1", settings, 1);

        for (const SimKeySpec *key = mach_cost_keys; key->group; key++) {
            SimTime cost = sim_config_time(test->world.config, "costs", key->key), low, high;
            const char *source;

            if (!sim_config_cost_bounds(test->world.config, "costs", key->key, &low, &high, &source))
                g_error("%s: costs.%s has no bounds", profiles[i], key->key);
            if (cost < low || cost > high)
                g_error("%s: costs.%s is outside its bounds", profiles[i], key->key);
        }
    }
}

/* Accounting takes time and arrays; what the allocator counts for the cache itself stays. */
static void
test_counters_unchanged(void)
{
    static const char *const settings[] = {"memcg.mode=off", "memcg.mode=user"};
    guint64 stat[2][SLAB_N_STATS];

    for (guint i = 0; i < 2; i++) {
        g_autofree char *all =
            g_strconcat("workload.batch=1000;workload.accounted=true;run.duration=10 s;workload.bench_overhead=1 ms;",
                        settings[i], NULL);
        g_autoptr(TestWorld) test = test_world_finished("microbench", all);

        g_assert_true((test->world.memcg != NULL) == (i == 1));
        g_assert_true((test->world.slub->on_new_slab != NULL) == (i == 1));
        for (guint s = 0; s < SLAB_N_STATS; s++)
            stat[i][s] = test_world_stat(world_cache(&test->world, "bench_64"), s);
    }
    for (guint s = 0; s < SLAB_N_STATS; s++)
        g_assert_cmpuint(stat[0][s], ==, stat[1][s]);
}

/* A system under accounting in a test's hands. */
typedef struct {
    TestMachine test;
    Machine *machine;
    SlubSystem *system;
    SlubCache *cache, *arrays;
    Memcg *memcg;
    MemcgSettings settings;
    SimRng rng;
} Bed;

static MemcgSettings
settings_of(guint kernel, guint n_groups)
{
    return (MemcgSettings){
        .mode = MEMCG_USER,
        .depth = 3,
        .n_groups = n_groups,
        .scoped_pointer = kernel >= SLAB_KERNEL(6, 7),
        .vmstat_cached = kernel >= SLAB_KERNEL(5, 14),
        .keeps_stock = kernel >= SLAB_KERNEL(5, 14),
        .irqs_off = TRUE,
        .page_slots = 1,
        .page_batch = 64,
        .ext = {.memcg = TRUE},
    };
}

static SlubCache *
add_cache(Bed *bed, const SlabGeometryEnv *env, const char *name, guint bytes, guint flags)
{
    SlabCacheSpec spec = slab_cache_spec_default(name, bytes);
    SlabGeometry geometry;
    GError *error = NULL;
    SlubCache *cache;
    SlabExt ext;

    spec.flags = flags;
    slab_geometry_compute(env, &spec, &geometry, &error);
    g_assert_no_error(error);
    slab_ext_compute(env, &bed->settings.ext, &(SlabMergeRules){0}, &spec, &geometry, &ext, NULL);
    cache = slub_cache_new(bed->system, name, &geometry, 0, FALSE);
    memcg_add_cache(bed->memcg, cache, &ext, bed->arrays);
    return cache;
}

static void
bed_init(Bed *bed, const char *machine, guint kernel, const MemcgSettings *settings, guint bytes, guint flags)
{
    SlabGeometryEnv env = slab_geometry_env_default(kernel, 4);
    GError *error = NULL;

    *bed = (Bed){.settings = *settings};
    test_machine_init(&bed->test, machine);
    bed->machine = test_machine_start(&bed->test, 1, NULL, 0);
    bed->system = slub_system_new(bed->machine, kernel, 100, &error);
    g_assert_no_error(error);
    bed->memcg = memcg_new(bed->system, settings);
    bed->arrays = add_cache(bed, &env, "arrays", 512, 0);
    bed->cache = add_cache(bed, &env, "objects", bytes, flags);
    sim_rng_init(&bed->rng, 1, 0, "bed", "");
}

static void
bed_clear(Bed *bed)
{
    memcg_free(bed->memcg);
    slub_system_free(bed->system);
    mach_machine_free(bed->machine);
    test_machine_clear(&bed->test);
}

#define ONE_CPU "[machine]\nsockets = 1\ncores_per_l3 = 1\n"

/* One object by hand, 6.8, user cgroup, stock and slab warm: the fast path and the named steps of accounting. */
static void
steps_body(MachCpu *cpu, void *data)
{
    Bed *bed = data;
    const MachCosts *c = &bed->machine->costs;
    SimTime section = c->memcg_irq_section + c->memcg_stock, begin;
    SimTime count = c->memcg_irq_section + c->memcg_vmstat_cached;
    MemcgGroup *charged;
    MemcgTask task;
    SlabId object;

    memcg_task_init(&task, memcg_group(bed->memcg, 0));
    for (guint i = 0; i < 3; i++)
        memcg_slab_alloc(bed->memcg, bed->cache, cpu, &task, &charged);
    begin = mach_now(cpu);
    object = memcg_slab_alloc(bed->memcg, bed->cache, cpu, &task, &charged);
    g_assert_true(charged == task.group);
    g_assert_cmpint(mach_now(cpu) - begin, ==,
                    c->alloc_fast + c->objcg_lookup_scoped + section + c->objext_set + c->objcg_ref + count);
    begin = mach_now(cpu);
    memcg_slab_free(bed->memcg, bed->cache, cpu, object, charged);
    g_assert_cmpint(mach_now(cpu) - begin, ==, c->free_fast + c->objext_clear + section + c->objcg_ref + count);
    /* A move costs one refresh, at the next lookup only. */
    memcg_task_move(&task, memcg_group(bed->memcg, 0));
    begin = mach_now(cpu);
    object = memcg_slab_alloc(bed->memcg, bed->cache, cpu, &task, &charged);
    g_assert_cmpint(mach_now(cpu) - begin, ==,
                    c->alloc_fast + c->objcg_lookup_scoped + section + c->objext_set + c->objcg_ref + count +
                        c->objcg_lookup + 2 * c->objcg_ref + 2 * c->objcg_atomic);
    g_assert_cmpuint(memcg_stat(bed->memcg, MEMCG_STAT_REFRESHES), ==, 1);
}

/* Objects of 4 KiB, one after the other: on 5.13 each free drains the stock, and the line is written twice a pair
 * though nothing remains; with the statistics in the stock it is written once. */
static void
drains_body(MachCpu *cpu, void *data)
{
    Bed *bed = data;
    MemcgGroup *charged;
    MemcgTask task;

    memcg_task_init(&task, memcg_group(bed->memcg, 0));
    for (guint i = 0; i < 10; i++) {
        SlabId object = memcg_slab_alloc(bed->memcg, bed->cache, cpu, &task, &charged);
        memcg_slab_free(bed->memcg, bed->cache, cpu, object, charged);
    }
}

static void
test_drains(void)
{
    SimTime took[2];

    for (guint i = 0; i < 2; i++) {
        MemcgSettings settings = settings_of(SLAB_KERNEL(5, 13), 1);
        const MachCosts *c;
        Bed bed;

        settings.vmstat_cached = i == 1;
        bed_init(&bed, ONE_CPU, SLAB_KERNEL(5, 13), &settings, 4096, SLAB_ACCOUNT);
        test_machine_run_each(bed.machine, drains_body, &bed);
        c = &bed.machine->costs;
        took[i] = mach_now(&bed.machine->cpu[0]);
        g_assert_cmpuint(memcg_stat(bed.memcg, MEMCG_STAT_STOCK_DRAINS), ==, 10);
        if (i == 1) {
            /* Nine exchanges less, for each round but the first finds the stock its own and nothing to fetch; what an
             * allocation adds to the statistics, the free before it has taken off. */
            g_assert_cmpuint(memcg_stat(bed.memcg, MEMCG_STAT_VMSTAT_FLUSHES), ==, 1);
            g_assert_cmpint(took[0] - took[1], ==,
                            9 * (c->line_own + c->objcg_atomic) + 19 * c->memcg_vmstat_update -
                                20 * c->memcg_vmstat_cached - c->objcg_ref);
        }
        bed_clear(&bed);
    }
}

static void
test_steps(void)
{
    MemcgSettings settings = settings_of(SLAB_KERNEL(6, 8), 1);
    Bed bed;

    bed_init(&bed, ONE_CPU, SLAB_KERNEL(6, 8), &settings, 64, SLAB_ACCOUNT);
    test_machine_run_each(bed.machine, steps_body, &bed);
    bed_clear(&bed);
}

/* slub-facts E: 72 bytes an object of 64, a page charge every 4096/72 objects, a walk every 64 pages. */
static void
growth_body(MachCpu *cpu, void *data)
{
    Bed *bed = data;
    MemcgGroup *charged;
    MemcgTask task;

    memcg_task_init(&task, memcg_group(bed->memcg, 0));
    for (guint i = 0; i < 36000; i++)
        memcg_slab_alloc(bed->memcg, bed->cache, cpu, &task, &charged);
}

static void
test_growth(void)
{
    MemcgSettings settings = settings_of(SLAB_KERNEL(6, 8), 1);
    guint64 pages = (36000 * 72 + 4095) / 4096, walks = (pages + 63) / 64;
    g_autofree char *why = NULL;
    Bed bed;

    bed_init(&bed, ONE_CPU, SLAB_KERNEL(6, 8), &settings, 64, SLAB_ACCOUNT);
    test_machine_run_each(bed.machine, growth_body, &bed);
    g_assert_cmpuint(memcg_stat(bed.memcg, MEMCG_STAT_PAGE_CHARGES), ==, pages);
    g_assert_cmpuint(memcg_stat(bed.memcg, MEMCG_STAT_COUNTER_WALKS), ==, walks);
    for (guint level = 0; level < 3; level++)
        g_assert_cmpint(memcg_counter_pages(memcg_group(bed.memcg, 0), level), ==, 64 * walks);
    /* One array a slab of 64 objects. */
    g_assert_cmpuint(memcg_stat(bed.memcg, MEMCG_STAT_ARRAYS), ==, (36000 + 63) / 64);
    why = memcg_check(bed.memcg);
    g_assert_cmpstr(why, ==, NULL);
    bed_clear(&bed);
}

/* Seven cgroups in turn on one CPU: one slot is emptied at each page charge, seven slots never. */
static void
thrash_body(MachCpu *cpu, void *data)
{
    Bed *bed = data;
    MemcgGroup *charged;

    for (guint i = 0; i < 7 * 20; i++) {
        MemcgTask task;

        memcg_task_init(&task, memcg_group(bed->memcg, i % 7));
        memcg_slab_alloc(bed->memcg, bed->cache, cpu, &task, &charged);
    }
}

static void
test_slots(void)
{
    for (guint slots = 1; slots <= 7; slots += 6) {
        MemcgSettings settings = settings_of(SLAB_KERNEL(6, 8), 7);
        g_autofree char *why = NULL;
        Bed bed;

        settings.page_slots = slots;
        bed_init(&bed, ONE_CPU, SLAB_KERNEL(6, 8), &settings, 4096, SLAB_ACCOUNT);
        test_machine_run_each(bed.machine, thrash_body, &bed);
        /* 20 charges of 2 pages each fit one batch of 64; with one slot each charge walks, and each but the last is
         * taken back. */
        g_assert_cmpuint(memcg_stat(bed.memcg, MEMCG_STAT_COUNTER_WALKS), ==, slots == 7 ? 7 : 7 * 20 + 7 * 20 - 1);
        why = memcg_check(bed.memcg);
        g_assert_cmpstr(why, ==, NULL);
        bed_clear(&bed);
    }
}

/* Whole pages by hand: a charge that walks, one from the stock, and one given back to it. */
static void
pages_body(MachCpu *cpu, void *data)
{
    Bed *bed = data;
    const MachCosts *c = &bed->machine->costs;
    MemcgGroup *group = memcg_group(bed->memcg, 0);
    SimTime begin;

    memcg_pages_charge(bed->memcg, cpu, group, 1);
    begin = mach_now(cpu);
    memcg_pages_charge(bed->memcg, cpu, group, 3);
    g_assert_cmpint(mach_now(cpu) - begin, ==, c->memcg_irq_section + c->memcg_charge_pages);
    g_assert_cmpint(memcg_counter_pages(group, 0), ==, 64);
    begin = mach_now(cpu);
    memcg_pages_uncharge(bed->memcg, cpu, group, 2);
    g_assert_cmpint(mach_now(cpu) - begin, ==, c->memcg_irq_section + c->memcg_uncharge_pages);
    g_assert_cmpuint(memcg_stat(bed->memcg, MEMCG_STAT_COUNTER_WALKS), ==, 1);
}

static void
test_pages(void)
{
    MemcgSettings settings = settings_of(SLAB_KERNEL(6, 8), 1);
    g_autofree char *why = NULL;
    Bed bed;

    bed_init(&bed, ONE_CPU, SLAB_KERNEL(6, 8), &settings, 64, SLAB_ACCOUNT);
    test_machine_run_each(bed.machine, pages_body, &bed);
    why = memcg_check(bed.memcg);
    g_assert_cmpstr(why, ==, NULL);
    bed_clear(&bed);
}

/* slub-facts E, and the batch of 2022: what changed between two releases, at both of them. */
static void
test_releases(void)
{
    static const struct {
        guint major, minor, page_slots, page_batch;
        gboolean scoped_pointer, gathers, irqs_off, is_folded, charges_late;
    } rows[] = {
        {5, 13, 1, 32, FALSE, FALSE, TRUE, FALSE, FALSE}, {5, 14, 1, 32, FALSE, TRUE, FALSE, FALSE, FALSE},
        {5, 17, 1, 32, FALSE, TRUE, FALSE, FALSE, FALSE}, {5, 18, 1, 32, FALSE, TRUE, TRUE, FALSE, FALSE},
        {6, 0, 1, 32, FALSE, TRUE, TRUE, FALSE, FALSE},   {6, 1, 1, 64, FALSE, TRUE, TRUE, FALSE, FALSE},
        {6, 6, 1, 64, FALSE, TRUE, TRUE, FALSE, FALSE},   {6, 7, 1, 64, TRUE, TRUE, TRUE, FALSE, FALSE},
        {6, 9, 1, 64, TRUE, TRUE, TRUE, FALSE, FALSE},    {6, 10, 1, 64, TRUE, TRUE, TRUE, FALSE, TRUE},
        {6, 15, 1, 64, TRUE, TRUE, TRUE, FALSE, TRUE},    {6, 16, 7, 64, TRUE, TRUE, FALSE, FALSE, TRUE},
        {6, 17, 7, 64, TRUE, TRUE, FALSE, FALSE, TRUE},   {6, 18, 7, 64, TRUE, TRUE, FALSE, TRUE, TRUE},
    };
    g_autoptr(SimPlan) plan = test_world_plan("mmap1", "memcg.mode=user");

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        MemcgSettings settings;

        g_test_message("%u.%u", rows[i].major, rows[i].minor);
        memcg_settings_read(sim_plan_config(plan, 0), SLAB_KERNEL(rows[i].major, rows[i].minor), &settings);
        g_assert_cmpuint(settings.page_slots, ==, rows[i].page_slots);
        g_assert_cmpuint(settings.page_batch, ==, rows[i].page_batch);
        g_assert_cmpint(settings.scoped_pointer, ==, rows[i].scoped_pointer);
        g_assert_cmpint(settings.vmstat_cached, ==, rows[i].gathers);
        g_assert_cmpint(settings.keeps_stock, ==, rows[i].gathers);
        g_assert_cmpint(settings.irqs_off, ==, rows[i].irqs_off);
        g_assert_cmpint(settings.is_folded, ==, rows[i].is_folded);
        g_assert_cmpint(settings.charges_late, ==, rows[i].charges_late);
    }
}

typedef struct {
    Bed *bed;
    GArray *live; /* Live */
} Chaos;

typedef struct {
    SlabId object;
    MemcgGroup *charged;
} Live;

static void
chaos_body(MachCpu *cpu, void *data)
{
    Chaos *chaos = data;
    Bed *bed = chaos->bed;
    gboolean is_last = cpu->id + 1u == bed->machine->n_cpus;
    MemcgTask task;

    memcg_task_init(&task, memcg_group(bed->memcg, cpu->id));
    for (guint i = 0; i < 3000; i++) {
        if (sim_rng_below(&bed->rng, 100) < 3)
            memcg_task_move(&task, memcg_group(bed->memcg, (guint) sim_rng_below(&bed->rng, 5)));
        if (chaos->live->len == 0 || sim_rng_below(&bed->rng, 100) < 55) {
            Live live;

            live.object = memcg_slab_alloc(bed->memcg, bed->cache, cpu, &task, &live.charged);
            g_array_append_val(chaos->live, live);
        } else {
            guint n = (guint) sim_rng_below(&bed->rng, chaos->live->len);
            Live live = g_array_index(chaos->live, Live, n);

            g_array_remove_index_fast(chaos->live, n);
            memcg_slab_free(bed->memcg, bed->cache, cpu, live.object, live.charged);
        }
    }
    for (guint i = 0; is_last && i < chaos->live->len; i++) {
        Live live = g_array_index(chaos->live, Live, i);
        memcg_slab_free(bed->memcg, bed->cache, cpu, live.object, live.charged);
    }
}

/* Random operations, cgroups, moves and CPUs under each combination of rules: no byte is lost. */
static void
test_conservation(void)
{
    static const guint sizes[] = {40, 704, 4096};

    for (guint rules = 0; rules < 64; rules++) {
        MemcgSettings settings = settings_of(rules & 1 ? SLAB_KERNEL(6, 12) : SLAB_KERNEL(6, 1), 5);
        g_autofree char *why = NULL, *broken = NULL;
        Chaos chaos;
        Bed bed;

        settings.vmstat_cached = rules & 2;
        settings.keeps_stock = rules & 4;
        settings.is_folded = rules & 8;
        settings.is_v1 = rules & 16;
        settings.page_slots = rules & 32 ? 3 : 1;
        settings.charges_late = rules & 1;
        settings.stocks_used = rules & 2;
        bed_init(&bed, "[machine]\nsockets = 2\ncores_per_l3 = 2\n", rules & 1 ? SLAB_KERNEL(6, 12) : SLAB_KERNEL(6, 1),
                 &settings, sizes[rules % 3], rules & 8 ? SLAB_ACCOUNT : 0);
        chaos = (Chaos){&bed, g_array_new(FALSE, FALSE, sizeof(Live))};
        test_machine_run_each(bed.machine, chaos_body, &chaos);
        why = memcg_check(bed.memcg);
        g_assert_cmpstr(why, ==, NULL);
        broken = slub_cache_check(bed.arrays);
        g_assert_cmpstr(broken, ==, NULL);
        /* As many arrays in use as slabs alive. */
        g_assert_cmpint(test_world_objects(bed.arrays), ==, bed.cache->node[0].n_slabs + bed.cache->node[1].n_slabs);
        g_array_unref(chaos.live);
        bed_clear(&bed);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/memcg/seed4", test_seed4);
    g_test_add_func("/memcg/wml", test_wml);
    g_test_add_func("/memcg/shared-line", test_shared_line);
    g_test_add_func("/memcg/patches", test_patches);
    g_test_add_func("/memcg/drains", test_drains);
    g_test_add_func("/memcg/costs-in-bounds", test_costs_in_bounds);
    g_test_add_func("/memcg/counters-unchanged", test_counters_unchanged);
    g_test_add_func("/memcg/steps", test_steps);
    g_test_add_func("/memcg/growth", test_growth);
    g_test_add_func("/memcg/slots", test_slots);
    g_test_add_func("/memcg/pages", test_pages);
    g_test_add_func("/memcg/releases", test_releases);
    g_test_add_func("/memcg/conservation", test_conservation);
    return g_test_run();
}
