/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a scenario: the reader of groups and keys. Whatever it accepts is clean text on lines it names. */
#include "fuzz-target.h"

#include "sim-ini.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(SimIni) ini = sim_ini_parse((const char *) data, size, "input", &error);

    g_assert_true((ini == NULL) == (error != NULL));
    for (guint i = 0; ini != NULL && i < ini->groups->len; i++) {
        const SimIniGroup *group = ini->groups->pdata[i];

        g_assert_true(sim_ini_find_group(ini, group->name) == group);
        for (guint j = 0; j < group->entries->len; j++) {
            const SimIniEntry *entry = group->entries->pdata[j];

            g_assert_cmpuint(entry->line, >, group->line);
            g_assert_true(sim_ini_find_entry(group, entry->key) == entry);
        }
    }
    return 0;
}
