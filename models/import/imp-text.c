/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "imp-text.h"

#include <gio/gio.h>
#include <string.h>

#define LARGEST_NUMBER G_GINT64_CONSTANT(1000000000000000)

typedef struct {
    gsize offset, length;
    guint number;
} Span;

struct _ImpText {
    GString *buffer;
    GArray *spans; /* Span, while reading */
    GArray *lines; /* ImpLine, once cleaned */
    guint damage[IMP_N_DAMAGES];
    gboolean is_line_open, is_full;
};

const char *
imp_damage_name(ImpDamage damage)
{
    static const char *const names[IMP_N_DAMAGES] = {
        [IMP_DAMAGE_NUL] = "NUL bytes read as blanks",
        [IMP_DAMAGE_CUT_LINE] = "lines longer than 64 KiB, cut there",
        [IMP_DAMAGE_CUT_TEXT] = "text that could not be read (more than 256 MiB, or a broken compressed stream)",
        [IMP_DAMAGE_CRLF] = "lines ended with CR LF",
        [IMP_DAMAGE_QUOTED] = "lines with mail quote marks, taken off",
        [IMP_DAMAGE_PRINTABLE] = "lines in quoted-printable (=3D), decoded",
        [IMP_DAMAGE_ENTITY] = "lines with HTML entities (&lt;), decoded",
        [IMP_DAMAGE_BOLD] = "rows between bold stars, taken off",
        [IMP_DAMAGE_ESCAPE] = "lines with terminal colours, taken off",
        [IMP_DAMAGE_NO_END] = "the last line has no line end: it may be cut short",
    };

    return names[damage];
}

static Span *
open_line(ImpText *text)
{
    if (!text->is_line_open) {
        guint n = text->spans->len;
        Span span = {.offset = text->buffer->len,
                     .number = n > 0 ? g_array_index(text->spans, Span, n - 1).number + 1 : 1};

        g_array_append_val(text->spans, span);
        text->is_line_open = TRUE;
    }
    return &g_array_index(text->spans, Span, text->spans->len - 1);
}

/* Appends what still fits. A line in progress always has room up to its own limit. */
static void
append_bytes(ImpText *text, const char *bytes, gsize n_bytes)
{
    Span *span = open_line(text);
    gsize room = IMP_MAX_LINE_BYTES > span->length ? IMP_MAX_LINE_BYTES - span->length : 0;

    if (n_bytes > room && span->length <= IMP_MAX_LINE_BYTES) {
        text->damage[IMP_DAMAGE_CUT_LINE]++;
        g_string_append_len(text->buffer, bytes, (gssize) room);
        span->length = IMP_MAX_LINE_BYTES + 1; /* marks the cut; taken back at the end of the line */
        return;
    }
    if (n_bytes <= room) {
        g_string_append_len(text->buffer, bytes, (gssize) n_bytes);
        span->length += n_bytes;
    }
}

static void
close_line(ImpText *text)
{
    Span *span = open_line(text);

    span->length = MIN(span->length, IMP_MAX_LINE_BYTES);
    /* A byte behind each line, for its NUL. */
    g_string_append_c(text->buffer, '\n');
    text->is_line_open = FALSE;
    text->is_full = text->buffer->len > IMP_MAX_TEXT_BYTES || text->spans->len > IMP_MAX_TEXT_BYTES / 32;
}

static void
feed(ImpText *text, const char *bytes, gsize n_bytes)
{
    while (n_bytes > 0 && !text->is_full) {
        const char *end = memchr(bytes, '\n', n_bytes);
        gsize length = end != NULL ? (gsize) (end - bytes) : n_bytes;

        append_bytes(text, bytes, length);
        if (end == NULL)
            return;
        close_line(text);
        bytes += length + 1;
        n_bytes -= length + 1;
    }
    if (text->is_full && n_bytes > 0)
        text->damage[IMP_DAMAGE_CUT_TEXT] = 1;
}

/* Removes `n` bytes at `at` of a NUL-terminated string. */
static void
remove_bytes(char *at, gsize n)
{
    memmove(at, at + n, strlen(at + n) + 1);
}

