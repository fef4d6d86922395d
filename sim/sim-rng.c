/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-rng.h"

#include <math.h>
#include <string.h>

/* SplitMix64 (Steele, Lea and Flood, 2014): a counter in steps of the golden ratio, and the finaliser that mixes it. */
#define SPLITMIX_STEP G_GUINT64_CONSTANT(0x9e3779b97f4a7c15)

static guint64
splitmix_mix(guint64 x)
{
    x = (x ^ x >> 30) * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * G_GUINT64_CONSTANT(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* One-to-one in `word` for a given hash and in the hash for a given word: keys that differ in a single word never
 * collide. */
static guint64
absorb_word(guint64 hash, guint64 word)
{
    return splitmix_mix((hash + SPLITMIX_STEP) ^ word);
}

/* The length first, so that the border between two texts counts. */
static guint64
absorb_text(guint64 hash, const char *text)
{
    gsize length = strlen(text);
    hash = absorb_word(hash, length);
    for (gsize i = 0; i < length; i += 8) {
        guint64 word = 0;
        memcpy(&word, text + i, MIN(length - i, 8));
        hash = absorb_word(hash, GUINT64_FROM_LE(word));
    }
    return hash;
}

void
sim_rng_init(SimRng *rng, guint64 seed, guint64 replication, const char *component, const char *purpose)
{
    guint64 hash = absorb_word(0, seed);
    hash = absorb_word(hash, replication);
    hash = absorb_text(hash, component);
    hash = absorb_text(hash, purpose);
    sim_rng_seed(rng, hash);
}

void
sim_rng_seed(SimRng *rng, guint64 seed)
{
    /* Four outputs of a permutation differ from each other, so the state is never all zero. */
    for (guint i = 0; i < G_N_ELEMENTS(rng->s); i++) {
        seed += SPLITMIX_STEP;
        rng->s[i] = splitmix_mix(seed);
    }
}

void
sim_rng_jump(SimRng *rng)
{
    /* Coefficients of x^(2^128) modulo the characteristic polynomial of the generator, lowest first. */
    static const guint64 polynomial[4] = {
        G_GUINT64_CONSTANT(0x180ec6d33cfd0aba),
        G_GUINT64_CONSTANT(0xd5a61266f0c9392c),
        G_GUINT64_CONSTANT(0xa9582618e03fc9aa),
        G_GUINT64_CONSTANT(0x39abdc4529b1661c),
    };
    SimRng sum = {{0}};
    for (guint bit = 0; bit < 256; bit++) {
        if (polynomial[bit / 64] >> bit % 64 & 1) {
            for (guint i = 0; i < 4; i++)
                sum.s[i] ^= rng->s[i];
        }
        sim_rng_u64(rng);
    }
    *rng = sum;
}

/* Marsaglia and Tsang, "The ziggurat method for generating random variables", 2000; but the tail is drawn by starting
 * over beyond its border, since an exponential has no memory, and not by a logarithm. `bits` is a draw that was not
 * accepted at once. */
double
sim__rng_exponential_slow(SimRng *rng, guint64 bits)
{
    double passed = 0.0; /* tail borders left behind */
    for (;;) {
        guint i = bits % SIM__RNG_ZIGGURAT_LAYERS;
        gint64 draw = (gint64) (bits >> 11);
        double x = (double) draw * sim__rng_ziggurat[i].scale;
        if (draw < sim__rng_ziggurat[i].accept)
            return passed + x;
        if (i == 0) {
            passed += sim__rng_ziggurat_tail;
        } else {
            double low = sim__rng_ziggurat_density[i], high = sim__rng_ziggurat_density[i + 1];
            if (low + sim_rng_uniform(rng) * (high - low) < exp(-x))
                return passed + x;
        }
        bits = sim_rng_u64(rng);
    }
}

G_STATIC_ASSERT(sizeof(unsigned long) == sizeof(guint64)); /* GSL's word */

static void
gsl_adapter_set(void *state, unsigned long seed)
{
    sim_rng_seed(state, seed);
}

static unsigned long
gsl_adapter_get(void *state)
{
    return sim_rng_u64(state);
}

static double
gsl_adapter_get_double(void *state)
{
    return sim_rng_uniform(state);
}

static const gsl_rng_type gsl_adapter = {
    .name = "xoshiro256++",
    .max = G_MAXUINT64,
    .min = 0,
    .size = sizeof(SimRng),
    .set = gsl_adapter_set,
    .get = gsl_adapter_get,
    .get_double = gsl_adapter_get_double,
};
const gsl_rng_type *const sim_rng_gsl_type = &gsl_adapter;

gsl_rng *
sim_rng_gsl_new(const SimRng *rng)
{
    gsl_rng *copy = gsl_rng_alloc(sim_rng_gsl_type);
    g_assert(copy != NULL); /* out of memory ends the program, as in GLib */
    memcpy(gsl_rng_state(copy), rng, sizeof *rng);
    return copy;
}
