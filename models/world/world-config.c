/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "world-private.h"

#include <string.h>

#include "slab-debug.h"
#include "slub-array.h"
#include "slab-kmalloc.h"
#include "slab-listing.h"
#include "slab-spec.h"

static const SimKeySpec kernel_keys[] = {
    {.group = "kernel", .key = "version", .type = SIM_KEY_TEXT, .fallback = "6.5",
     .help = "release whose allocator and rules are simulated: 6.5; slub-6.5 says the same"},
    {NULL},
};

/* The choices auto|on|off. */
enum { AUTO, ON, OFF };

static const SimKeySpec slub_keys[] = {
    {.group = "slub", .key = "min_order", .type = SIM_KEY_INT, .fallback = "0", .max = 10,
     .help = "slub_min_order= at boot"},
    {.group = "slub", .key = "max_order", .type = SIM_KEY_INT, .fallback = "3", .max = 10,
     .help = "slub_max_order= at boot"},
    {.group = "slub", .key = "min_objects", .type = SIM_KEY_INT, .fallback = "0", .max = 32767,
     .help = "slub_min_objects= at boot; 0 = computed from the CPU count"},
    {.group = "slub", .key = "min_partial", .type = SIM_KEY_INT, .fallback = "5", .max = 1e6,
     .help = "MIN_PARTIAL: least slabs that a node keeps although they are empty"},
    {.group = "slub", .key = "max_partial", .type = SIM_KEY_INT, .fallback = "10", .max = 1e6,
     .help = "MAX_PARTIAL: upper bound of that number as it grows with the object size"},
    {.group = "slub", .key = "cpu_partial", .type = SIM_KEY_BOOL, .fallback = "true",
     .help = "CONFIG_SLUB_CPU_PARTIAL"},
    {.group = "slub", .key = "cpu_partial_factor", .type = SIM_KEY_REAL, .fallback = "1", .min = 0, .max = 1000,
     .help = "scales the object targets of set_cpu_partial()"},
    {.group = "slub", .key = "cpu_slab", .type = SIM_KEY_CHOICE, .fallback = "auto", .choices = "auto|on|off",
     .help = "the cpu slab and with it the cpu partial list; auto = as in the release: on to 6.19, off from 7.0"},
    {.group = "slub", .key = "sheaves", .type = SIM_KEY_CHOICE, .fallback = "auto", .choices = "auto|on|off",
     .help = "sheaves; auto = of the caches that have them in the release, on = of all that have them in 7.0"},
    {.group = "slub", .key = "sheaf_capacity", .type = SIM_KEY_INT, .optional = TRUE, .max = 4096,
     .help = "objects of a sheaf, of all caches that have sheaves; by release computed from the object size"},
    {.group = "slub", .key = "sheaf_refill", .type = SIM_KEY_CHOICE, .fallback = "trylock",
     .choices = "local|trylock|spin",
     .help = "without a cpu slab: partial slabs of which nodes fill a sheaf, others' only if their lock is free or not"},
    {.group = "slub", .key = "remote_free", .type = SIM_KEY_CHOICE, .fallback = "direct", .choices = "direct|sheaf",
     .help = "where sheaves leave objects of other nodes: their slab, as in every release, or the CPU's sheaf"},
    {.group = "slub", .key = "remote_node_defrag_ratio", .type = SIM_KEY_INT, .fallback = "100", .max = 100,
     .help = "percent, as in sysfs"},
    {.group = "slub", .key = "debug", .type = SIM_KEY_TEXT, .optional = TRUE,
     .help = "slub_debug= at boot, as FZPU or PU,dentry"},
    {.group = "slub", .key = "debug_path", .type = SIM_KEY_CHOICE, .fallback = "auto",
     .choices = "auto|activate|single|cpu-partial",
     .help = "how debug caches take an object: by release, or one of the ideas of 2016"},
    {.group = "slub", .key = "bulk_stats", .type = SIM_KEY_CHOICE, .fallback = "auto", .choices = "auto|objects",
     .help = "what a bulk call counts in FASTPATH; auto = as in the release, objects = each object, as from 6.8 on"},
    {.group = "slub", .key = "order_fallback", .type = SIM_KEY_REAL, .fallback = "0", .min = 0, .max = 1,
     .help = "share of new slabs for which the preferred order is not to be had"},
    {NULL},
};

