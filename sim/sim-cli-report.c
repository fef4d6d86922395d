/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-cli-private.h"

#include "sim-report.h"

#include <stdio.h>

/* Over the old file or not at all. */
static gboolean
write_page(const char *path, const char *text, GError **error)
{
    g_autoptr(GError) inner = NULL;

    if (g_file_set_contents(path, text, -1, &inner))
        return TRUE;
    g_set_error_literal(error, SIM_ERROR, SIM_ERROR_IO, inner->message);
    return FALSE;
}

int
sim_cli_report(const SimCli *cli, int argc, char **argv)
{
    g_auto(GStrv) words = NULL;
    g_autofree char *out = NULL, *control_word = NULL, *page = NULL, *scripts = sim_cli_scripts_folder(cli);
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;
    g_autoptr(SimReport) report = NULL;
    gboolean mail = FALSE;
    SimControl control = SIM_CONTROL_BH;
    const GOptionEntry entries[] = {
        {"out", 'o', 0, G_OPTION_ARG_FILENAME, &out, "The page (default: beside the first STUDY or DIR)", "FILE"},
        {"mail", 0, 0, G_OPTION_ARG_NONE, &mail,
         "Print plain text of at most " G_STRINGIFY(SIM_REPORT_MAIL_COLUMNS) " columns; no page unless -o is given",
         NULL},
        {"control", 0, 0, G_OPTION_ARG_STRING, &control_word,
         "Over many comparisons: bh (the default: few verdicts are false), holm (none is) or none", "WORD"},
        {NULL}};

    if (!sim_cli_parse(cli, argv, entries, "STUDY|DIR...",
                       "Writes what studies or result folders answer as one HTML page that needs nothing else.", 1,
                       G_MAXUINT, &words, &error) ||
        (control_word != NULL && !sim_control_parse(control_word, &control, &error)))
        return sim_cli_fail(cli, error);
    report = sim_report_new((const char *const *) words, cli->experiment->trust_metric, control, &error);
    if (report == NULL)
        return sim_cli_fail(cli, error);
    if (!mail || out != NULL) {
        page = out != NULL ? g_strdup(out) : sim_cli_beside(words[0], ".html");
        text = sim_report_html(report, scripts, sim_cli_catch_signals(), &error);
        if (text == NULL || !write_page(page, text, &error))
            return sim_cli_fail(cli, error);
    }
    if (mail) {
        g_autofree char *plain = sim_report_mail(report);
        fputs(plain, stdout);
    } else {
        printf("%s\n", page);
    }
    return 0;
}
