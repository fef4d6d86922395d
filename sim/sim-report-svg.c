/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts as parts of a page. All charts of gnuplot use the same ids, and in one page the first would win; and what is
 * not a shape or a text has no business in a report. */
#include "sim-report-private.h"

#include <string.h>

static const char *const elements[] = {
    "a",    "circle",  "clipPath", "defs",     "desc", "ellipse", "feComposite", "feFlood", "filter", "g",   "line",
    "path", "pattern", "polygon",  "polyline", "rect", "svg",     "text",        "title",   "tspan",  "use", NULL};

static const char *const numeric[] = {"d", "points", "transform", "stroke-width", "font-size", "width", "height", NULL};

static gboolean
fail(const char *what, const char *name, GError **error)
{
    g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "a chart holds %s '%s', which is not put into a page", what, name);
    return FALSE;
}

/* Numbers come with two decimals and spaces to spare. */
static void
put_numbers(GString *out, const char *value)
{
    for (const char *c = value; *c != '\0'; c++) {
        if (c > value && g_ascii_isdigit(c[-1]) && g_str_has_prefix(c, ".00") && !g_ascii_isdigit(c[3]))
            c += 2;
        else if (*c != ' ' || (c[1] != ' ' && c[1] != '\0'))
            g_string_append_c(out, *c);
    }
}

/* One attribute: ids and references to them get the prefix, name spaces go (a page knows them, and they look like
 * addresses), everything that could act or load is refused. */
static gboolean
put_attribute(GString *out, const char *name, const char *value, char quote, const char *prefix, GError **error)
{
    /* What every group says although it is so without saying makes a tenth of a chart. */
    if (g_str_has_prefix(name, "xmlns") || (g_str_equal(name, "stroke-linecap") && g_str_equal(value, "butt")) ||
        (g_str_equal(name, "stroke-linejoin") && g_str_equal(value, "miter")))
        return TRUE;
    if (g_ascii_strncasecmp(name, "on", 2) == 0)
        return fail("an action", name, error);
    g_string_append_printf(out, " %s=%c", name, quote);
    if (g_str_equal(name, "id")) {
        g_string_append_printf(out, "%s-%s", prefix, value);
    } else if (g_str_equal(name, "href") || g_str_has_suffix(name, ":href")) {
        if (*value != '#')
            return fail("a reference", value, error);
        g_string_append_printf(out, "#%s-%s", prefix, value + 1);
    } else if (g_str_has_prefix(value, "url(")) {
        if (value[4] != '#')
            return fail("a reference", value, error);
        g_string_append_printf(out, "url(#%s-%s", prefix, value + 5);
    } else if (g_strv_contains(numeric, name)) {
        put_numbers(out, value);
    } else {
        g_string_append(out, value);
    }
    g_string_append_c(out, quote);
    return TRUE;
}

static gboolean
put_attributes(GString *out, const char *text, const char *prefix, GError **error)
{
    for (;;) {
        gsize length;
        const char *end;
        while (g_ascii_isspace(*text))
            text++;
        if (*text == '\0' || g_str_equal(text, "/")) {
            g_string_append(out, text);
            return TRUE;
        }
        length = strcspn(text, "= \t\n\r/");
        g_autofree char *name = g_strndup(text, length);
        text += length;
        while (g_ascii_isspace(*text))
            text++;
        if (length == 0 || *text != '=')
            return fail("an attribute without a value,", name, error);
        do
            text++;
        while (g_ascii_isspace(*text));
        end = *text == '"' || *text == '\'' ? strchr(text + 1, *text) : NULL;
        if (end == NULL)
            return fail("an attribute without quotes,", name, error);
        g_autofree char *value = g_strndup(text + 1, (gsize) (end - text - 1));
        if (!put_attribute(out, name, value, *text, prefix, error))
            return FALSE;
        text = end + 1;
    }
}

/* The end of a tag, past '>' signs within quotes. */
static const char *
tag_end(const char *c)
{
    char quote = '\0';

    for (; *c != '\0'; c++) {
        if (quote != '\0')
            quote = *c == quote ? '\0' : quote;
        else if (*c == '"' || *c == '\'')
            quote = *c;
        else if (*c == '>')
            return c;
    }
    return NULL;
}