#define CACHE_KEY(name, key_type, low, high, help_text)                                                                \
    {.group = "cache *", .key = name, .type = key_type, .optional = TRUE, .min = low, .max = high, .help = help_text}

static const SimKeySpec cache_keys[] = {
    CACHE_KEY("object_size", SIM_KEY_SIZE, 1, 1 << 25, "s->object_size"),
    CACHE_KEY("align", SIM_KEY_SIZE, 0, 1 << 25, "align argument of kmem_cache_create(), 0 B = none"),
    CACHE_KEY("flags", SIM_KEY_TEXT, 0, 0, "creation flags, HWCACHE_ALIGN|ACCOUNT|..."),
    CACHE_KEY("usersize", SIM_KEY_SIZE, 0, 1 << 25, "region that user space may copy, 0 B = none"),
    CACHE_KEY("freeptr_offset", SIM_KEY_INT, -1, 1 << 25, "free_ptr_offset of kmem_cache_args, from 6.12; -1 = none"),
    CACHE_KEY("args_sheaf_capacity", SIM_KEY_INT, 0, 4096, "sheaf_capacity of kmem_cache_args, from 6.18; 0 = none"),
    CACHE_KEY("ctor", SIM_KEY_BOOL, 0, 0, "whether the cache has a constructor"),
    CACHE_KEY("order", SIM_KEY_INT, 0, 10, "slab order instead of the computed one"),
    CACHE_KEY("min_partial", SIM_KEY_INT, 0, 1e6, "sysfs min_partial"),
    CACHE_KEY("cpu_partial", SIM_KEY_INT, 0, 1e6, "sysfs cpu_partial, in objects"),
    CACHE_KEY("sheaf_capacity", SIM_KEY_INT, 0, 4096, "objects of a sheaf, 0 = no sheaves; a debug cache never has any"),
    CACHE_KEY("array_capacity", SIM_KEY_INT, 0, SLUB_ARRAY_CAPACITY_MAX,
              "objects of a per-CPU array above the cpu slab (RFC of 2023, not merged), 0 = none"),
    CACHE_KEY("cpu_partial_slabs", SIM_KEY_INT, 0, 1e6, "the limit in slabs itself, from 5.16 on"),
    {NULL},
};

#define WORKLOAD(name) "|" #name
static const char workload_choices[] =
#include "workload-list.h"
    ;
#undef WORKLOAD

static const SimKeySpec workload_keys[] = {
    {.group = "workload", .key = "type", .type = SIM_KEY_CHOICE, .choices = workload_choices + 1,
     .help = "which workload runs"},
    {NULL},
};

#define WORKLOAD(name) extern const Workload workload_##name;
#include "workload-list.h"
#undef WORKLOAD

const Workload *const *
workloads(void)
{
    static const Workload *const table[] = {
#define WORKLOAD(name) &workload_##name,
#include "workload-list.h"
#undef WORKLOAD
        NULL,
    };
    return table;
}

const Workload *
workload_find(const char *name)
{
    for (const Workload *const *w = workloads(); *w; w++)
        if (strcmp((*w)->name, name) == 0)
            return *w;
    return NULL;
}

/* A family of workloads has one table. */
static guint
add_table(const SimKeySpec **tables, guint n, const SimKeySpec *table)
{
    for (guint i = 0; i < n; i++)
        if (tables[i] == table)
            return n;
    tables[n] = table;
    return n + 1;
}

const SimSchema *
world_schema(void)
{
    static const SimKeySpec *tables[64];
    static SimSchema schema = {.tables = tables, .layer_key = "machine.profile", .layer_dir = "machines",
                               .layer_suffix = "machine", .scenarios_dir = SLUBSIM_SCENARIOS_DIR,
                               .add_layer = world_add_layer};
    static gsize once;

    if (g_once_init_enter(&once)) {
        guint n = 0;

        tables[n++] = mach_machine_keys;
        tables[n++] = mach_cost_keys;
        tables[n++] = kernel_keys;
        tables[n++] = slub_keys;
        tables[n++] = world_caches_keys;
        tables[n++] = cache_keys;
        tables[n++] = memcg_keys;
        tables[n++] = latency_keys;
        tables[n++] = workload_keys;
        for (const Workload *const *w = workloads(); *w; w++)
            n = add_table(tables, n, (*w)->keys);
        g_assert(n < G_N_ELEMENTS(tables));
        g_once_init_leave(&once, 1);
    }
    return &schema;
}

