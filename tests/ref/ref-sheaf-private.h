/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REF_SHEAF_PRIVATE_H
#define REF_SHEAF_PRIVATE_H

#include "ref-sheaf.h"
#include "ref-slub-private.h"

/* Shared by the reference's own files of sheaves. */

#define BARN_LIMIT 10 /* full sheaves, and empty ones */
#define BATCH 32      /* PCS_BATCH_MAX */

typedef enum { CALLBACK_SHEAF, CALLBACK_SHEAF_PAST_BARN, CALLBACK_OBJECT } CallbackKind;

typedef struct {
    CallbackKind kind;
    RefSheaf *sheaf;
    RefObject *object;
} RefCallback;

guint ref__kernel_of(const RefSheaves *sheaves);
void ref__stat_add(RefSheaves *sheaves, guint cpu, SlabStat stat, guint n);
SlabStat ref__alloc_stat(const RefSheaves *sheaves);
SlabStat ref__free_stat(const RefSheaves *sheaves);
RefSheaf *ref__sheaf_make(guint capacity);
void ref__sheaf_destroy(RefSheaf *sheaf);
RefSheaf *ref__sheaf_alloc(RefSheaves *sheaves, guint cpu);
void ref__sheaf_free(RefSheaves *sheaves, guint cpu, RefSheaf *sheaf);
gboolean ref__is_full(const RefSheaf *sheaf);
RefObject *ref__sheaf_pop(RefSheaf *sheaf);
gpointer *ref__sheaf_array(const RefSheaf *sheaf);
void ref__sheaf_refill(RefSheaves *sheaves, guint cpu, RefSheaf *sheaf);
void ref__sheaf_flush(RefSheaves *sheaves, guint cpu, RefSheaf *sheaf);
void ref__swap_main_and_spare(RefSheafCpu *c);
guint ref__barn_node(const RefSheaves *sheaves, guint cpu);
gboolean ref__has_barn(const RefSheaves *sheaves, guint cpu);
RefBarn *ref__barn_of(RefSheaves *sheaves, guint cpu);
void ref__barn_put_empty(RefBarn *barn, RefSheaf *sheaf);
void ref__barn_put_full(RefBarn *barn, RefSheaf *sheaf);
RefSheaf *ref__barn_get_empty(RefBarn *barn);
RefSheaf *ref__barn_exchange_full(RefBarn *barn, RefSheaf *full);
gboolean ref__barn_is_crowded(const RefBarn *barn);
gboolean ref__main_from_stock(RefSheaves *sheaves, guint cpu);
gboolean ref__is_remote(const RefSheaves *sheaves, guint cpu, const RefObject *object);
void ref__free_to_slabs(RefSheaves *sheaves, guint cpu, guint n, RefObject *const *objects);

#endif