static gboolean
decode_hex(const char *line, gsize i, char *ret_byte)
{
    gint high, low;

    if (line[i + 1] == '\0' || g_ascii_islower(line[i + 1]) || g_ascii_islower(line[i + 2]))
        return FALSE;
    high = g_ascii_xdigit_value(line[i + 1]);
    low = g_ascii_xdigit_value(line[i + 2]);
    if (high < 0 || low < 0 || (high == 0 && low == 0))
        return FALSE;
    *ret_byte = (char) (high * 16 + low);
    return TRUE;
}

static void
decode_printable(ImpText *text, char *line)
{
    char *to = line;
    gboolean is_changed = FALSE;

    for (gsize i = 0; line[i] != '\0'; i++) {
        if (line[i] == '=' && decode_hex(line, i, to)) {
            i += 2;
            is_changed = TRUE;
        } else
            *to = line[i];
        to++;
    }
    *to = '\0';
    text->damage[IMP_DAMAGE_PRINTABLE] += is_changed;
}

static void
decode_entities(ImpText *text, char *line)
{
    static const struct {
        const char *entity;
        char byte;
    } entities[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&nbsp;", ' '}, {"&amp;", '&'}};
    char *to = strchr(line, '&');
    gboolean is_changed = FALSE;

    for (const char *from = to; from != NULL && *from != '\0'; to++) {
        gsize length = 1;

        *to = *from;
        for (gsize i = 0; *from == '&' && i < G_N_ELEMENTS(entities); i++)
            if (g_str_has_prefix(from, entities[i].entity)) {
                *to = entities[i].byte;
                length = strlen(entities[i].entity);
                is_changed = TRUE;
                break;
            }
        from += length;
    }
    if (to != NULL)
        *to = '\0';
    text->damage[IMP_DAMAGE_ENTITY] += is_changed;
}

/* ESC [ ... letter */
static void
strip_escapes(ImpText *text, char *line)
{
    char *to = line;
    const char *from = line;

    if (strchr(line, '\033') == NULL)
        return;
    while (*from != '\0') {
        if (*from != '\033') {
            *to++ = *from++;
            continue;
        }
        from++;
        if (*from == '[') {
            from++;
            from += strspn(from, "0123456789;?");
            from += *from != '\0';
        }
    }
    *to = '\0';
    text->damage[IMP_DAMAGE_ESCAPE]++;
}

/* "> > text", with blanks before and between; the blanks behind the last mark stay. */
static void
strip_quotes(ImpText *text, char *line)
{
    gsize marks = 0;

    for (gsize i = strspn(line, " \t"); line[i] == '>'; i += strspn(line + i, " \t"))
        marks = ++i;
    if (marks == 0)
        return;
    remove_bytes(line, marks + (line[marks] == ' '));
    text->damage[IMP_DAMAGE_QUOTED]++;
}

/* "**a row**"; "* a heading *" stays. */
static void
strip_bold(ImpText *text, char *line)
{
    gsize indent = strspn(line, " \t"), length = strlen(line);
    gboolean is_bold = FALSE;

    if (length >= indent + 2 && g_str_has_suffix(line, "**")) {
        line[length - 2] = '\0';
        is_bold = TRUE;
    }
    if (g_str_has_prefix(line + indent, "**") && line[indent + 2] != '*') {
        remove_bytes(line + indent, 2);
        is_bold = TRUE;
    }
    text->damage[IMP_DAMAGE_BOLD] += is_bold;
}

/* A row of a table, with tabs between its words, may end with empty fields: their tabs are kept. */
static void
strip_end(char *line)
{
    const char *tab = strchr(line + strspn(line, " \t"), '\t');
    gboolean is_table = tab != NULL && tab[strspn(tab, " \t\r")] != '\0';
    gsize length = strlen(line);

    while (length > 0 && g_ascii_isspace(line[length - 1]) && !(is_table && line[length - 1] == '\t'))
        length--;
    line[length] = '\0';
}

static void
clean_line(ImpText *text, char *line, gsize length, gboolean is_printable)
{
    for (gsize i = 0; i < length; i++)
        if (line[i] == '\0') {
            line[i] = ' ';
            text->damage[IMP_DAMAGE_NUL]++;
        }
    line[length] = '\0';
    if (length > 0 && line[length - 1] == '\r')
        text->damage[IMP_DAMAGE_CRLF]++;
    strip_escapes(text, line);
    if (is_printable)
        decode_printable(text, line);
    decode_entities(text, line);
    /* No-break spaces, two bytes each. */
    for (char *c = strstr(line, "\302\240"); c != NULL; c = strstr(c, "\302\240"))
        c[0] = c[1] = ' ';
    strip_quotes(text, line);
    strip_end(line);
    strip_bold(text, line);
    strip_end(line);
}

/* A line that ends with "=" goes on in the next one. Rulers of "====" do not, nor does a row that was cut behind its
 * equals sign: mail breaks near 76 bytes. */
static gboolean
has_soft_end(const ImpText *text, const Span *span)
{
    const char *line = text->buffer->str + span->offset;
    gsize length = span->length;

    if (length > 0 && line[length - 1] == '\r')
        length--;
    return length >= 60 && length <= 80 && line[length - 1] == '=' && line[length - 2] != '=';
}

/* Mail in quoted-printable. No other text has "=3D": numbers behind an equals sign are decimal or in lower case. */
static gboolean
find_printable(const ImpText *text)
{
    for (guint i = 0; i < text->spans->len; i++) {
        const Span *span = &g_array_index(text->spans, Span, i);

        if (has_soft_end(text, span) || g_strstr_len(text->buffer->str + span->offset, (gssize) span->length, "=3D"))
            return TRUE;
    }
    return FALSE;
}

/* Joins the line `*i` with those it goes on in; the parts are moved together in the buffer. */
static Span
joined_line(ImpText *text, guint *i)
{
    Span span = g_array_index(text->spans, Span, *i);

    while (has_soft_end(text, &span) && *i + 1 < text->spans->len) {
        const Span *next = &g_array_index(text->spans, Span, *i + 1);
        char *line = text->buffer->str + span.offset;

        if (span.length + next->length > IMP_MAX_LINE_BYTES)
            break;
        span.length -= line[span.length - 1] == '\r';
        span.length--;
        memmove(line + span.length, text->buffer->str + next->offset, next->length);
        span.length += next->length;
        text->damage[IMP_DAMAGE_PRINTABLE]++;
        (*i)++;
    }
    return span;
}

static void
finish(ImpText *text)
{
    gboolean is_printable;

    if (text->is_line_open) {
        text->damage[IMP_DAMAGE_NO_END] = !text->is_full;
        close_line(text);
    }
    if (g_str_has_prefix(text->buffer->str, "\357\273\277"))
        memset(text->buffer->str, ' ', 3);
    is_printable = find_printable(text);
    for (guint i = 0; i < text->spans->len; i++) {
        Span span = is_printable ? joined_line(text, &i) : g_array_index(text->spans, Span, i);
        ImpLine line = {.text = text->buffer->str + span.offset, .number = span.number};

        clean_line(text, line.text, span.length, is_printable);
        g_array_append_val(text->lines, line);
    }
    g_array_set_size(text->spans, 0);
}

static ImpText *
text_open(void)
{
    ImpText *text = g_new0(ImpText, 1);

    text->buffer = g_string_new(NULL);
    text->spans = g_array_new(FALSE, FALSE, sizeof(Span));
    text->lines = g_array_new(FALSE, FALSE, sizeof(ImpLine));
    return text;
}

ImpText *
imp_text_new(const char *bytes, gsize n_bytes)
{
    ImpText *text = text_open();

    feed(text, bytes, n_bytes);
    finish(text);
    return text;
}

static GInputStream *
open_stream(const char *path, GError **error)
{
    g_autoptr(GFile) file = g_file_new_for_path(g_str_equal(path, "-") ? "/dev/stdin" : path);
    g_autoptr(GInputStream) raw = G_INPUT_STREAM(g_file_read(file, NULL, error));
    g_autoptr(GBufferedInputStream) buffered = NULL;
    const guchar *head;
    gsize n_head;

    if (raw == NULL)
        return NULL;
    buffered = G_BUFFERED_INPUT_STREAM(g_buffered_input_stream_new(raw));
    if (g_buffered_input_stream_fill(buffered, 2, NULL, error) < 0)
        return NULL;
    head = g_buffered_input_stream_peek_buffer(buffered, &n_head);
    if (n_head >= 2 && head[0] == 0x1f && head[1] == 0x8b) {
        g_autoptr(GConverter) gunzip = G_CONVERTER(g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP));

        return g_converter_input_stream_new(G_INPUT_STREAM(buffered), gunzip);
    }
    return G_INPUT_STREAM(g_steal_pointer(&buffered));
}

