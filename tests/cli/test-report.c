/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports as a user gets them: nothing that came in as text may act, and nothing may be loaded. */
#include "cli-process.h"
#include "sim-report-private.h"
#include "toy-scenario.h"

#include <glib/gstdio.h>
#include <string.h>

#define EVIL                                                                                                           \
    "<script>alert(1)</script> & a\"; system(\"touch owned\") '; drop table run; `touch owned` \\n $(touch owned)"
#define SCENARIO                                                                                                       \
    "[scenario]\ntitle = " EVIL "\nquestion = " EVIL "\nlimits = " EVIL "\nsettings = toy.cost; toy.site\n"            \
    "cost = elapsed_s\nnames = toy.cpus = 2: 2 CPUs; toy.cpus = 32: 32 CPUs; toy.cost = 90: " EVIL2 "\n"               \
    "[run]\nduration = 1 ms\nreplications = 4\n"                                                                       \
    "[sweep]\ntoy.cpus = 2; 32\ntoy.cost = 10; 90\ntoy.site = slow; <b onclick=x>a\"'\n"
/* Without the sign that ends an entry of the list. */
#define EVIL2 "<img src=x onerror=alert(2)> \"a' $(touch owned)"

/* Not inlined: gcc 12 would then take what is returned for a pointer to the variable. */
static G_GNUC_NO_INLINE char *
read_file(const char *name)
{
    char *text = NULL;
    g_autoptr(GError) error = NULL;

    g_file_get_contents(name, &text, NULL, &error);
    g_assert_no_error(error);
    return text;
}

static void
make_study(void)
{
    toy_write("a.scenario", SCENARIO);
    cli_expect("sweep a.scenario --study a.study -q", 0, "", "");
}

/* Every tag that a page of ours may have: one that is not among them came from a text. */
static void
expect_own_tags(const char *page)
{
    static const char *const own[] = {"!DOCTYPE", "html",    "head",   "meta",     "link",        "title",   "style",
                                      "body",     "h1",      "h2",     "h3",       "p",           "div",     "table",
                                      "caption",  "thead",   "tbody",  "tr",       "th",          "td",      "button",
                                      "dl",       "dt",      "dd",     "figure",   "figcaption",  "details", "summary",
                                      "pre",      "script",  "svg",    "g",        "rect",        "defs",    "circle",
                                      "path",     "use",     "filter", "feFlood",  "feComposite", "text",    "tspan",
                                      "pattern",  "polygon", "desc",   "polyline", NULL};
    guint n_scripts = 0;
    const char *end_of_page = strstr(page, "<script>");

    for (const char *c = strchr(page, '<'); c != NULL; c = strchr(c + 1, '<')) {
        gboolean is_end = c[1] == '/';
        g_autofree char *name = g_strndup(c + 1 + is_end, strcspn(c + 1 + is_end, " \t\r\n>/"));
        /* Within the one script, '<' is a sign of comparison. */
        if (end_of_page != NULL && c > end_of_page && !g_str_has_prefix(c, "</script>"))
            continue;
        n_scripts += g_str_equal(name, "script");
        if (end_of_page != NULL && c > strstr(end_of_page, "</script>"))
            break;
        if (!g_strv_contains(own, name))
            g_error("the page has a tag <%s>", name);
    }
    g_assert_cmpuint(n_scripts, ==, 2);
}

static void
test_escapes(void)
{
    g_autofree char *page = NULL;

    make_study();
    cli_expect("report a.study -o page.html", 0, "page.html\n", "");
    page = read_file("page.html");
    g_assert_false(g_file_test("owned", G_FILE_TEST_EXISTS));
    g_assert_true(g_utf8_validate(page, -1, NULL));
    expect_own_tags(page);
    /* The texts are there, as texts. */
    g_assert_nonnull(strstr(page,
                            "<h1>&lt;script&gt;alert(1)&lt;/script&gt; &amp; a&quot;; system(&quot;touch owned&quot;) "
                            "&apos;; drop table run; `touch owned`"));
    g_assert_nonnull(strstr(page, "&lt;img src=x onerror=alert(2)&gt;"));
    /* The study has taken no harm. */
    cli_expect("report a.study -o again.html", 0, "again.html\n", "");
    g_autofree char *again = read_file("again.html");
    g_assert_cmpstr(again, ==, page);
}

