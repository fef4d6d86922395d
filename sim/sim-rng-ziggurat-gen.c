/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes sim-rng-ziggurat.c. The result is kept in the tree and not made by each build: the last bit of a table entry
 * may depend on the mathematics library, and simulated numbers must not.
 *
 * The area under exp(-x) is covered by 256 layers of equal area v. With the tail border r, v = (r + 1) exp(-r); the
 * right edges are x[0] = v / exp(-r) = r + 1 (base layer: rectangle up to r, and the tail), x[1] = r, and
 * exp(-x[i+1]) = exp(-x[i]) + v / x[i]. r is the value for which layer 255 ends at density 1. */
#include <math.h>
#include <stdio.h>

#define LAYERS 256

/* Fills the edges for a tail border; returns by how much the top misses density 1. */
static long double
fill_edges(long double r, long double x[LAYERS + 1])
{
    long double v = (r + 1) * expl(-r);
    x[0] = r + 1;
    x[1] = r;
    for (int i = 1; i < LAYERS; i++) {
        long double density = expl(-x[i]) + v / x[i];
        if (i == LAYERS - 1 || density >= 1) {
            x[LAYERS] = 0;
            return density - 1 + (LAYERS - 1 - i);
        }
        x[i + 1] = -logl(density);
    }
    return 0;
}

int
main(void)
{
    long double x[LAYERS + 1], low = 7, high = 8;
    for (int i = 0; i < 100; i++) {
        long double middle = (low + high) / 2;
        if (fill_edges(middle, x) > 0)
            low = middle; /* layers too thick */
        else
            high = middle;
    }
    fill_edges(high, x);

    printf("/* SPDX-License-Identifier: GPL-3.0-or-later */\n"
           "/* Written by sim-rng-ziggurat-gen.c, which explains it. */\n"
           "#include \"sim-rng.h\"\n\n"
           "/* clang-format off */\n"
           "const double sim__rng_ziggurat_tail = %a;\n\n"
           "const SimRngZigguratLayer sim__rng_ziggurat[SIM__RNG_ZIGGURAT_LAYERS] = {\n",
           (double) high);
    for (int i = 0; i < LAYERS; i++)
        printf("    {0x%014llx, %a},\n", (unsigned long long) floorl(x[i + 1] / x[i] * 0x1p53L),
               (double) (x[i] * 0x1p-53L));
    printf("};\n\nconst double sim__rng_ziggurat_density[SIM__RNG_ZIGGURAT_LAYERS + 1] = {\n");
    for (int i = 0; i <= LAYERS; i++)
        printf("%s%a,%s", i % 4 == 0 ? "    " : " ", (double) expl(-x[i]), i % 4 == 3 || i == LAYERS ? "\n" : "");
    printf("};\n");
    return 0;
}