static gboolean
put_tag(GString *out, const char *tag, const char *prefix, GError **error)
{
    gboolean is_end = *tag == '/';
    gsize length = strcspn(tag + is_end, " \t\n\r/");
    g_autofree char *name = g_strndup(tag + is_end, length);

    if (!g_strv_contains(elements, name))
        return fail("an element", name, error);
    g_string_append_printf(out, "<%s%s", is_end ? "/" : "", name);
    if (!put_attributes(out, tag + is_end + length, prefix, error))
        return FALSE;
    g_string_append_c(out, '>');
    return TRUE;
}

/* gnuplot's line ends between tags show nothing; a space without one may stand in a text. */
static gboolean
is_layout(const char *text, gsize length)
{
    gboolean has_line_end = FALSE;

    for (gsize i = 0; i < length; i++) {
        if (!g_ascii_isspace(text[i]))
            return FALSE;
        has_line_end |= text[i] == '\n';
    }
    return has_line_end;
}

/* Takes back a group that has nothing in it, of which gnuplot makes many. `open` is where the last tag begins. */
static gboolean
drop_empty_group(GString *out, gsize open, const char *tag)
{
    if (!g_str_equal(tag, "/g") || !g_str_has_prefix(out->str + open, "<g") || g_ascii_isalpha(out->str[open + 2]) ||
        strchr(out->str + open, '>') != out->str + out->len - 1)
        return FALSE;
    g_string_truncate(out, open);
    return TRUE;
}

static gboolean
opens_group(const char *tag)
{
    return tag[0] == 'g' && (tag[1] == '\0' || g_ascii_isspace(tag[1])) && tag[strlen(tag) - 1] != '/';
}

/* gnuplot begins a group for every stroke, mostly one like the last: when that has just been closed it goes on. */
static gboolean
go_on_with_group(GString *out, const char *tag, const char *closed)
{
    if (closed == NULL || !g_str_equal(tag, closed) || !g_str_has_suffix(out->str, "</g>"))
        return FALSE;
    g_string_truncate(out, out->len - strlen("</g>"));
    return TRUE;
}

typedef struct {
    GString *out;
    gsize open;        /* where the last tag begins */
    GPtrArray *groups; /* tags of those open */
    char *closed;      /* that of the last one closed */
    const char *prefix;
} Drawing;

static void
drawing_clear(Drawing *drawing)
{
    g_string_free(drawing->out, TRUE);
    g_ptr_array_unref(drawing->groups);
    g_free(drawing->closed);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Drawing, drawing_clear)

/* `tag` is taken over. */
static gboolean
put_part(Drawing *drawing, char *tag, GError **error)
{
    g_autofree char *owned = tag, *ended = NULL;

    if (g_str_equal(tag, "/g") && drawing->groups->len > 0)
        ended = g_ptr_array_steal_index(drawing->groups, drawing->groups->len - 1);
    if (drop_empty_group(drawing->out, drawing->open, tag))
        return TRUE;
    if (!go_on_with_group(drawing->out, tag, drawing->closed)) {
        drawing->open = drawing->out->len;
        if (!put_tag(drawing->out, tag, drawing->prefix, error))
            return FALSE;
    }
    if (opens_group(tag))
        g_ptr_array_add(drawing->groups, g_steal_pointer(&owned));
    if (ended != NULL) {
        g_free(drawing->closed);
        drawing->closed = g_steal_pointer(&ended);
    }
    return TRUE;
}

char *
sim_report_inline_svg(const char *svg, const char *prefix, GError **error)
{
    g_auto(Drawing) drawing = {g_string_new(NULL), 0, g_ptr_array_new_with_free_func(g_free), NULL, prefix};
    const char *c = strstr(svg, "<svg");

    if (c == NULL) {
        fail("no drawing in", prefix, error);
        return NULL;
    }
    while (*c != '\0') {
        gsize text = strcspn(c, "<");
        const char *end;
        if (!is_layout(c, text))
            g_string_append_len(drawing.out, c, (gssize) text);
        c += text;
        if (*c == '\0')
            break;
        end = tag_end(c);
        if (end == NULL) {
            fail("an open tag in", prefix, error);
            return NULL;
        }
        if (!put_part(&drawing, g_strndup(c + 1, (gsize) (end - c - 1)), error))
            return NULL;
        c = end + 1;
    }
    return g_strdup(drawing.out->str);
}
