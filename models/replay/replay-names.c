/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replay-names.h"

#include <string.h>

#include "slab-kmalloc.h"

enum {
    PAGE_SHIFT = 12,
};

void
replay_names_init(ReplayNames *names, const SlabGeometryEnv *env)
{
    memset(names, 0, sizeof *names);
    names->env = *env;
    names->names = g_ptr_array_new_with_free_func(g_free);
    replay_table_init(&names->numbers, 1);
    replay_table_init(&names->sites, 5);
    replay_table_init(&names->objects, 2);
    replay_table_init(&names->pages, 1);
}

void
replay_names_clear(ReplayNames *names)
{
    g_clear_pointer(&names->names, g_ptr_array_unref);
    replay_table_clear(&names->numbers);
    replay_table_clear(&names->sites);
    replay_table_clear(&names->objects);
    replay_table_clear(&names->pages);
}

/* Eight bytes a step, each mixed into the whole word; two of a million texts collide with probability 3e-8. Never 0. */
static guint64
hash_text(const char *text, gsize n_bytes, guint64 seed)
{
    guint64 hash = seed ^ n_bytes * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);

    while (n_bytes) {
        gsize n = MIN(n_bytes, sizeof(guint64));
        guint64 word = 0;

        memcpy(&word, text, n);
        hash = (hash ^ word) * G_GUINT64_CONSTANT(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
        text += n;
        n_bytes -= n;
    }
    hash *= G_GUINT64_CONSTANT(0xc4ceb9fe1a85ec53);
    hash ^= hash >> 29;
    return hash ? hash : 1;
}

guint
replay_names_intern(ReplayNames *names, const char *text, gsize n_bytes)
{
    guint32 *number = replay_table_add(&names->numbers, hash_text(text, n_bytes, 0));

    if (*number == 0) {
        g_ptr_array_add(names->names, g_strndup(text, n_bytes));
        *number = names->names->len;
    }
    return *number - 1;
}

const char *
replay_names_text(const ReplayNames *names, guint number)
{
    return g_ptr_array_index(names->names, number);
}

static guint64
site_key(const KmemEvent *event)
{
    return hash_text(event->site.text, event->site.n_bytes, event->bytes_alloc + 1);
}

static guint64
join(const guint32 *halves)
{
    return halves[0] | (guint64) halves[1] << 32;
}

static void
split(guint64 value, guint32 *halves)
{
    halves[0] = (guint32) value;
    halves[1] = (guint32) (value >> 32);
}

/* The majority wins without being counted: a vote against takes one away. */
static void
vote(guint32 *site, guint number)
{
    if (site[1] == 0)
        site[0] = number + 1;
    site[1] = site[0] == number + 1 ? site[1] + 1 : site[1] - 1;
}

static void
learn_page(ReplayNames *names, guint64 ptr, guint number)
{
    *replay_table_add(&names->pages, (ptr >> PAGE_SHIFT) + 1) = number + 1;
}

/* Allocations without a name give their site something to be found by; those with one give their page. */
static void
learn_alloc(ReplayNames *names, const KmemEvent *event)
{
    guint32 *site;
    gint number = event->cache.text || event->is_kmalloc ? replay_names_find(names, event) : -1;
    guint64 key;

    if (number >= 0)
        learn_page(names, event->ptr, (guint) number);
    if (number >= 0 || event->is_kmalloc || !event->site.text)
        return;
    key = site_key(event);
    site = replay_table_add(&names->sites, key);
    split(event->ptr >> PAGE_SHIFT, site + 2);
    if (site[4] == 0)
        site[4] = names->slow[event->cpu];
    split(key, replay_table_add(&names->objects, event->ptr));
}

static void
learn_free(ReplayNames *names, const KmemEvent *event)
{
    guint32 *object = replay_table_find(&names->objects, event->ptr);

    if (event->cache.text) {
        guint number = replay_names_intern(names, event->cache.text, event->cache.n_bytes);

        learn_page(names, event->ptr, number);
        if (object)
            vote(replay_table_add(&names->sites, join(object)), number);
    }
    if (object)
        replay_table_remove(&names->objects, object);
}