ImpText *
imp_text_load(const char *path, GError **error)
{
    g_autoptr(GError) cause = NULL;
    g_autoptr(GInputStream) stream = open_stream(path, &cause);
    g_autoptr(ImpText) text = text_open();
    g_autofree char *chunk = g_malloc(IMP_MAX_LINE_BYTES);
    gssize n = 0;

    while (stream != NULL && !text->is_full &&
           (n = g_input_stream_read(stream, chunk, IMP_MAX_LINE_BYTES, NULL, &cause)) > 0)
        feed(text, chunk, (gsize) n);
    /* What came before a stream broke is still worth reading; nothing at all is not. */
    if (cause != NULL && text->spans->len == 0) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_IO, "%s: %s", path, cause->message);
        return NULL;
    }
    if (cause != NULL)
        text->damage[IMP_DAMAGE_CUT_TEXT] = 1;
    finish(text);
    return g_steal_pointer(&text);
}

void
imp_text_free(ImpText *text)
{
    if (text == NULL)
        return;
    g_string_free(text->buffer, TRUE);
    g_array_unref(text->spans);
    g_array_unref(text->lines);
    g_free(text);
}

guint
imp_text_n_lines(const ImpText *text)
{
    return text->lines->len;
}

const ImpLine *
imp_text_line(const ImpText *text, guint i)
{
    return &g_array_index(text->lines, ImpLine, i);
}

