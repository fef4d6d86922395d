/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "imp-sysfs.h"

#include <string.h>

#include "slab-kmalloc.h"

/* Far above any count, far below overflow. */
#define LARGEST_SUM (G_GINT64_CONSTANT(1) << 60)

typedef enum {
    FILE_IGNORED, /* known, of no use here */
    FILE_NUMBER,  /* at an offset of ImpRow */
    FILE_FLAG,
    FILE_CTOR,
    FILE_CPU_LISTS,
    FILE_STAT,
} FileKind;

#define NUMBER(name, member)                                                                                           \
    {                                                                                                                  \
        name, FILE_NUMBER, G_STRUCT_OFFSET(ImpRow, member)                                                             \
    }

static const struct {
    const char *name;
    FileKind kind;
    glong data; /* offset, flag or SlabStat */
} files[] = {NUMBER("object_size", object_bytes),
             NUMBER("slab_size", stride_bytes),
             NUMBER("objs_per_slab", objects_per_slab),
             NUMBER("order", order),
             NUMBER("align", align_bytes),
             NUMBER("usersize", usersize_bytes),
             NUMBER("aliases", n_aliases),
             NUMBER("min_partial", min_partial),
             NUMBER("cpu_partial", cpu_partial),
             NUMBER("sheaf_capacity", sheaf_capacity),
             NUMBER("objects", active_objects),
             NUMBER("total_objects", total_objects),
             NUMBER("objects_partial", partial_active),
             NUMBER("slabs", slabs),
             NUMBER("partial", partial_slabs),
             NUMBER("cpu_slabs", cpu_slabs),
             {"slabs_cpu_partial", FILE_CPU_LISTS, 0},
             {"ctor", FILE_CTOR, 0},
             {"hwcache_align", FILE_FLAG, SLAB_HWCACHE_ALIGN},
             {"reclaim_account", FILE_FLAG, SLAB_RECLAIM_ACCOUNT},
             {"cache_dma", FILE_FLAG, SLAB_CACHE_DMA},
             {"destroy_by_rcu", FILE_FLAG, SLAB_TYPESAFE_BY_RCU},
             {"sanity_checks", FILE_FLAG, SLAB_CONSISTENCY_CHECKS},
             {"red_zone", FILE_FLAG, SLAB_RED_ZONE},
             {"poison", FILE_FLAG, SLAB_POISON},
             {"store_user", FILE_FLAG, SLAB_STORE_USER},
             {"trace", FILE_FLAG, SLAB_TRACE},
             {"failslab", FILE_FLAG, SLAB_FAILSLAB},
             {"alloc_calls", FILE_IGNORED, 0},
             {"free_calls", FILE_IGNORED, 0},
             {"remote_node_defrag_ratio", FILE_IGNORED, 0},
             {"reserved", FILE_IGNORED, 0},
             {"shrink", FILE_IGNORED, 0},
             {"validate", FILE_IGNORED, 0},
             {"skip_kfence", FILE_IGNORED, 0},
#define ROW(name, sysfs) {sysfs, FILE_STAT, SLAB_STAT_##name},
             SLAB_STATS(ROW)
#undef ROW
};

gint
imp_sysfs_find(const char *name, gsize length)
{
    for (gsize i = 0; i < G_N_ELEMENTS(files); i++)
        if (strlen(files[i].name) == length && memcmp(files[i].name, name, length) == 0)
            return (gint) i;
    return IMP_SYSFS_NO_KEY;
}

const char *const *
imp_sysfs_names(void)
{
    static const char *names[G_N_ELEMENTS(files) + 1];
    static gsize once;

    if (g_once_init_enter(&once)) {
        for (gsize i = 0; i < G_N_ELEMENTS(files); i++)
            names[i] = files[i].name;
        g_once_init_leave(&once, 1);
    }
    return names;
}

/* "99(98) C1=25(25) C2=73(73)" */
typedef struct {
    gint64 total, total_slabs;               /* in brackets, -1 = none */
    gint64 sum, slabs_sum, largest, longest; /* over the items; longest in brackets */
    gint largest_at, highest_cpu, highest_node;
    guint n_items;
} Counts;

