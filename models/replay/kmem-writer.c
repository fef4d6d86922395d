/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kmem-writer.h"

#include "slab-kmalloc.h"

void
kmem_write_header(guint n_cpus, GString *text)
{
    g_string_append_printf(text, "# tracer: nop\n#\n# entries-in-buffer/entries-written: 0/0   #P:%u\n#\n", n_cpus);
}

static const char *
gfp_text(guint gfp)
{
    return gfp & SLAB_GFP_ACCOUNT       ? "GFP_KERNEL_ACCOUNT"
           : gfp & SLAB_GFP_RECLAIMABLE ? "GFP_KERNEL|__GFP_RECLAIMABLE"
           : gfp & SLAB_GFP_DMA         ? "GFP_KERNEL|GFP_DMA"
                                        : "GFP_KERNEL";
}

static void
write_array(const KmemEvent *event, GString *text)
{
    g_string_append(text, "p={");
    for (guint i = 0; i < event->n_shown; i++)
        g_string_append_printf(text, "%s0x%" G_GINT64_MODIFIER "x", i ? "," : "", event->ptrs[i]);
    g_string_append(text, "}\n");
}

static void
write_fields(const KmemEvent *event, GString *text)
{
    int n = (int) event->cache.n_bytes;
    const char *cache = event->cache.text ? event->cache.text : "";

    switch (event->op) {
    case KMEM_ALLOC:
        g_string_append_printf(text,
                               "%s: call_site=%.*s ptr=%016" G_GINT64_MODIFIER "x bytes_req=%u bytes_alloc=%u "
                               "gfp_flags=%s node=%d\n",
                               event->is_kmalloc ? "kmalloc" : "kmem_cache_alloc", n, cache, event->ptr,
                               event->bytes_req, event->bytes_alloc, gfp_text(event->gfp), event->node);
        break;
    case KMEM_FREE:
        g_string_append_printf(text, "%s: call_site=free ptr=%016" G_GINT64_MODIFIER "x",
                               event->is_kmalloc ? "kfree" : "kmem_cache_free", event->ptr);
        if (!event->is_kmalloc)
            g_string_append_printf(text, " name=%.*s", n, cache);
        g_string_append_c(text, '\n');
        break;
    case KMEM_ALLOC_BULK:
        g_string_append_printf(text, "bulk_alloc: (kmem_cache_alloc_bulk) name=\"%.*s\" n=%u ret=%u ", n, cache,
                               event->n, event->n);
        write_array(event, text);
        break;
    case KMEM_FREE_BULK:
        g_string_append_printf(text, "bulk_free: (kmem_cache_free_bulk) name=\"%.*s\" n=%u ", n, cache, event->n);
        write_array(event, text);
        break;
    case KMEM_PROBE:
        g_string_append_printf(text, "%s: (%s+0x0) name=\"%.*s\"\n", kmem_probe_name(event->probe),
                               kmem_probe_name(event->probe), n, cache);
        break;
    case KMEM_LOST:
        break;
    }
}

void
kmem_write_event(const KmemEvent *event, GString *text)
{
    static const char *const contexts[KMEM_N_CONTEXTS] = {".....", "..s..", "..h.."};

    if (event->op == KMEM_LOST) {
        g_string_append_printf(text, "CPU:%u [LOST %" G_GUINT64_FORMAT " EVENTS]\n", event->cpu, event->n_lost);
        return;
    }
    g_string_append_printf(text, "             sim-%-5u [%03u] %s %5" G_GINT64_FORMAT ".%09u: ", event->cpu + 1,
                           event->cpu, contexts[event->context], event->time_ns / 1000000000,
                           (guint) (event->time_ns % 1000000000));
    write_fields(event, text);
}
