/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdarg.h>
#include "test-ref-slub.h"

/* What the scenario files share: parameters, and comparisons that print what differs. */

RefParams
test_params(guint kernel)
{
    return (RefParams){
        .kernel = kernel,
        .n_cpus = 4,
        .n_nodes = 1,
        .objects = 4,
        .fallback_objects = 2,
        .min_partial = 2,
        .cpu_partial = 4,
        .cpu_partial_slabs = 2,
        .has_cpu_partial = TRUE,
        .defrag_ratio = 1000,
    };
}

void
test_expect_stats(const RefSlub *slub, ...)
{
    guint64 want[SLAB_N_STATS] = {0};
    va_list args;

    va_start(args, slub);
    for (int stat = va_arg(args, int); stat >= 0; stat = va_arg(args, int))
        want[stat] = va_arg(args, guint);
    va_end(args);
    for (int i = 0; i < SLAB_N_STATS; i++) {
        g_autofree char *got_text =
            g_strdup_printf("%s %" G_GUINT64_FORMAT, slab_stat_name(i), ref_slub_stat(slub, -1, i));
        g_autofree char *want_text = g_strdup_printf("%s %" G_GUINT64_FORMAT, slab_stat_name(i), want[i]);
        g_assert_cmpstr(got_text, ==, want_text);
    }
    g_autofree char *why = ref_slub_check(slub);
    g_assert_cmpstr(why, ==, NULL);
}

void
test_expect_locks(const RefSlub *slub, ...)
{
    guint64 want[REF_N_LOCK_SITES] = {0};
    va_list args;

    va_start(args, slub);
    for (int site = va_arg(args, int); site >= 0; site = va_arg(args, int))
        want[site] = va_arg(args, guint);
    va_end(args);
    for (int i = 0; i < REF_N_LOCK_SITES; i++) {
        g_autofree char *got_text = g_strdup_printf("site %d: %" G_GUINT64_FORMAT, i, ref_slub_lock_count(slub, i, -1));
        g_autofree char *want_text = g_strdup_printf("site %d: %" G_GUINT64_FORMAT, i, want[i]);
        g_assert_cmpstr(got_text, ==, want_text);
    }
}

static void
append_serial(GString *text, const RefSlab *slab)
{
    g_string_append_printf(text, "%s%u", text->len > 0 ? " " : "", slab->serial);
}

void
test_expect_node_list(const RefSlub *slub, guint node, const char *serials)
{
    g_autoptr(GString) text = g_string_new(NULL);

    for (const GList *l = ref_slub_node_partial(slub, node); l != NULL; l = l->next)
        append_serial(text, l->data);
    g_assert_cmpstr(text->str, ==, serials);
}

void
test_expect_cpu_list(const RefSlub *slub, guint cpu, const char *serials)
{
    g_autoptr(GString) text = g_string_new(NULL);

    for (const RefSlab *s = ref_slub_cpu_partial(slub, cpu); s != NULL; s = s->next)
        append_serial(text, s);
    g_assert_cmpstr(text->str, ==, serials);
}

void
test_expect_place(const RefSlub *slub, guint serial, RefPlace place, gint owner)
{
    gint got_owner;

    g_assert_cmpint(ref_slub_slab_place(slub, ref_slub_slab_by_serial(slub, serial), &got_owner), ==, place);
    g_assert_cmpint(got_owner, ==, owner);
}

void
test_alloc_n(RefSlub *slub, guint cpu, guint n, RefObject **ret_objects)
{
    for (guint i = 0; i < n; i++) {
        RefObject *object = ref_slub_alloc(slub, cpu, REF_NO_NODE);
        g_assert_nonnull(object);
        if (ret_objects != NULL)
            ret_objects[i] = object;
    }
}