static gboolean
parse_number(const char **text, gint64 *ret_number)
{
    ImpWord word = {.text = *text, .length = strspn(*text, "0123456789")};

    if (!imp_word_number(&word, ret_number))
        return FALSE;
    *text += word.length;
    return TRUE;
}

/* A number, and perhaps one in brackets. */
static gboolean
parse_pair(const char **text, gint64 *ret_number, gint64 *ret_bracketed)
{
    if (!parse_number(text, ret_number))
        return FALSE;
    *ret_bracketed = -1;
    if (**text == '(') {
        const char *inside = *text + 1;

        if (parse_number(&inside, ret_bracketed) && *inside == ')')
            *text = inside + 1;
    }
    return TRUE;
}

/* Items that are no item end the list: a row may be cut. */
static gboolean
parse_counts(const char *text, Counts *ret_counts)
{
    Counts counts = {.largest_at = -1, .highest_cpu = -1, .highest_node = -1};

    text += strspn(text, " \t");
    if (!parse_pair(&text, &counts.total, &counts.total_slabs))
        return FALSE;
    for (text += strspn(text, " \t"); *text == 'C' || *text == 'N'; text += strspn(text, " \t")) {
        gint *highest = *text == 'C' ? &counts.highest_cpu : &counts.highest_node;
        gint64 at, number, bracketed;

        text++;
        if (!parse_number(&text, &at) || at > 65535 || *text++ != '=' || !parse_pair(&text, &number, &bracketed))
            break;
        if (counts.n_items == 0 || number > counts.largest) {
            counts.largest = number;
            counts.largest_at = (gint) at;
        }
        counts.sum = MIN(counts.sum + number, LARGEST_SUM);
        counts.slabs_sum = MIN(counts.slabs_sum + MAX(bracketed, 0), LARGEST_SUM);
        counts.longest = MAX(counts.longest, bracketed);
        *highest = MAX(*highest, (gint) at);
        counts.n_items++;
    }
    *ret_counts = counts;
    return TRUE;
}

static void
set_stat(ImpRow *row, glong stat, const Counts *counts)
{
    if (row->stats == NULL) {
        row->stats = g_new(ImpStats, 1);
        for (guint i = 0; i < SLAB_N_STATS; i++) {
            row->stats->total[i] = row->stats->busiest[i] = -1;
            row->stats->busiest_cpu[i] = -1;
        }
    }
    row->stats->total[stat] = counts->total;
    if (counts->n_items > 0) {
        row->stats->busiest[stat] = counts->largest;
        row->stats->busiest_cpu[stat] = counts->largest_at;
    }
}

static void
note_lists(ImpDump *dump, const ImpRow *row, const char *name, const Counts *counts)
{
    dump->n_listed_cpus = MAX(dump->n_listed_cpus, (guint) (counts->highest_cpu + 1));
    dump->n_listed_nodes = MAX(dump->n_listed_nodes, (guint) (counts->highest_node + 1));
    /* What stands before the brackets is halved for each CPU and for all: only the slabs add up. */
    if (counts->n_items > 0 && counts->total_slabs >= 0 ? counts->slabs_sum != counts->total_slabs
                                                        : counts->n_items > 0 && counts->sum != counts->total)
        imp_dump_note(dump, IMP_NOTE_CONFLICT, "%s: %s is not the sum over its CPUs or nodes", row->name, name);
}

