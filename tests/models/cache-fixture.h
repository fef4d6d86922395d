/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CACHE_FIXTURE_H
#define CACHE_FIXTURE_H

#include "slub.h"
#include "test-machine.h"

/* One cache of a given geometry on a machine without a workload. */
typedef struct {
    TestMachine test;
    Machine *machine;
    SlubSystem *system;
    SlubCache *cache;
} CacheFixture;

/* `machine_text` as for test_machine_init(). */
void cache_fixture_init(CacheFixture *fixture, const char *machine_text, guint kernel, const SlabGeometry *geometry);

/* Asserts that the cache's lists and counts agree. */
void cache_fixture_clear(CacheFixture *fixture);

#endif
