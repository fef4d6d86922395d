/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "imp-host.h"

#include <string.h>
#include <unistd.h>

#include "imp-read.h"
#include "slab-listing.h"

/* First line of a small file, NULL when it cannot be read. */
static char *
read_line(const char *root, const char *path)
{
    g_autofree char *whole = g_strconcat(root, path, NULL), *text = NULL;

    if (!g_file_get_contents(whole, &text, NULL, NULL))
        return NULL;
    text[strcspn(text, "\n")] = '\0';
    return g_steal_pointer(&text);
}

static void
append_fact(GString *facts, const char *root, const char *key, const char *path)
{
    g_autofree char *value = read_line(root, path);

    if (value != NULL)
        g_string_append_printf(facts, "%s=%s\n", key, value);
}

/* In the form of the .env files that slab_listing reads. */
static gboolean
read_machine(const char *root, SlabGeometryEnv *env, GError **error)
{
    g_autoptr(GString) facts = g_string_new(NULL);
    g_autoptr(SlabListing) listing = NULL;

    append_fact(facts, root, "uname", "/proc/sys/kernel/osrelease");
    append_fact(facts, root, "cmdline", "/proc/cmdline");
    append_fact(facts, root, "cpus_possible", "/sys/devices/system/cpu/possible");
    append_fact(facts, root, "cpus_present", "/sys/devices/system/cpu/present");
    g_string_append_printf(facts, "page_size=%ld\n", sysconf(_SC_PAGESIZE));
    *env = slab_geometry_env_default(SLAB_KERNEL(6, 5), 1);
    env->pointer_bytes = sizeof(void *);
    listing = slab_listing_new(env);
    if (!slab_listing_read_env(listing, facts->str, "this machine", error))
        return FALSE;
    *env = listing->env;
    return TRUE;
}

static ImpDump *
read_source(const char *root, const char *path, GString *refusals)
{
    g_autofree char *whole = g_strconcat(root, path, NULL);
    g_autoptr(GError) error = NULL;
    ImpDump *dump = imp_read_path(whole, &error);

    if (dump == NULL)
        g_string_append_printf(refusals, "%s\n", error->message);
    return dump;
}

static void
read_meminfo(const char *root, ImpHost *host)
{
    g_autofree char *path = g_strconcat(root, "/proc/meminfo", NULL);
    g_autoptr(ImpText) text = imp_text_load(path, NULL);

    if (text != NULL && host->sysfs != NULL)
        imp_read_meminfo(text, host->sysfs);
    if (text != NULL && host->slabinfo != NULL)
        imp_read_meminfo(text, host->slabinfo);
}

gboolean
imp_host_read(const char *root, ImpHost *ret_host, GError **error)
{
    g_auto(ImpHost) host = {.refusals = g_string_new(NULL)};

    if (!read_machine(root, &host.env, error))
        return FALSE;
    host.sysfs = read_source(root, "/sys/kernel/slab", host.refusals);
    host.slabinfo = read_source(root, "/proc/slabinfo", host.refusals);
    read_meminfo(root, &host);
    if (host.sysfs == NULL && host.slabinfo == NULL) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "%s", g_strdelimit(g_strchomp(host.refusals->str), "\n", ';'));
        return FALSE;
    }
    *ret_host = host;
    memset(&host, 0, sizeof host);
    return TRUE;
}

void
imp_host_clear(ImpHost *host)
{
    imp_dump_free(host->sysfs);
    imp_dump_free(host->slabinfo);
    if (host->refusals != NULL)
        g_string_free(host->refusals, TRUE);
}
