/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TOY_SCENARIO_H
#define TOY_SCENARIO_H

#include "sim-plan.h"

/* A schema with keys of every type. */
extern const SimSchema toy_schema;

/* Each test runs in an empty temporary folder of its own as working directory. */

void toy_add_test(const char *path, void (*test)(void));

/* Writes a file; folders in its name are made. */
void toy_write(const char *name, const char *text);
void toy_write_bytes(const char *name, const char *bytes, gsize n_bytes);

/* Writes toy.scenario and loads it. */
SimPlan *toy_load(const char *text, const char *const *sets, GError **error);
/* The same, expecting success. */
SimPlan *toy_load_ok(const char *text, const char *const *sets);
/* Loads and expects exactly this error message. */
void toy_expect_error(const char *text, const char *const *sets, const char *message);

/* Enough for a scenario to be complete. */
#define TOY_RUN "[run]\nduration = 1 ms\n"

#endif
