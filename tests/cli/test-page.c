/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report in headless Chromium: charts are drawn, tables sort, nothing is complained of and nothing is fetched. */
#include "cli-process.h"
#include "toy-scenario.h"

#include <string.h>

#define SCENARIO                                                                                                       \
    "[scenario]\ntitle = <script>document.title='owned'</script>\nsettings = toy.cost; toy.site\ncost = elapsed_s\n"   \
    "[run]\nduration = 1 ms\nreplications = 4\n"                                                                       \
    "[sweep]\ntoy.cpus = 2; 8; 32\ntoy.cost = 10; 90\ntoy.site = slow; <b>\n"

/* NULL, having said why, when there is no browser. */
static char *
find_browser(void)
{
    static const char *const names[] = {"chromium", "chromium-browser", "google-chrome"};

    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        char *path = g_find_program_in_path(names[i]);
        if (path != NULL)
            return path;
    }
    g_test_skip("chromium is not installed (Debian package chromium)");
    return NULL;
}

/* The page's document after its scripts have run, and what the browser's console said. */
static Outcome
open_page(const char *browser, const char *name)
{
    g_autofree char *here = g_get_current_dir(), *profile = g_build_filename(here, "profile", NULL);
    g_autofree char *data = g_strconcat("--user-data-dir=", profile, NULL);
    g_autofree char *address = g_strdup_printf("file://%s/%s#self-test", here, name);
    const char *argv[] = {browser,
                          "--headless",
                          "--no-sandbox",
                          "--disable-gpu",
                          "--disable-background-networking",
                          "--disable-component-update",
                          "--disable-sync",
                          "--no-first-run",
                          "--disable-dev-shm-usage",
                          "--enable-logging=stderr",
                          "--virtual-time-budget=5000",
                          data,
                          "--dump-dom",
                          address,
                          NULL};
    g_autoptr(GError) error = NULL;
    GSubprocess *process =
        g_subprocess_newv(argv, G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE, &error);

    g_assert_no_error(error);
    return cli_finish(process);
}

static char *
self_test_of(const char *page)
{
    const char *at = strstr(page, "data-self-test=\"");

    g_assert_nonnull(at);
    at += strlen("data-self-test=\"");
    return g_strndup(at, strcspn(at, "\""));
}

static guint
count(const char *text, const char *word)
{
    guint n = 0;

    for (const char *c = strstr(text, word); c != NULL; c = strstr(c + 1, word))
        n++;
    return n;
}

static void
make_page(void)
{
    toy_write("a.scenario", SCENARIO);
    cli_expect("sweep a.scenario --study a.study -q", 0, "", "");
    cli_expect("report a.study -o page.html", 0, NULL, "");
}

static void
test_page(void)
{
    g_autofree char *browser = find_browser(), *result = NULL, *written = NULL, *expected = NULL;
    guint n_charts, n_columns;

    if (browser == NULL)
        return;
    make_page();
    g_assert_true(g_file_get_contents("page.html", &written, NULL, NULL));
    n_charts = count(written, "<figure>");
    n_columns = count(written, "<th scope=");
    g_assert_cmpuint(n_charts, >=, 8);
    g_assert_cmpuint(n_columns, >=, 15);
    g_auto(Outcome) outcome = open_page(browser, "page.html");
    result = self_test_of(outcome.out);
    expected =
        g_strdup_printf("%u of %u charts drawn, %u sorts right, 0 wrong, 0 faults", n_charts, n_charts, 2 * n_columns);
    g_assert_cmpstr(result, ==, expected);
    g_assert_null(strstr(outcome.err, "CONSOLE"));
    /* A sort moves rows and loses none; the last click was on the last column, downwards. */
    g_assert_cmpuint(count(outcome.out, "<tr"), ==, count(written, "<tr"));
    g_assert_nonnull(strstr(outcome.out, "aria-sort=\"descending\"><button type=\"button\">note</button>"));
    g_assert_null(strstr(outcome.out, "<title>owned"));
}

/* What the test above relies on: faults are counted, and the page's policy holds. */
static void
test_faults_are_seen(void)
{
    g_autofree char *browser = find_browser(), *written = NULL, *bad = NULL, *result = NULL;
    char *body;

    if (browser == NULL)
        return;
    make_page();
    g_assert_true(g_file_get_contents("page.html", &written, NULL, NULL));
    body = strstr(written, "</body>");
    g_assert_nonnull(body);
    bad = g_strdup_printf("%.*s<script>document.title='owned'</script><figure><svg></svg></figure></body></html>",
                          (int) (body - written), written);
    toy_write("bad.html", bad);
    g_auto(Outcome) outcome = open_page(browser, "bad.html");
    result = self_test_of(outcome.out);
    g_assert_null(strstr(result, ", 0 faults"));
    g_assert_false(g_str_has_prefix(result, "9 of 9"));
    g_assert_nonnull(strstr(outcome.err, "CONSOLE"));
    g_assert_null(strstr(outcome.out, "<title>owned"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    toy_add_test("/page/self-test", test_page);
    toy_add_test("/page/faults-are-seen", test_faults_are_seen);
    return g_test_run();
}