static gboolean
has_key(const Workload *workload, const SimKeySpec *spec)
{
    for (const SimKeySpec *key = workload->keys; key && key->group; key++)
        if (key == spec)
            return TRUE;
    return FALSE;
}

gboolean
world_reads_key(const SimConfig *config, const SimKeySpec *spec)
{
    const Workload *chosen = workload_find(sim_config_text(config, "workload", "type"));

    if (chosen && has_key(chosen, spec))
        return TRUE;
    for (const Workload *const *w = workloads(); *w; w++)
        if (has_key(*w, spec))
            return FALSE;
    return TRUE;
}

gboolean
world_kernel(const SimConfig *config, guint *ret_kernel, GError **error)
{
    const char *text = sim_config_text(config, "kernel", "version");
    guint kernel;

    if (g_str_has_prefix(text, "slub-"))
        text += strlen("slub-");
    if (!slab_listing_parse_kernel(text, &kernel, NULL))
        return sim_config_error(config, "kernel", "version", error, "not a release (allowed: numbers such as 6.5)");
    if (!slub_generation_find(kernel))
        return sim_config_error(config, "kernel", "version", error,
                                "no allocator is modelled for it (allowed: 5.10 to 7.1)");
    *ret_kernel = kernel;
    return TRUE;
}

gboolean
world_layers(const SimConfig *config, guint kernel, SlubLayers *ret_layers, GError **error)
{
    static const gboolean refill[] = {SLUB_REFILL_LOCAL, SLUB_REFILL_TRYLOCK, SLUB_REFILL_SPIN};
    gboolean own = slub_generation_find(kernel)->has_cpu_slab;
    guint cpu_slab = sim_config_choice(config, "slub", "cpu_slab");
    guint debug_path = sim_config_choice(config, "slub", "debug_path");
    SlubLayers layers;

    if (cpu_slab == ON && !own)
        return sim_config_error(config, "slub", "cpu_slab", error,
                                "the release has no cpu slab (allowed: auto, off; or kernel.version = 6.19 and "
                                "slub.sheaves = on)");
    layers = (SlubLayers){
        .has_cpu_slab = cpu_slab == AUTO ? own : cpu_slab == ON,
        .refill = refill[sim_config_choice(config, "slub", "sheaf_refill")],
        .remote_frees_to_sheaf = sim_config_choice(config, "slub", "remote_free") == 1,
    };
    if (!layers.has_cpu_slab && debug_path != SLUB_DEBUG_AUTO && debug_path != SLUB_DEBUG_SINGLE)
        return sim_config_error(config, "slub", "debug_path", error,
                                "there is no cpu slab to activate (allowed: auto, single)");
    *ret_layers = layers;
    return TRUE;
}

SlubSystem *
world_slub_new(const SimConfig *config, Machine *machine, GError **error)
{
    SlubSystem *system;
    SlubLayers layers;
    guint kernel;

    if (!world_kernel(config, &kernel, error) || !world_layers(config, kernel, &layers, error))
        return NULL;
    system =
        slub_system_new(machine, kernel, (guint) sim_config_int(config, "slub", "remote_node_defrag_ratio"), error);
    if (!system)
        return NULL;
    slub_system_set_layers(system, &layers);
    system->debug_path = sim_config_choice(config, "slub", "debug_path");
    system->counts_bulk |= sim_config_choice(config, "slub", "bulk_stats") == 1;
    return system;
}

