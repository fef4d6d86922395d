/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLAB_DEBUG_H
#define SLAB_DEBUG_H

#include "slab-types.h"

/* The boot parameter slub_debug (slab_debug): "FZ", "PU,dentry,kmalloc-*;F", ",name", "-" or "" (all of FZPU).
 * mm/slub.c setup_slub_debug(), parse_slub_debug_flags() and kmem_cache_flags() of 5.10 to 7.1, slub-facts A.5. The
 * kernel ignores letters it does not know; here they are SIM_ERROR_PARSE. */

/* Checks the whole text. `ret_no_higher_order` tells whether it has the letter O. */
gboolean slab_debug_check(const char *slub_debug, gboolean *ret_no_higher_order, GError **error);

/* Creation flags of a cache with the debug flags that a checked `slub_debug` (NULL = not given) adds: those of the
 * first block that names the cache, else the global ones, of which a NOLEAKTRACE cache gets no STORE_USER. */
guint slab_debug_apply(const char *slub_debug, const char *cache_name, guint flags);

#endif