guint
imp_text_damage(const ImpText *text, ImpDamage damage)
{
    return text->damage[damage];
}

void
imp_words_split(const char *line, ImpWords *ret_words)
{
    guint n = 0;

    for (const char *c = line + strspn(line, " \t"); *c != '\0'; c += strspn(c, " \t")) {
        gsize length = strcspn(c, " \t%");

        length += c[length] == '%';
        if (n < IMP_MAX_WORDS)
            ret_words->word[n] = (ImpWord){.text = c, .length = length};
        n++;
        c += length;
    }
    ret_words->n_words = n;
}

gboolean
imp_word_is(const ImpWord *word, const char *text)
{
    return strlen(text) == word->length && memcmp(word->text, text, word->length) == 0;
}

/* Digits, or one to three digits and groups of three behind commas. */
static gsize
number_length(const ImpWord *word)
{
    gsize i = 0;

    while (i < word->length && g_ascii_isdigit(word->text[i]))
        i++;
    if (i == 0 || i > 3)
        return i;
    while (i + 3 < word->length && word->text[i] == ',' && g_ascii_isdigit(word->text[i + 1]) &&
           g_ascii_isdigit(word->text[i + 2]) && g_ascii_isdigit(word->text[i + 3]))
        i += 4;
    return i;
}

gboolean
imp_word_number(const ImpWord *word, gint64 *ret_number)
{
    gsize length = number_length(word);
    gint64 number = 0;

    if (length == 0 || length != word->length)
        return FALSE;
    for (gsize i = 0; i < length; i++) {
        if (word->text[i] == ',')
            continue;
        number = number * 10 + g_ascii_digit_value(word->text[i]);
        if (number > LARGEST_NUMBER)
            return FALSE;
    }
    *ret_number = number;
    return TRUE;
}

gboolean
imp_word_size(const ImpWord *word, double *ret_bytes, double *ret_half_step)
{
    static const char units[] = "BKMG";
    ImpWord whole = {.text = word->text, .length = 0};
    gsize i;
    gint64 number;
    double scale = 1, value, place = 1;
    const char *unit;

    whole.length = number_length(word);
    if (!imp_word_number(&whole, &number))
        return FALSE;
    value = (double) number;
    i = whole.length;
    if (i < word->length && word->text[i] == '.') {
        gsize first = ++i;

        for (; i < word->length && i < first + 6 && g_ascii_isdigit(word->text[i]); i++) {
            place /= 10;
            value += place * g_ascii_digit_value(word->text[i]);
        }
        if (i == first)
            return FALSE;
    }
    if (i < word->length) {
        unit = strchr(units, g_ascii_toupper(word->text[i]));
        if (unit == NULL || i + 1 != word->length)
            return FALSE;
        for (const char *u = units; u < unit; u++)
            scale *= 1024;
    }
    *ret_bytes = value * scale;
    *ret_half_step = scale == 1 && place == 1 ? 0 : place * scale / 2;
    return TRUE;
}