void
replay_names_learn(ReplayNames *names, const KmemEvent *event)
{
    guint64 *nameless = &names->nameless[event->cpu];

    /* A free whose slow path follows on its CPU is named by the probe there. */
    if (event->op == KMEM_PROBE && event->probe == KMEM_PROBE_FREE_SLOW && *nameless &&
        !replay_table_find(&names->pages, *nameless))
        *replay_table_add(&names->pages, *nameless) =
            replay_names_intern(names, event->cache.text, event->cache.n_bytes) + 1;
    if (event->op == KMEM_PROBE && event->probe == KMEM_PROBE_ALLOC_SLOW && event->cache.text)
        names->slow[event->cpu] = replay_names_intern(names, event->cache.text, event->cache.n_bytes) + 1;
    *nameless = event->op == KMEM_FREE && !event->cache.text ? (event->ptr >> PAGE_SHIFT) + 1 : 0;
    if (event->op == KMEM_ALLOC)
        learn_alloc(names, event);
    else if (event->op == KMEM_FREE)
        learn_free(names, event);
    if (event->op != KMEM_PROBE)
        names->slow[event->cpu] = 0;
}

/* Sites whose objects were never freed: by another object of the same page. */
void
replay_names_learned(ReplayNames *names)
{
    for (gsize i = 0; i < names->sites.capacity; i++) {
        guint32 *site = names->sites.value + i * names->sites.width;

        if (names->sites.key[i] && site[0] == 0) {
            const guint32 *page = replay_table_find(&names->pages, join(site + 2) + 1);

            site[0] = page ? *page : site[4];
        }
    }
    replay_table_clear(&names->objects);
    replay_table_init(&names->objects, 2);
}

static gint
kmalloc_number(ReplayNames *names, const KmemEvent *event)
{
    SlabKmallocType type = slab_kmalloc_type(names->env.kernel, event->gfp);
    guint index = slab_kmalloc_index(&names->env, event->bytes_alloc);
    char name[SLAB_KMALLOC_NAME_BYTES];

    if (index && slab_kmalloc_class_bytes(index) != event->bytes_alloc) {
        names->n_padded++;
        index = slab_kmalloc_index(&names->env, event->bytes_req);
    }
    if (!index)
        return -1;
    if (!names->kmalloc[type][index]) {
        slab_kmalloc_spec(&names->env, type, 0, index, name);
        names->kmalloc[type][index] = replay_names_intern(names, name, strlen(name)) + 1;
    }
    return (gint) names->kmalloc[type][index] - 1;
}

gint
replay_names_find(ReplayNames *names, const KmemEvent *event)
{
    const guint32 *site;
    g_autofree char *name = NULL;
    guint n_known = names->names->len, number;

    if (event->cache.text)
        return event->cache.n_bytes ? (gint) replay_names_intern(names, event->cache.text, event->cache.n_bytes) : -1;
    if (event->op != KMEM_ALLOC)
        return -1;
    if (event->is_kmalloc)
        return kmalloc_number(names, event);
    site = event->site.text ? replay_table_find(&names->sites, site_key(event)) : NULL;
    if (site && site[0])
        return (gint) site[0] - 1;
    name = g_strdup_printf("%.*s:%u", (int) event->site.n_bytes, event->site.text ? event->site.text : "",
                           event->bytes_alloc);
    number = replay_names_intern(names, name, strlen(name));
    names->n_sites += names->names->len > n_known;
    return (gint) number;
}

gint
replay_names_find_by_page(const ReplayNames *names, guint64 ptr)
{
    const guint32 *page = replay_table_find(&names->pages, (ptr >> PAGE_SHIFT) + 1);

    return page ? (gint) *page - 1 : -1;
}
