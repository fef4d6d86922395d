/* SPDX-License-Identifier: GPL-3.0-or-later */
/* [memcg]: what the releases do, and what a scenario changes of it. Sources: slub-facts E; the series WML of 2021 (in
 * 5.14), SEED4 of 2023 (in 6.7), the batch of 2022 and the stocks of 2025 (MCG). */
#include "memcg.h"

#define GROUP(name) .group = "memcg", .key = name
#define RULE(name, text)                                                                                               \
    {                                                                                                                  \
        GROUP(name), .type = SIM_KEY_CHOICE, .fallback = "auto", .choices = "auto|no|yes", .help = text                \
    }

const SimKeySpec memcg_keys[] = {
    {GROUP("mode"), .type = SIM_KEY_CHOICE, .fallback = "off", .choices = "off|root|user",
     .help = "accounting of slab objects: off, tasks in the root cgroup, or in cgroups of their own"},
    {GROUP("groups"), .type = SIM_KEY_INT, .fallback = "1", .min = 1, .max = MACH_MAX_CPUS,
     .help = "user cgroups, each below the root by a path of its own"},
    {GROUP("depth"), .type = SIM_KEY_INT, .fallback = "3", .min = 1, .max = MEMCG_DEPTH_MAX,
     .help = "page counters that a charge walks, the root's included"},
    {GROUP("hierarchy"), .type = SIM_KEY_CHOICE, .fallback = "v2", .choices = "v2|v1",
     .help = "v1 charges a kmem counter for each page, and memsw beside memory"},
    RULE("scoped_pointer", "objcg pointer in the task; auto = from 6.7"),
    RULE("vmstat_cached", "statistics gather in the objcg stock; auto = from 5.14"),
    RULE("keeps_stock", "an overflowing stock gives back pages instead of being drained; auto = from 5.14"),
    RULE("irqs_off", "stock sections disable interrupts; auto = to 5.13 and 5.18 to 6.15"),
    RULE("folded", "charge and statistics in one section; auto = from 6.18"),
    {GROUP("page_slots"), .type = SIM_KEY_INT, .optional = TRUE, .max = MEMCG_SLOTS_MAX,
     .help = "cgroups in a CPU's page stock; by release 1, from 6.16 7; 0 = without stock, as to 2.6.32"},
    {GROUP("page_batch"), .type = SIM_KEY_INT, .optional = TRUE, .min = 1, .max = 4096,
     .help = "pages charged at a time; by release 32, from 6.1 64"},
    {GROUP("protection"), .type = SIM_KEY_CHOICE, .fallback = "inside", .choices = "inside|same-line|own-line",
     .help = "the top cgroups have memory.min and memory.low, v2 only: what each walk does for these is inside "
             "costs.page_counter, or as to 6.0 two exchanges more on the usage's line or one of their own"},
    {GROUP("stocks"), .type = SIM_KEY_CHOICE, .fallback = "empty", .choices = "empty|used",
     .help = "each CPU's byte stock at the start: empty, or with the remainder of a page, of 0 to 4,088 bytes, that "
             "earlier objects of its cgroup left there"},
    {GROUP("profiling"), .type = SIM_KEY_BOOL, .fallback = "false", .help = "memory allocation profiling, from 6.10"},
    {GROUP("placement"), .type = SIM_KEY_CHOICE, .fallback = "kernel", .choices = "kernel|array|leftover|rfc-v2",
     .help = "where obj_exts live: by release, always in arrays, RFC V2 to patch 4, RFC V2 whole"},
    {GROUP("always_exts"), .type = SIM_KEY_BOOL, .fallback = "false",
     .help = "what-if: exts also for caches that need none"},
    {NULL},
};

static gboolean
rule(const SimConfig *config, const char *key, gboolean by_release)
{
    guint choice = sim_config_choice(config, "memcg", key);

    return choice ? choice == 2 : by_release;
}

static guint
number(const SimConfig *config, const char *key, guint by_release)
{
    return sim_config_is_given(config, "memcg", key) ? (guint) sim_config_int(config, "memcg", key) : by_release;
}

void
memcg_settings_read(const SimConfig *config, guint kernel, MemcgSettings *ret_settings)
{
    MemcgMode mode = sim_config_choice(config, "memcg", "mode");
    gboolean irqs_off = kernel < SLAB_KERNEL(5, 14) || (kernel >= SLAB_KERNEL(5, 18) && kernel < SLAB_KERNEL(6, 16));
    gboolean is_v1 = sim_config_choice(config, "memcg", "hierarchy") == 1;
    guint protection = sim_config_choice(config, "memcg", "protection");

    *ret_settings = (MemcgSettings){
        .mode = mode,
        .is_v1 = is_v1,
        .depth = (guint) sim_config_int(config, "memcg", "depth"),
        .n_groups = (guint) sim_config_int(config, "memcg", "groups"),
        .scoped_pointer = rule(config, "scoped_pointer", kernel >= SLAB_KERNEL(6, 7)),
        .vmstat_cached = rule(config, "vmstat_cached", kernel >= SLAB_KERNEL(5, 14)),
        .keeps_stock = rule(config, "keeps_stock", kernel >= SLAB_KERNEL(5, 14)),
        .irqs_off = rule(config, "irqs_off", irqs_off),
        .is_folded = rule(config, "folded", kernel >= SLAB_KERNEL(6, 18)),
        .charges_late = kernel >= SLAB_KERNEL(6, 10),
        .stocks_used = sim_config_choice(config, "memcg", "stocks") == 1,
        .page_slots = number(config, "page_slots", kernel >= SLAB_KERNEL(6, 16) ? MEMCG_SLOTS_MAX : 1),
        .page_batch = number(config, "page_batch", kernel >= SLAB_KERNEL(6, 1) ? 64 : 32),
        .protects_always = protection != 0 && !is_v1,
        .usage_apart = protection == 2,
        .ext = {.memcg = mode != MEMCG_OFF,
                .profiling = sim_config_bool(config, "memcg", "profiling") && kernel >= SLAB_KERNEL(6, 10),
                .always = sim_config_bool(config, "memcg", "always_exts"),
                .rules = sim_config_choice(config, "memcg", "placement")},
    };
}
