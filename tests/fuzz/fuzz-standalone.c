/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs one target over the files and folders given, and over mutants of each: an ordinary test, which needs no
 * libFuzzer. The mutants are the same in every run. SLUBSIM_FUZZ_MUTANTS sets how many each file has. */
#include "fuzz-target.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

#define N_MUTANTS 40
#define MAX_MUTATED_BYTES 16384u

/* Pieces that parsers stumble over. */
static const char *const pieces[] = {
    "-1",
    "99999999999999999999",
    "18446744073709551615",
    "0",
    ":",
    "\n",
    "\r\n",
    "=3D",
    "=\n",
    "> ",
    "**",
    "%",
    "K",
    " : ",
    "C65535=1(1)",
    "N0=",
    "\xff",
    "[",
    "]",
    "\t",
    "/",
    "(",
    ")",
    "|",
    "#",
};

static gsize
place(GRand *rand, gsize n)
{
    return n == 0 ? 0 : (gsize) g_rand_int_range(rand, 0, (gint32) MIN(n, G_MAXINT32));
}

/* One step: a byte changed, a piece put in, a stretch taken out, doubled or cut off. */
static void
mutate(GRand *rand, GString *text)
{
    gsize at = place(rand, text->len), length = place(rand, MIN(80, text->len - at));
    g_autofree char *stretch = NULL;

    switch (g_rand_int_range(rand, 0, 6)) {
    case 0:
        if (text->len > 0)
            text->str[at] = (char) g_rand_int_range(rand, 0, 256);
        break;
    case 1:
        g_string_insert(text, (gssize) at, pieces[place(rand, G_N_ELEMENTS(pieces))]);
        break;
    case 2:
        g_string_erase(text, (gssize) at, (gssize) length);
        break;
    case 3:
        stretch = g_memdup2(text->str + at, length);
        g_string_insert_len(text, (gssize) place(rand, text->len), stretch, (gssize) length);
        break;
    case 4:
        g_string_truncate(text, text->len - place(rand, MIN(2000, text->len)));
        break;
    default:
        g_string_insert_c(text, (gssize) at, '\0');
        break;
    }
}

static void
run_text(const char *bytes, gsize n_bytes)
{
    /* A block of exactly this size, so that a sanitizer sees one byte too many. */
    g_autofree uint8_t *data = g_memdup2(bytes, n_bytes);

    LLVMFuzzerTestOneInput(data, n_bytes);
}

static guint
run_file(const char *path, guint n_mutants)
{
    g_autofree char *bytes = NULL;
    gsize n_bytes;
    g_autoptr(GRand) rand = g_rand_new_with_seed(20240501);

    if (!g_file_get_contents(path, &bytes, &n_bytes, NULL)) {
        g_printerr("%s: cannot be read\n", path);
        exit(1);
    }
    run_text(bytes, n_bytes);
    for (guint i = 0; i < n_mutants; i++) {
        g_autoptr(GString) text = g_string_new_len(bytes, (gssize) MIN(n_bytes, MAX_MUTATED_BYTES));

        for (gint step = g_rand_int_range(rand, 1, 8); step > 0; step--)
            mutate(rand, text);
        run_text(text->str, text->len);
    }
    return 1 + n_mutants;
}

static guint
run_path(const char *path, guint n_mutants)
{
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    const char *name;
    guint n = 0;

    if (dir == NULL)
        return run_file(path, n_mutants);
    while ((name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *inside = g_build_filename(path, name, NULL);

        if (g_file_test(inside, G_FILE_TEST_IS_REGULAR))
            n += run_file(inside, n_mutants);
    }
    return n;
}

int
main(int argc, char **argv)
{
    const char *wanted = g_getenv("SLUBSIM_FUZZ_MUTANTS");
    guint n_mutants = wanted == NULL ? N_MUTANTS : (guint) strtoul(wanted, NULL, 10), n = 0;

    run_text("", 0);
    for (gint i = 1; i < argc; i++)
        n += run_path(argv[i], n_mutants);
    g_print("%u inputs\n", n);
    return n > 0 ? 0 : 1;
}