gboolean
world_geometry_env(const SimConfig *config, const MachTopology *topology, SlabGeometryEnv *ret_env, GError **error)
{
    SlabGeometryEnv env;
    guint kernel;

    if (!world_kernel(config, &kernel, error))
        return FALSE;
    env = slab_geometry_env_default(kernel, topology->n_cpus);
    env.page_size_bytes = topology->page_size_bytes;
    if (env.page_size_bytes != 4096 && env.page_size_bytes != 16384 && env.page_size_bytes != 65536)
        return sim_config_error(config, "machine", "page_size", error, "no such page size (allowed: 4K, 16K, 64K)");
    if (sim_config_is_given(config, "machine", "possible_cpus")) {
        env.n_possible_cpus = (guint) sim_config_int(config, "machine", "possible_cpus");
        if (env.n_possible_cpus < topology->n_cpus)
            return sim_config_error(config, "machine", "possible_cpus", error,
                                    "fewer than the machine's CPUs (allowed: from %u)", topology->n_cpus);
    }
    if (sim_config_is_given(config, "slub", "debug")) {
        g_autoptr(GError) inner = NULL;
        if (!slab_debug_check(sim_config_text(config, "slub", "debug"), &env.slub_debug_no_higher_order, &inner))
            return sim_config_error(config, "slub", "debug", error, "%s", inner->message);
    }
    env.slub_min_order = (guint) sim_config_int(config, "slub", "min_order");
    env.slub_max_order = (guint) sim_config_int(config, "slub", "max_order");
    env.slub_min_objects = (guint) sim_config_int(config, "slub", "min_objects");
    env.min_partial_floor = (guint) sim_config_int(config, "slub", "min_partial");
    env.min_partial_ceiling = (guint) sim_config_int(config, "slub", "max_partial");
    if (env.min_partial_ceiling < env.min_partial_floor)
        return sim_config_error(config, "slub", "max_partial", error, "below slub.min_partial (allowed: from %u)",
                                env.min_partial_floor);
    env.cpu_partial_enabled = sim_config_bool(config, "slub", "cpu_partial");
    env.cpu_partial_factor = sim_config_real(config, "slub", "cpu_partial_factor");
    *ret_env = env;
    return TRUE;
}

/* Caches of the shipped workloads as their creators ask for them on x86-64; sizes from the ground-truth listings. */
typedef struct
{
    guint first_kernel;
    const char *spec; /* slab_spec_parse() */
} KnownCache;

static const KnownCache known_caches[] = {
    {SLAB_KERNEL(6, 18),
     "vm_area_struct:192,flags=ACCOUNT|HWCACHE_ALIGN|TYPESAFE_BY_RCU,freeptr_offset=0,sheaf_capacity=32"},
    {SLAB_KERNEL(6, 15), "vm_area_struct:192,flags=ACCOUNT|HWCACHE_ALIGN|TYPESAFE_BY_RCU,freeptr_offset=0"},
    {SLAB_KERNEL(6, 4), "vm_area_struct:176,flags=ACCOUNT"},
    {0, "vm_area_struct:152,flags=ACCOUNT"},
    {0, "vma_lock:40,flags=ACCOUNT"},
    {0, "anon_vma:96,flags=TYPESAFE_BY_RCU|ACCOUNT,ctor"},
    {0, "anon_vma_chain:64,flags=ACCOUNT"},
    {0, "maple_node:256,align=256,sheaf_capacity=32"},
    {0, "skbuff_head_cache:232,flags=HWCACHE_ALIGN"},
    {0, "bench_32:32"},
    {0, "bench_64:64"},
    {0, "bench_96_aligned:96,flags=HWCACHE_ALIGN"},
    {0, "bench_1120:1120"},
    {0, "bench_4096:4096"},
    {0, "filelock_cache:216"},
    {0, "names_cache:4096,flags=HWCACHE_ALIGN,usersize=4096"},
    {0, "dentry:192,flags=RECLAIM_ACCOUNT|ACCOUNT"},
    {0, "ext4_inode_cache:1136,flags=RECLAIM_ACCOUNT|ACCOUNT,ctor"},
    {0, "xfs_inode:984,align=64,flags=RECLAIM_ACCOUNT|ACCOUNT,ctor"},
};

