/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cache-fixture.h"

void
cache_fixture_init(CacheFixture *fixture, const char *machine_text, guint kernel, const SlabGeometry *geometry)
{
    g_autoptr(GError) error = NULL;

    test_machine_init(&fixture->test, machine_text);
    fixture->machine = test_machine_start(&fixture->test, 1, NULL, 0);
    fixture->system = slub_system_new(fixture->machine, kernel, 100, &error);
    g_assert_no_error(error);
    fixture->cache = slub_cache_new(fixture->system, "cache", geometry, 0, FALSE);
}

void
cache_fixture_clear(CacheFixture *fixture)
{
    g_autofree char *why = slub_cache_check(fixture->cache);

    g_assert_cmpstr(why, ==, NULL);
    slub_system_free(fixture->system);
    test_machine_stop(fixture->machine);
    test_machine_clear(&fixture->test);
}
