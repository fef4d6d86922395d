/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-record.h"

#include "sim-table.h"

struct _SimRecord {
    GPtrArray *names; /* owned metric names, in the order of addition */
    GArray *values;   /* double, parallel to names */
    GPtrArray *tables;
    guint64 fingerprint;
};

SimRecord *
sim_record_new(void)
{
    SimRecord *record = g_new0(SimRecord, 1);

    record->names = g_ptr_array_new_with_free_func(g_free);
    record->values = g_array_new(FALSE, FALSE, sizeof(double));
    record->tables = g_ptr_array_new_with_free_func((GDestroyNotify) sim_table_free);
    return record;
}

void
sim_record_free(SimRecord *record)
{
    if (record == NULL)
        return;
    g_ptr_array_unref(record->names);
    g_array_unref(record->values);
    g_ptr_array_unref(record->tables);
    g_free(record);
}

void
sim_record_add_metric(SimRecord *record, const char *name, double value)
{
    double ignored;

    g_assert(*name != '\0');
    g_assert(!sim_record_find_metric(record, name, &ignored));
    g_ptr_array_add(record->names, g_strdup(name));
    g_array_append_val(record->values, value);
}

guint
sim_record_n_metrics(const SimRecord *record)
{
    return record->names->len;
}

const char *
sim_record_metric_name(const SimRecord *record, guint i)
{
    g_assert(i < record->names->len);
    return record->names->pdata[i];
}

double
sim_record_metric(const SimRecord *record, guint i)
{
    g_assert(i < record->values->len);
    return g_array_index(record->values, double, i);
}

gboolean
sim_record_find_metric(const SimRecord *record, const char *name, double *ret_value)
{
    for (guint i = 0; i < record->names->len; i++) {
        if (g_str_equal(record->names->pdata[i], name)) {
            *ret_value = g_array_index(record->values, double, i);
            return TRUE;
        }
    }
    return FALSE;
}

void
sim_record_set_fingerprint(SimRecord *record, guint64 fingerprint)
{
    record->fingerprint = fingerprint;
}

guint64
sim_record_fingerprint(const SimRecord *record)
{
    return record->fingerprint;
}

SimTable *
sim_record_add_table(SimRecord *record, const char *name, const char *const *columns)
{
    SimTable *table = sim_table_new(name, columns);

    for (guint i = 0; i < record->tables->len; i++)
        g_assert(!g_str_equal(sim_table_name(record->tables->pdata[i]), name));
    g_ptr_array_add(record->tables, table);
    return table;
}

guint
sim_record_n_tables(const SimRecord *record)
{
    return record->tables->len;
}

const SimTable *
sim_record_table(const SimRecord *record, guint i)
{
    g_assert(i < record->tables->len);
    return record->tables->pdata[i];
}