gboolean
world_known_cache(const SlabGeometryEnv *env, const char *name, GStringChunk *names, SlabCacheSpec *ret_spec)
{
    for (guint i = 0; i < G_N_ELEMENTS(known_caches); i++) {
        gsize length = strlen(name);

        if (env->kernel >= known_caches[i].first_kernel && strncmp(known_caches[i].spec, name, length) == 0 &&
            known_caches[i].spec[length] == ':')
            return slab_spec_parse(known_caches[i].spec, names, ret_spec, NULL);
    }
    for (guint type = SLAB_KMALLOC_NORMAL; type <= SLAB_KMALLOC_CGROUP; type++)
        for (guint index = 1; index < 32; index++) {
            char text[SLAB_KMALLOC_NAME_BYTES];
            SlabCacheSpec spec;

            if (slab_kmalloc_class_bytes(index) > slab_kmalloc_max_bytes(env))
                continue;
            spec = slab_kmalloc_spec(env, type, 0, index, text);
            if (strcmp(text, name) == 0) {
                *ret_spec = spec;
                ret_spec->name = g_string_chunk_insert(names, name);
                return TRUE;
            }
        }
    return FALSE;
}

/* The scenario's [cache NAME] on top of what is known. */
static gboolean
apply_cache_group(const SimConfig *config, const char *group, SlabCacheSpec *spec, GError **error)
{
    if (sim_config_is_given(config, group, "object_size"))
        spec->object_size_bytes = (guint) sim_config_size(config, group, "object_size");
    if (sim_config_is_given(config, group, "align"))
        spec->align_bytes = (guint) sim_config_size(config, group, "align");
    if (sim_config_is_given(config, group, "usersize"))
        spec->usersize_bytes = (guint) sim_config_size(config, group, "usersize");
    if (sim_config_is_given(config, group, "freeptr_offset"))
        spec->freeptr_offset = (gint) sim_config_int(config, group, "freeptr_offset");
    if (sim_config_is_given(config, group, "args_sheaf_capacity"))
        spec->args_sheaf_capacity = (gint) sim_config_int(config, group, "args_sheaf_capacity");
    if (sim_config_is_given(config, group, "flags")) {
        g_autoptr(GError) inner = NULL;
        if (!slab_flags_parse(sim_config_text(config, group, "flags"), &spec->flags, &inner))
            return sim_config_error(config, group, "flags", error, "%s", inner->message);
    }
    if (sim_config_is_given(config, group, "ctor"))
        spec->has_ctor = sim_config_bool(config, group, "ctor");
    if (sim_config_is_given(config, group, "order"))
        spec->order_override = (gint) sim_config_int(config, group, "order");
    if (sim_config_is_given(config, group, "min_partial"))
        spec->min_partial_override = (gint) sim_config_int(config, group, "min_partial");
    if (sim_config_is_given(config, group, "cpu_partial"))
        spec->cpu_partial_override = (gint) sim_config_int(config, group, "cpu_partial");
    if (sim_config_is_given(config, group, "cpu_partial_slabs"))
        spec->cpu_partial_slabs_override = (gint) sim_config_int(config, group, "cpu_partial_slabs");
    return TRUE;
}

/* What the scenario says of sheaves instead of the release. A debug cache has none, whatever its creator asks for. */
static gboolean
apply_sheaves(const SimConfig *config, const SlabGeometryEnv *env, const SlabCacheSpec *spec, SlabGeometry *geometry,
              GError **error)
{
    const char *const *instances = sim_config_instances(config, "cache *");
    g_autofree char *group = g_strconcat("cache ", spec->name, NULL);
    guint sheaves = sim_config_choice(config, "slub", "sheaves");

    if (sheaves == OFF || (geometry->flags & SLAB_DEBUG_FLAGS)) {
        geometry->sheaf_capacity = 0;
        return TRUE;
    }
    if (sheaves == ON && env->kernel < SLAB_KERNEL(7, 0)) {
        SlabGeometryEnv with_sheaves = *env;
        SlabCacheSpec plain = *spec;
        SlabGeometry other;

        with_sheaves.kernel = SLAB_KERNEL(7, 0);
        /* 7.0 has no cpu partial list that a limit could be written to. */
        plain.cpu_partial_override = plain.cpu_partial_slabs_override = -1;
        if (!slab_geometry_compute(&with_sheaves, &plain, &other, error))
            return FALSE;
        geometry->sheaf_capacity = other.sheaf_capacity;
    }
    if (geometry->sheaf_capacity && sim_config_is_given(config, "slub", "sheaf_capacity"))
        geometry->sheaf_capacity = (guint) sim_config_int(config, "slub", "sheaf_capacity");
    if (instances && g_strv_contains(instances, spec->name) && sim_config_is_given(config, group, "sheaf_capacity"))
        geometry->sheaf_capacity = (guint) sim_config_int(config, group, "sheaf_capacity");
    return TRUE;
}

