/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SIM_RNG_H
#define SIM_RNG_H

#include <glib.h>
#include <gsl/gsl_rng.h>

/* Random streams: xoshiro256++ (Blackman and Vigna, 2019; period 2^256 - 1), one generator a stream.
 *
 * A stream is named by what it is for, never by when it was made: equal keys give equal streams, so adding a component
 * or a draw elsewhere shifts nobody, and two points of a sweep share their random numbers by sharing the keys.
 *
 * Not thread-safe: a stream has one owner. The state is open so that the draws can be inlined; it is written only by
 * the functions below. */
typedef struct {
    guint64 s[4]; /* never all zero */
} SimRng;

/* The stream of a key. `component` says whose draws they are ("cpu/17"), `purpose` what they decide ("think"); any
 * UTF-8 text, empty allowed, and ("ab", "c") is not ("a", "bc"). The four fields are absorbed one 64-bit word after the
 * other into a 64-bit hash by the SplitMix64 finaliser, each text led by its length; the hash seeds sim_rng_seed().
 * Independent of byte order and word size. Two of k streams collide with probability k^2 / 2^65: 3e-8 for a million. */
void sim_rng_init(SimRng *rng, guint64 seed, guint64 replication, const char *component, const char *purpose);

/* The state made of the next four outputs of SplitMix64 after `seed`. */
void sim_rng_seed(SimRng *rng, guint64 seed);

/* Moves on by 2^128 draws, for sub-streams of one stream that can never overlap. */
void sim_rng_jump(SimRng *rng);

/* The generator as a GSL type, so that every gsl_ran_*() works. GSL's draws cost some 5 times the inline ones below. */
extern const gsl_rng_type *const sim_rng_gsl_type;

/* A GSL generator that goes on from where `rng` stands. It is a copy: its draws do not move `rng`. The caller frees it
 * with gsl_rng_free() or g_autoptr (sim-gsl.h). */
gsl_rng *sim_rng_gsl_new(const SimRng *rng);

/* Ziggurat of the standard exponential (sim-rng-ziggurat.c). A layer is accepted at once when the 53-bit draw is below
 * `accept`; the value is draw * `scale`. `sim__rng_ziggurat_density[i]` is exp(-x) at the right edge of layer i, and 1
 * at its end. Layer 0 holds the tail beyond SIM__RNG_ZIGGURAT_TAIL. */
#define SIM__RNG_ZIGGURAT_LAYERS 256
typedef struct {
    gint64 accept;
    double scale;
} SimRngZigguratLayer;
extern const SimRngZigguratLayer sim__rng_ziggurat[SIM__RNG_ZIGGURAT_LAYERS];
extern const double sim__rng_ziggurat_density[SIM__RNG_ZIGGURAT_LAYERS + 1];
extern const double sim__rng_ziggurat_tail;
double sim__rng_exponential_slow(SimRng *rng, guint64 bits);

static inline guint64
sim__rng_rotate(guint64 x, guint bits)
{
    return x << bits | x >> (64 - bits);
}

/* 64 uniform bits, 0 and G_MAXUINT64 included. */
static inline guint64
sim_rng_u64(SimRng *rng)
{
    guint64 *s = rng->s;
    guint64 result = sim__rng_rotate(s[0] + s[3], 23) + s[0];
    guint64 shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = sim__rng_rotate(s[3], 45);
    return result;
}

/* Uniform in [0, 1): a multiple of 2^-53. */
static inline double
sim_rng_uniform(SimRng *rng)
{
    return (double) (gint64) (sim_rng_u64(rng) >> 11) * 0x1p-53;
}

/* Uniform in (0, 1), for logarithms and reciprocals: an odd multiple of 2^-53. */
static inline double
sim_rng_uniform_pos(SimRng *rng)
{
    return ((double) (gint64) (sim_rng_u64(rng) >> 12) + 0.5) * 0x1p-52;
}

/* Uniform in 0 .. n-1, without bias (Lemire, "Fast random integer generation in an interval", 2019); n > 0. */
static inline guint64
sim_rng_below(SimRng *rng, guint64 n)
{
    g_assert(n > 0);
    unsigned __int128 product = (unsigned __int128) sim_rng_u64(rng) * n;
    if (G_UNLIKELY((guint64) product < n)) {
        guint64 surplus = -n % n; /* 2^64 mod n: so many low parts come once too often */
        while ((guint64) product < surplus)
            product = (unsigned __int128) sim_rng_u64(rng) * n;
    }
    return (guint64) (product >> 64);
}

/* Exponential with the given mean (>= 0), in the unit of the mean; 0 can come up. Values are products and sums of a
 * 53-bit draw and constants. The mathematics library's exp() only helps to decide on 1 draw in 100, where its last bit
 * matters with a probability near 2^-52: results do not depend on its version in practice. */
static inline double
sim_rng_exponential(SimRng *rng, double mean)
{
    guint64 bits = sim_rng_u64(rng);
    const SimRngZigguratLayer *layer = &sim__rng_ziggurat[bits % SIM__RNG_ZIGGURAT_LAYERS];
    gint64 draw = (gint64) (bits >> 11);
    if (G_LIKELY(draw < layer->accept))
        return mean * ((double) draw * layer->scale);
    return mean * sim__rng_exponential_slow(rng, bits);
}

/* TRUE with probability p; never for p <= 0, always for p >= 1. One draw whatever p is, which keeps streams in step
 * when a probability is swept. */
static inline gboolean
sim_rng_bernoulli(SimRng *rng, double p)
{
    return sim_rng_uniform(rng) < p;
}

#endif
