/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IMP_LOAD_H
#define IMP_LOAD_H

#include "imp-dump.h"
#include "slab-listing.h"

/* Listings of any form as rows to compute from and to compare with. */

/* Appends the rows of all tables of `dump` that show a geometry: with object size and alignment as sysfs has them,
 * with the stride alone as slabinfo has it. Returns how many show neither, which are left out. */
guint imp_load_rows(const ImpDump *dump, SlabListing *listing);

/* Reads a file by its suffix: .tsv or .caches (with the .env beside it, when there is one), else whatever
 * imp_read_path() knows. `env` is what nothing else says of the machine. `ret_table` (may be NULL) gets the text of a
 * .tsv, for columns that a listing does not keep, else NULL; the caller frees. A number of a damaged row would be
 * compared with: unlike import, this refuses a text of which any row cannot be read. SIM_ERROR_IO, SIM_ERROR_PARSE
 * with the line. */
SlabListing *imp_load_listing(const SlabGeometryEnv *env, const char *path, char **ret_table, GError **error);

#endif
