/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BENCH_H
#define BENCH_H

#include <glib.h>
#include <stdio.h>
#include <time.h>

/* Timing of a subject beside a reference in the same run, and the table all benches print. */

enum { BENCH_ROUNDS = 25 };

/* Does the work once, with everything already set up. */
typedef void (*BenchFn)(void *data);

static inline double
bench_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec * 1e9 + (double) now.tv_nsec;
}

static inline double
bench_once_ns(BenchFn fn, void *data)
{
    /* The compiler must not know whom it calls, or it sees that nobody looks at the result. */
    BenchFn volatile hidden = fn;
    double start_ns = bench_now_ns();

    hidden(data);
    return bench_now_ns() - start_ns;
}

/* Best times of the two in ns an operation. Rounds alternate, so that a busy machine disturbs both alike. */
static inline void
bench_pair_ns(BenchFn subject, void *subject_data, BenchFn reference, void *reference_data, double n_operations,
              double *ret_subject_ns, double *ret_reference_ns)
{
    double best = G_MAXDOUBLE, best_reference = G_MAXDOUBLE;

    for (guint i = 0; i < BENCH_ROUNDS; i++) {
        /* Not inside MIN(), which would run it twice. */
        double time = bench_once_ns(subject, subject_data);
        double time_reference = bench_once_ns(reference, reference_data);

        best = MIN(best, time);
        best_reference = MIN(best_reference, time_reference);
    }
    *ret_subject_ns = best / n_operations;
    *ret_reference_ns = best_reference / n_operations;
}

static inline void
bench_print_head(const char *title)
{
    printf("%-44s %10s %10s %7s %7s\n", title, "value", "reference", "ratio", "goal");
}

/* One row; `goal` is the largest ratio wanted, 0 for none. */
static inline void
bench_print_row(const char *name, const char *unit, double value, double reference, double goal)
{
    double ratio = value / reference;

    printf("%-39s %4s %10.2f %10.2f %7.2f ", name, unit, value, reference, ratio);
    if (goal > 0)
        printf("%7.2f %s\n", goal, ratio <= goal ? "ok" : "MISSED");
    else
        printf("%7s\n", "-");
    fflush(stdout);
}

#endif
