/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Line by line what is undone of what mail, logs, editors and spreadsheets do to a text, and what is left alone because
 * a listing may say it. */
#include <string.h>

#include "imp-clean.h"

#define NONE IMP_N_DAMAGES

static const struct {
    const char *line;
    guint marks;
    const char *cleaned;
    ImpDamage damage; /* the one that is counted, once; NONE */
} lines[] = {
    {"dentry  40 63", 0, "dentry  40 63", NONE},
    {"dentry \r", 0, "dentry", IMP_DAMAGE_CRLF},
    /* one blank belongs to the mark, the others to the text */
    {"> > dentry 1", 0, "dentry 1", IMP_DAMAGE_QUOTED},
    {" >  dentry 1", 0, " dentry 1", IMP_DAMAGE_QUOTED},
    {">dentry 1", 0, "dentry 1", IMP_DAMAGE_QUOTED},
    {"[  123.456789] a 1", 0, "a 1", IMP_DAMAGE_STAMP},
    {"<4>[12.345] a 1", 0, "a 1", IMP_DAMAGE_STAMP},
    {"[12.34] a 1", 0, "[12.34] a 1", NONE},
    {"[node 1] a 1", 0, "[node 1] a 1", NONE},
    {"Jan  2 10:11:12 host kernel: a 1", 0, "a 1", IMP_DAMAGE_STAMP},
    {"Jan 2 10:11:12 host kernel: a 1", 0, "Jan 2 10:11:12 host kernel: a 1", NONE},
    {"2024-01-02T10:11:12.1+01:00 host kernel: [    1.000000] a 1", 0, "a 1", IMP_DAMAGE_STAMP},
    {"a,1,2,3,4,5", 0, "a 1 2 3 4 5", IMP_DAMAGE_CELLS},
    {"a,1,2,3,4", 0, "a,1,2,3,4", NONE},
    {"a, 1, 2, 3, 4, 5", 0, "a, 1, 2, 3, 4, 5", NONE},
    {"\"a\";1;2;3;4;5", 0, " a  1 2 3 4 5", IMP_DAMAGE_CELLS},
    {"| a | 1 | 2 | 3 | 4 |", 0, "  a   1   2   3   4  ", IMP_DAMAGE_CELLS},
    {"+a 1", IMP_MARK_UNIFIED, "a 1", IMP_DAMAGE_DIFF},
    {" a 1", IMP_MARK_UNIFIED, "a 1", IMP_DAMAGE_DIFF},
    {"+a 1", 0, "+a 1", NONE},
    {"-0000256 1", 0, "-0000256 1", NONE},
    {"< a 1", 0, "a 1", IMP_DAMAGE_DIFF},
    {"<active_objs> 1", 0, "<active_objs> 1", NONE},
    {"**a 1**", 0, "a 1", IMP_DAMAGE_BOLD},
    {"**a 1", 0, "a 1", IMP_DAMAGE_BOLD},
    {"* a heading *", 0, "* a heading *", NONE},
    {"*** a heading", 0, "*** a heading", NONE},
    {"  12\ta 1", IMP_MARK_NUMBERED, "a 1", NONE},
    {"12:a 1", IMP_MARK_NUMBERED, "a 1", NONE},
    {"12:a 1", 0, "12:a 1", NONE},
    {"&lt;a&gt; &quot;b&quot;&nbsp;&amp;amp;", 0, "<a> \"b\" &amp;", IMP_DAMAGE_ENTITY},
    {"R&D 1", 0, "R&D 1", NONE},
    {"\033[1;32ma 1\033[0m", 0, "a 1", IMP_DAMAGE_ESCAPE},
    {"a=3D1 b=20c", IMP_MARK_PRINTABLE, "a=1 b c", IMP_DAMAGE_PRINTABLE},
    {"a=3d1 N0=30", IMP_MARK_PRINTABLE, "a=3d1 N00", IMP_DAMAGE_PRINTABLE},
    {"N0=30 N1=12", 0, "N0=30 N1=12", NONE},
    {"\302\240a\302\2401", 0, "  a  1", NONE},
    /* a table's empty last fields, but no other tabs */
    {"a\tb\t\t", 0, "a\tb\t\t", NONE},
    {"a b\t\t", 0, "a b", NONE},
};

static void
test_lines(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(lines); i++) {
        g_autofree char *line = g_strdup(lines[i].line);
        guint damage[IMP_N_DAMAGES] = {0};

        g_test_message("'%s'", lines[i].line);
        imp_clean_line(line, strlen(line), lines[i].marks, damage);
        g_assert_cmpstr(line, ==, lines[i].cleaned);
        for (guint d = 0; d < IMP_N_DAMAGES; d++)
            g_assert_cmpuint(damage[d], ==, d == lines[i].damage);
    }
}

/* NUL is a blank where none belongs, and nothing in UTF-16. */
static void
test_nul(void)
{
    for (guint is_wide = 0; is_wide < 2; is_wide++) {
        char line[] = "a\0b\0c";
        guint damage[IMP_N_DAMAGES] = {0};

        imp_clean_line(line, sizeof line - 1, is_wide ? IMP_MARK_UTF16 : 0, damage);
        g_assert_cmpstr(line, ==, is_wide ? "abc" : "a b c");
        g_assert_cmpuint(damage[IMP_DAMAGE_NUL], ==, is_wide ? 0 : 2);
    }
}

static void
test_number_length(void)
{
    static const struct {
        const char *line;
        gsize length;
    } rows[] = {{"12:a", 3}, {"  12\ta", 5}, {"12 a", 0}, {":a", 0}, {"", 0}, {"123456789:a", 10}, {"1234567890:a", 0}};

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
        g_assert_cmpuint(imp_clean_number_length(rows[i].line), ==, rows[i].length);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/import-clean/lines", test_lines);
    g_test_add_func("/import-clean/nul", test_nul);
    g_test_add_func("/import-clean/number-length", test_number_length);
    return g_test_run();
}