gboolean
imp_sysfs_set(ImpDump *dump, ImpRow *row, gint key, const char *value)
{
    Counts counts;

    if (files[key].kind == FILE_IGNORED)
        return TRUE;
    if (files[key].kind == FILE_CTOR) {
        row->has_ctor = value[strspn(value, " \t")] != '\0';
        return TRUE;
    }
    if (!parse_counts(value, &counts))
        return FALSE;
    note_lists(dump, row, files[key].name, &counts);
    switch (files[key].kind) {
    case FILE_NUMBER:
        G_STRUCT_MEMBER(gint64, row, files[key].data) = counts.total;
        break;
    case FILE_FLAG:
        row->knows_flags = TRUE;
        row->flags |= counts.total > 0 ? (guint) files[key].data : 0;
        break;
    case FILE_CPU_LISTS:
        row->cpu_list_slabs = counts.total_slabs;
        row->cpu_list_longest = counts.longest;
        break;
    case FILE_STAT:
        set_stat(row, files[key].data, &counts);
        break;
    case FILE_CTOR:
    case FILE_IGNORED:
        break;
    }
    if (g_str_equal(files[key].name, "sheaf_capacity"))
        dump->kernel_low = MAX(dump->kernel_low, SLAB_KERNEL(6, 18));
    return TRUE;
}

void
imp_sysfs_apply_name(ImpRow *row)
{
    static const struct {
        char letter;
        guint flag;
    } letters[] = {
        {'d', SLAB_CACHE_DMA}, {'D', SLAB_CACHE_DMA32},        {'a', SLAB_RECLAIM_ACCOUNT},
        {'A', SLAB_ACCOUNT},   {'F', SLAB_CONSISTENCY_CHECKS},
    };

    if (slab_kmalloc_is_name(row->name))
        row->flags |= SLAB_KMALLOC;
    if (row->name[0] != ':') {
        /* A cache that can merge shows itself under such a name only. */
        row->flags |= SLAB_NO_MERGE;
        return;
    }
    for (const char *c = row->name + 1; g_ascii_isalpha(*c); c++)
        for (gsize i = 0; i < G_N_ELEMENTS(letters); i++)
            row->flags |= *c == letters[i].letter ? letters[i].flag : 0;
}

static gboolean
is_copy(const ImpRow *a, const ImpRow *b)
{
    return a->stride_bytes == b->stride_bytes && a->object_bytes == b->object_bytes && a->order == b->order &&
           a->n_aliases == b->n_aliases && a->align_bytes == b->align_bytes && a->slabs == b->slabs;
}

void
imp_sysfs_drop_copies(ImpDump *dump, GArray *rows)
{
    g_autoptr(GHashTable) first_of_size = g_hash_table_new(g_direct_hash, g_direct_equal);
    guint n_dropped = 0;

    /* Merged names first: the copies go to them. */
    for (guint pass = 0; pass < 2; pass++)
        for (guint i = 0; i < rows->len; i++) {
            ImpRow *row = &g_array_index(rows, ImpRow, i);
            gboolean is_merged_name = row->name[0] == ':';
            gpointer key = GINT_TO_POINTER((gint) (row->stride_bytes * 64 + row->n_aliases)), seen;

            if (row->n_aliases <= 0 || is_merged_name != (pass == 0))
                continue;
            seen = g_hash_table_lookup(first_of_size, key);
            if (seen != NULL && !is_merged_name &&
                is_copy(&g_array_index(rows, ImpRow, GPOINTER_TO_UINT(seen) - 1), row)) {
                ImpRow *original = &g_array_index(rows, ImpRow, GPOINTER_TO_UINT(seen) - 1);
                g_autofree char *names = original->alias_names == NULL
                                             ? g_strdup(row->name)
                                             : g_strdup_printf("%s %s", original->alias_names, row->name);

                original->alias_names = imp_dump_keep_names(dump, names);
                g_clear_pointer(&row->stats, g_free);
                row->line = G_MAXUINT; /* to be removed below, once indices no longer count */
                n_dropped++;
            } else if (seen == NULL)
                g_hash_table_insert(first_of_size, key, GUINT_TO_POINTER(i + 1));
        }
    for (guint i = rows->len; i > 0 && n_dropped > 0; i--)
        if (g_array_index(rows, ImpRow, i - 1).line == G_MAXUINT)
            g_array_remove_index(rows, i - 1);
    if (n_dropped > 0)
        imp_dump_note(dump, IMP_NOTE_INFERRED,
                      "%u folders repeat a merged cache under another name (a copy made through symbolic links): each "
                      "counted once",
                      n_dropped);
}