gboolean
world_cache_spec(const SimConfig *config, const SlabGeometryEnv *env, const char *name, GStringChunk *names,
                 SlabCacheSpec *ret_spec, GError **error)
{
    const char *const *instances = sim_config_instances(config, "cache *");
    SlabCacheSpec spec = slab_cache_spec_default(g_string_chunk_insert(names, name), 0);
    gboolean is_known = world_known_cache(env, name, names, &spec);

    if (instances && g_strv_contains(instances, name)) {
        g_autofree char *group = g_strconcat("cache ", name, NULL);
        if (!apply_cache_group(config, group, &spec, error))
            return FALSE;
        is_known |= sim_config_is_given(config, group, "object_size");
    }
    if (!is_known) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_MODEL, "[cache %s] object_size: must be given for this cache", name);
        return FALSE;
    }
    if (sim_config_is_given(config, "slub", "debug"))
        spec.flags = slab_debug_apply(sim_config_text(config, "slub", "debug"), name, spec.flags);
    *ret_spec = spec;
    return TRUE;
}

/* A debug cache that is to have the cpu partial list of an ordinary one: its target in objects. */
static gboolean
add_cpu_partial(const SlabGeometryEnv *env, SlabCacheSpec spec, SlabGeometry *geometry, GError **error)
{
    SlabGeometry plain;

    spec.flags &= ~SLAB_DEBUG_FLAGS;
    if (!slab_geometry_compute(env, &spec, &plain, error))
        return FALSE;
    geometry->has_cpu_partial = plain.has_cpu_partial;
    geometry->cpu_partial = plain.cpu_partial;
    if (plain.cpu_partial_slabs)
        geometry->cpu_partial_slabs = (2 * plain.cpu_partial + geometry->objects - 1) / geometry->objects;
    return TRUE;
}

guint
world_array_capacity(const SimConfig *config, const char *name)
{
    const char *const *instances = sim_config_instances(config, "cache *");
    g_autofree char *group = g_strconcat("cache ", name, NULL);

    if (!instances || !g_strv_contains(instances, name) || !sim_config_is_given(config, group, "array_capacity"))
        return 0;
    return (guint) sim_config_int(config, group, "array_capacity");
}

static gboolean
check_array(const SimConfig *config, guint kernel, const char *name, const SlabGeometry *geometry, GError **error)
{
    g_autofree char *group = g_strconcat("cache ", name, NULL);
    SlubLayers layers;

    if (!world_array_capacity(config, name))
        return TRUE;
    if (!world_layers(config, kernel, &layers, error))
        return FALSE;
    if (layers.has_cpu_slab && !geometry->sheaf_capacity && !(geometry->flags & SLAB_DEBUG_FLAGS))
        return TRUE;
    return sim_config_error(config, group, "array_capacity", error,
                            "arrays lie above a cpu slab, without sheaves and debug flags (allowed: 0)");
}

gboolean
world_cache_geometry(const SimConfig *config, const SlabGeometryEnv *env, const char *name,
                     SlabGeometry *ret_geometry, GError **error)
{
    g_autoptr(GStringChunk) names = g_string_chunk_new(64);
    SlabCacheSpec spec;
    SlabGeometry geometry;

    if (!world_cache_spec(config, env, name, names, &spec, error) ||
        !slab_geometry_compute(env, &spec, &geometry, error) ||
        !apply_sheaves(config, env, &spec, &geometry, error))
        return FALSE;
    if ((geometry.flags & SLAB_DEBUG_FLAGS) &&
        sim_config_choice(config, "slub", "debug_path") == SLUB_DEBUG_CPU_PARTIAL &&
        !add_cpu_partial(env, spec, &geometry, error))
        return FALSE;
    if (!check_array(config, env->kernel, name, &geometry, error))
        return FALSE;
    *ret_geometry = geometry;
    return TRUE;
}