/* Nothing but fragments, the empty icon and the page's own policy may look like an address. */
static void
test_no_network(void)
{
    static const char *const loaders[] = {"src=",  "@import", "fetch(", "XMLHttpRequest", "WebSocket", "import(",
                                          "http:", "https:",  "ftp:",   "file:",          "//cdn"};
    g_autofree char *page = NULL;

    toy_write("a.scenario", "[run]\nduration = 1 ms\nreplications = 3\n[sweep]\ntoy.cpus = 2; 8\ntoy.cost = 1; 9\n");
    cli_expect("sweep a.scenario --study a.study -q", 0, "", "");
    cli_expect("report a.study", 0, "a.html\n", "");
    page = read_file("a.html");
    for (guint i = 0; i < G_N_ELEMENTS(loaders); i++)
        if (strstr(page, loaders[i]) != NULL && !(g_str_equal(loaders[i], "src=") && strstr(page, " src=") == NULL))
            g_error("the page holds '%s'", loaders[i]);
    for (const char *c = strstr(page, "href="); c != NULL; c = strstr(c + 1, "href="))
        g_assert_true(g_str_has_prefix(c + 6, "#") || g_str_has_prefix(c + 6, "data:,"));
    for (const char *c = strstr(page, "url("); c != NULL; c = strstr(c + 1, "url("))
        g_assert_cmpint(c[4], ==, '#');
    g_assert_nonnull(strstr(page, "Content-Security-Policy\" content=\"default-src 'none'"));
}

/* All charts together in one page: no id twice, every reference goes somewhere. */
static void
test_ids(void)
{
    g_autofree char *page = NULL;
    g_autoptr(GHashTable) ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GRegex) id = g_regex_new("\\sid=(['\"])(.*?)\\1", 0, 0, NULL);
    g_autoptr(GRegex) reference = g_regex_new("(?:href=['\"]|url\\()#(.*?)['\")]", 0, 0, NULL);
    g_autoptr(GMatchInfo) match = NULL, use = NULL;
    guint n_charts = 0;

    make_study();
    cli_expect("report a.study -o page.html", 0, NULL, "");
    page = read_file("page.html");
    for (g_regex_match(id, page, 0, &match); g_match_info_matches(match); g_match_info_next(match, NULL))
        g_assert_true(g_hash_table_add(ids, g_match_info_fetch(match, 2)));
    for (g_regex_match(reference, page, 0, &use); g_match_info_matches(use); g_match_info_next(use, NULL)) {
        g_autofree char *name = g_match_info_fetch(use, 1);
        g_assert_true(g_hash_table_contains(ids, name));
    }
    for (const char *c = strstr(page, "<figure>"); c != NULL; c = strstr(c + 1, "<figure>"))
        n_charts++;
    /* difference, pareto, waterfall, heat map, two of bars, waits; two places make lines too. */
    g_assert_cmpuint(n_charts, >=, 7);
}

static void
expect_narrow(const char *text)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

    for (char **line = lines; *line != NULL; line++)
        g_assert_cmpuint(sim_report_width(*line), <=, SIM_REPORT_MAIL_COLUMNS);
}

