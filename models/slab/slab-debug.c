/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slab-debug.h"

#include <string.h>

#include "sim-error.h"

#define DEFAULT_FLAGS ((guint) (SLAB_CONSISTENCY_CHECKS | SLAB_RED_ZONE | SLAB_POISON | SLAB_STORE_USER))

/* One block "LETTERS[,NAME...]" between semicolons. */
typedef struct {
    guint flags;
    gboolean no_higher_order;
    char **names; /* NULL-terminated; empty = every cache */
} Block;

static gboolean
parse_letters(const char *letters, Block *block, GError **error)
{
    for (const char *c = letters; *c != '\0'; c++) {
        switch (g_ascii_tolower(*c)) {
        case '-':
            block->flags = 0;
            break;
        case 'f':
            block->flags |= SLAB_CONSISTENCY_CHECKS;
            break;
        case 'z':
            block->flags |= SLAB_RED_ZONE;
            break;
        case 'p':
            block->flags |= SLAB_POISON;
            break;
        case 'u':
            block->flags |= SLAB_STORE_USER;
            break;
        case 't':
            block->flags |= SLAB_TRACE;
            break;
        case 'a':
            block->flags |= SLAB_FAILSLAB;
            break;
        case 'o':
            block->no_higher_order = TRUE;
            break;
        default:
            g_set_error(error, SIM_ERROR, SIM_ERROR_PARSE, "slub_debug: '%c' is none of F Z P U T A O -", *c);
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
block_parse(const char *text, Block *ret_block, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(text, ",", -1);
    Block block = {.names = NULL};

    /* Names without letters mean full debugging of those caches. */
    if (parts[0] == NULL || parts[0][0] == '\0')
        block.flags = DEFAULT_FLAGS;
    else if (!parse_letters(parts[0], &block, error))
        return FALSE;
    block.names = g_strdupv(parts[0] == NULL ? parts : parts + 1);
    *ret_block = block;
    return TRUE;
}

static gboolean
block_names_cache(const Block *block, const char *cache_name)
{
    for (char **name = block->names; *name != NULL; name++) {
        const char *star = strchr(*name, '*');

        if (star != NULL ? strncmp(cache_name, *name, (gsize) (star - *name)) == 0 : g_str_equal(cache_name, *name))
            return TRUE;
    }
    return FALSE;
}

gboolean
slab_debug_check(const char *slub_debug, gboolean *ret_no_higher_order, GError **error)
{
    g_auto(GStrv) texts = g_strsplit(slub_debug, ";", -1);
    gboolean no_higher_order = FALSE;

    for (char **text = texts; *text != NULL; text++) {
        Block block;

        if (!block_parse(*text, &block, error))
            return FALSE;
        no_higher_order |= block.no_higher_order;
        g_strfreev(block.names);
    }
    *ret_no_higher_order = no_higher_order;
    return TRUE;
}

guint
slab_debug_apply(const char *slub_debug, const char *cache_name, guint flags)
{
    g_auto(GStrv) texts = NULL;
    guint global = 0;

    if (slub_debug == NULL)
        return flags;
    if (slub_debug[0] == '\0')
        global = DEFAULT_FLAGS;
    texts = g_strsplit(slub_debug, ";", -1);
    for (char **text = texts; *text != NULL; text++) {
        Block block;
        gboolean is_named;

        if ((*text)[0] == '\0' || !block_parse(*text, &block, NULL))
            continue;
        if (block.names[0] == NULL)
            global = block.flags;
        is_named = block_names_cache(&block, cache_name);
        g_strfreev(block.names);
        if (is_named)
            return flags | block.flags;
    }
    if (flags & SLAB_NOLEAKTRACE)
        global &= ~(guint) SLAB_STORE_USER;
    return flags | global;
}