static void
test_mail(void)
{
    g_autofree char *wide = g_strnfill(300, 'w');
    g_autofree char *text = g_strdup_printf(
        "[scenario]\ntitle = %s "
        "漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字 end\n"
        "question = red?\n[run]\nduration = 1 ms\nreplications = 4\n"
        "[sweep]\ntoy.cpus = 2; 32\ntoy.site = slow; %s\n",
        wide, wide);

    toy_write("wide.scenario", text);
    cli_expect("sweep wide.scenario --study wide.study -q", 0, "", "");
    make_study();
    for (guint i = 0; i < 2; i++) {
        g_auto(Outcome) outcome =
            cli_run(i == 0 ? "report wide.study --mail" : "report a.study wide.study --mail", NULL);
        g_assert_cmpstr(outcome.err, ==, "");
        g_assert_cmpint(outcome.status, ==, 0);
        expect_narrow(outcome.out);
        g_assert_true(g_utf8_validate(outcome.out, -1, NULL));
    }
    /* A mail alone leaves no page behind. */
    g_assert_false(g_file_test("wide.html", G_FILE_TEST_EXISTS));
    g_assert_false(g_file_test("a.html", G_FILE_TEST_EXISTS));
}

/* The answer stands first: cost 90 against 10 at 2 CPUs is 12/92 of the throughput, at 32 CPUs 42/122; of
 * both factors the noise is one and the same, 2.14 % of standard deviation over 4 runs, times t(0.975, 3) / 2. */
static void
test_answer_first(void)
{
    g_auto(GStrv) lines = NULL;

    toy_write("a.scenario", "[scenario]\nsettings = toy.cost\nnames = toy.cost = 90: dear\n"
                            "[run]\nduration = 1 ms\nreplications = 4\n[sweep]\ntoy.cpus = 2; 32\ntoy.cost = 10; 90\n");
    cli_expect("sweep a.scenario --study a.study -q", 0, "", "");
    g_auto(Outcome) outcome = cli_run("report a.study --mail", NULL);
    lines = g_strsplit(outcome.out, "\n", -1);
    g_assert_cmpstr(lines[0], ==, "a                      cpus = 2                 cpus = 32");
    g_assert_true(g_str_has_prefix(lines[1], "dear                   -87.0±3.0%               -65.6±2.3%"));
    /* Never a share without its interval. */
    for (char **line = lines; *line != NULL; line++) {
        g_autoptr(GRegex) bare = g_regex_new("[-+][0-9.]+ ?%", 0, 0, NULL);
        g_assert_false(g_regex_match(bare, *line, 0, NULL));
    }
}

static void
test_folder_and_unfinished(void)
{
    toy_write("a.scenario", "[run]\nduration=1 ms\nreplications=4\n[sweep]\ntoy.cpus=2;8\n[variant x]\n[variant y]\n"
                            "toy.cost=40\n");
    cli_expect("run a.scenario --out folder -q --no-charts", 0, NULL, "");
    cli_expect("report folder", 0, NULL, "");
    g_autofree char *page = read_file("folder.html");
    g_assert_nonnull(strstr(page, "Every setting at every place"));
    g_assert_null(strstr(page, "UNFINISHED"));
    cli_expect("sweep a.scenario --study part.study --shard 1/2 -q", 0, "", "");
    cli_expect("merge half.study part.study", 0, NULL, "");
    g_auto(Outcome) half = cli_run("report half.study --mail", NULL);
    g_assert_nonnull(strstr(half.out, "UNFINISHED: 8 of 16 runs"));
    g_assert_nonnull(strstr(half.out, "not run"));
    g_auto(Outcome) half_page = cli_run("report half.study", NULL);
    g_assert_cmpstr(half_page.err, ==, "");
    g_assert_cmpint(half_page.status, ==, 0);
}

static void
test_failures(void)
{
    g_autofree char *old = NULL;

    make_study();
    toy_write("page.html", "old\n");
    cli_expect("report nowhere.study", 1, "", "toy: nowhere.study: no such study\n");
    cli_expect("report", 2, "", "toy: too few arguments; usage: toy report STUDY|DIR...\n");
    cli_expect("report a.study --control hlm", 2, "",
               "toy: unknown control 'hlm'; did you mean holm? (allowed: holm, bh, none)\n");
    toy_write("bin/gnuplot", "#!/bin/sh\necho 'line 3: no terminal' >&2\n");
    g_assert_cmpint(g_chmod("bin/gnuplot", 0700), ==, 0);
    g_auto(Outcome) outcome = cli_run("report a.study -o page.html", "bin:/usr/bin:/bin");
    g_assert_cmpint(outcome.status, ==, 1);
    g_assert_nonnull(strstr(outcome.err, "gnuplot failed: line 3: no terminal"));
    old = read_file("page.html");
    g_assert_cmpstr(old, ==, "old\n");
    cli_expect("report a.study -o nowhere/page.html", 1, "", NULL);
}

static void
test_inline_svg(void)
{
    static const char *const refused[] = {"<svg><script>x</script></svg>",
                                          "<svg onload=\"x\"></svg>",
                                          "<svg><use xlink:href='other.svg#a'/></svg>",
                                          "<svg><rect fill='url(http://x)'/></svg>",
                                          "<svg><foreignObject/></svg>",
                                          "<svg><image href='#a'/></svg>",
                                          "<svg><g a=b></g></svg>",
                                          "<svg><g",
                                          "<html></html>",
                                          "<svg><!-- x --></svg>"};
    g_autofree char *good = sim_report_inline_svg(
        "<?xml version='1.0'?>\n<svg width=\"9\" xmlns=\"http://www.w3.org/2000/svg\"><g id='a'><use "
        "xlink:href='#a' id=\"b\"/><rect fill = 'url(#p)' d='x > y'/></g>\n<g a='1'>\n</g><g stroke-linecap='butt' "
        "stroke-linejoin='round'><path/></g>\n<text>id='a' &lt;b&gt; <tspan/> </text></svg>\n",
        "c1", NULL);

    g_assert_cmpstr(
        good, ==,
        "<svg width=\"9\"><g id='c1-a'><use xlink:href='#c1-a' id=\"c1-b\"/><rect fill='url(#c1-p)' "
        "d='x > y'/></g><g stroke-linejoin='round'><path/></g><text>id='a' &lt;b&gt; <tspan/> </text></svg>");
    g_autofree char *groups = sim_report_inline_svg(
        "<svg><g a='1'><g><path d='M1.00,2.50  L3.001,4.00 '/></g></g>\n<g a='1'><g b='2'></g></g><g a='1'><path "
        "d='.00'/></g><g a='2'><path/></g>x<g a='2'><path/></g><g><path/></g><g a='2'><path/></g></svg>",
        "c", NULL);
    g_assert_cmpstr(groups, ==,
                    "<svg><g a='1'><g><path d='M1,2.50 L3.001,4'/></g><path d='.00'/></g><g a='2'><path/></g>x<g "
                    "a='2'><path/></g><g><path/></g><g a='2'><path/></g></svg>");
    for (guint i = 0; i < G_N_ELEMENTS(refused); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(sim_report_inline_svg(refused[i], "c1", &error));
        g_assert_error(error, SIM_ERROR, SIM_ERROR_IO);
    }
}

static void
expect_wrapped(const char *text, guint columns, const char *expected)
{
    g_autoptr(GString) out = g_string_new(NULL);

    sim_report_put_wrapped(out, text, columns, "- ", "  ");
    g_assert_cmpstr(out->str, ==, expected);
}

static void
test_wrapping(void)
{
    expect_wrapped("a bb ccc", 8, "- a bb\n  ccc\n");
    expect_wrapped("a bb ccc", 10, "- a bb ccc\n");
    expect_wrapped("  a\n\tb ", 10, "- a b\n");
    expect_wrapped("abcdefghij k", 6, "- abcd\n  efgh\n  ij k\n");
    expect_wrapped("漢字漢", 6, "- 漢字\n  漢\n");
    /* Scenarios may not hold these, tables of other programs may. */
    expect_wrapped("\033[31mred", 20, "-  [31mred\n");
    expect_wrapped("", 6, "- \n");
}

/* Gains over the base are counted apart, and stand beside the figures: one inside its interval, one outside, one
 * without an interval and one without a base. */
static void
test_gains(void)
{
    static const char comparison[] =
        "id\tvariant\ttoy.cpus\tstart\tmetric\tunit\tpublished\tsimulated\thalf_width\tratio\tpublished_vs_base\t"
        "simulated_vs_base\tvs_base_half_width\tstatus\tverdict\tnote\n"
        "A\tfast\t2\tcold\telapsed_s\ts\t10\t11\t2\t1.1\t1.25\t1.5\t0.25\tok\t\t\n"
        "B\tfast\t8\tcold\telapsed_s\ts\t10\t11\t2\t1.1\t1.25\t1.125\t0.0625\tok\t\t\n"
        "C\tfast\t9\tcold\telapsed_s\ts\t10\t11\t2\t1.1\t1.25\t1.125\tnan\tok\t\t\n"
        "D\tbase\t2\tcold\telapsed_s\ts\t10\t11\t0.5\t1.1\t\t\t\tok\t\t\n";
    g_autofree char *page = NULL;

    toy_write("p.tsv", "id\tvariant\taxis_value\tmetric\tvalue\tunit\tnote\nA\tfast\t2\telapsed_s\t10\ts\t\n");
    toy_write("g.scenario", "[scenario]\npublished = p.tsv\n[run]\nduration = 1 ms\nreplications = 2\n"
                            "[sweep]\ntoy.cpus = 2; 8\n[variant base]\n[variant fast]\ntoy.cost = 5\n");
    cli_expect("run -q --no-charts --out gains g.scenario", 0, NULL, "");
    toy_write("gains/comparison.tsv", comparison);
    cli_expect("report gains -o gains.html", 0, "gains.html\n", "");
    page = read_file("gains.html");
    g_assert_nonnull(strstr(page,
                            "1 lie outside the simulated interval, 0 have none, 0 were not simulated. Of 2 ratios to "
                            "the base, which the answer is about, 1 lie outside."));
    g_assert_nonnull(strstr(page, ">1.250 published, 1.50 ± 0.25 simulated<"));
    g_assert_nonnull(strstr(page, "\"0.25\">1.250 published"));
    g_assert_nonnull(strstr(page, "\"-0.125\">1.250 published"));
}

/* The charts of a study alone: all kinds, under the scenario's title, with each point's own warm-up. */
static void
test_plot_study(void)
{
    g_autofree char *memory = NULL, *svg = NULL;

    toy_write("w.scenario", "[scenario]\ntitle = Warm it is\n[run]\nwarmup = 2 ms\nduration = 1 ms\n"
                            "[sweep]\ntoy.cpus = 2; 8\ntoy.nodes = 2\n[variant a]\n[variant b]\nrun.warmup = 4.5 ms\n");
    cli_expect("sweep w.scenario --study w.study -q", 0, "", "");
    cli_expect("plot w.study", 0, "8 charts in w.charts\n", "");
    memory = read_file("w.charts/memory.tsv");
    g_assert_true(g_str_has_suffix(memory, "\npanel\twarmup_ms\na at cpus = 2\t2\na at cpus = 8\t2\n"
                                           "b at cpus = 2\t4.5\nb at cpus = 8\t4.5\n\n\n"));
    svg = read_file("w.charts/scaling.svg");
    g_assert_nonnull(strstr(svg, "Warm it is"));
    cli_expect("plot a.scenario", 1, "", "toy: a.scenario: no such study\n");
    cli_expect("plot w.scenario", 1, "", "toy: w.scenario: not a study: no SQLite database (file is not a database)\n");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    toy_add_test("/report/escapes", test_escapes);
    toy_add_test("/report/no-network", test_no_network);
    toy_add_test("/report/ids", test_ids);
    toy_add_test("/report/mail", test_mail);
    toy_add_test("/report/answer-first", test_answer_first);
    toy_add_test("/report/folder-and-unfinished", test_folder_and_unfinished);
    toy_add_test("/report/failures", test_failures);
    toy_add_test("/report/inline-svg", test_inline_svg);
    toy_add_test("/report/wrapping", test_wrapping);
    toy_add_test("/report/plot-study", test_plot_study);
    toy_add_test("/report/gains", test_gains);
    return g_test_run();
}
