/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "imp-clean.h"

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
    gboolean is_line_open, is_full, is_after_cr;
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
        [IMP_DAMAGE_STAMP] = "lines with the time stamp of a log, taken off",
        [IMP_DAMAGE_CELLS] = "rows of table cells (| or commas), parted",
        [IMP_DAMAGE_DIFF] = "lines with the signs of a diff, taken off",
        [IMP_DAMAGE_NUMBERED] = "line numbers in front of lines, taken off",
        [IMP_DAMAGE_UTF16] = "the text is in UTF-16, read as if it were plain",
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

/* The end of the line that begins here: at a line feed, or behind a carriage return that none follows. NULL when it
 * goes on in the next chunk. */
static const char *
find_end(ImpText *text, const char *bytes, gsize n_bytes)
{
    for (const char *c = bytes; c < bytes + n_bytes; c++) {
        if (*c == '\n' || (text->is_after_cr && *c != '\r' && *c != '\0')) {
            text->is_after_cr = FALSE;
            return c;
        }
        text->is_after_cr = *c == '\r';
    }
    return NULL;
}

static void
feed(ImpText *text, const char *bytes, gsize n_bytes)
{
    while (n_bytes > 0 && !text->is_full) {
        const char *end = find_end(text, bytes, n_bytes);
        gsize length = end != NULL ? (gsize) (end - bytes) : n_bytes;

        append_bytes(text, bytes, length);
        if (end == NULL)
            return;
        close_line(text);
        length += *end == '\n';
        bytes += length;
        n_bytes -= length;
    }
    if (text->is_full && n_bytes > 0)
        text->damage[IMP_DAMAGE_CUT_TEXT] = 1;
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

/* Each line with words begins with a number, and these rise. */
static gboolean
find_numbered(const ImpText *text)
{
    guint64 last = 0;
    guint n = 0;

    for (guint i = 0; i < text->spans->len; i++) {
        const Span *span = &g_array_index(text->spans, Span, i);
        g_autofree char *start = g_strndup(text->buffer->str + span->offset, MIN(span->length, 32));
        guint64 number;

        if (start[strspn(start, " \t\r")] == '\0')
            continue;
        if (imp_clean_number_length(start) == 0 || (number = g_ascii_strtoull(start, NULL, 10)) <= last)
            return FALSE;
        last = number;
        n++;
    }
    return n > 1;
}

static gboolean
find_unified(const ImpText *text)
{
    gboolean has_old = FALSE;

    for (guint i = 0; i < text->spans->len; i++) {
        const char *line = text->buffer->str + g_array_index(text->spans, Span, i).offset;

        if (has_old && g_str_has_prefix(line, "+++ "))
            return TRUE;
        has_old = g_str_has_prefix(line, "--- ");
    }
    return FALSE;
}

static guint
find_marks(ImpText *text)
{
    guint marks = 0;

    if (g_str_has_prefix(text->buffer->str, "\377\376") || g_str_has_prefix(text->buffer->str, "\376\377")) {
        memset(text->buffer->str, 0, 2);
        text->damage[IMP_DAMAGE_UTF16] = 1;
        return IMP_MARK_UTF16;
    }
    if (find_printable(text))
        marks |= IMP_MARK_PRINTABLE;
    if (find_numbered(text)) {
        marks |= IMP_MARK_NUMBERED;
        text->damage[IMP_DAMAGE_NUMBERED] = 1;
    }
    return find_unified(text) ? marks | IMP_MARK_UNIFIED : marks;
}

static void
finish(ImpText *text)
{
    guint marks;

    if (text->is_line_open) {
        text->damage[IMP_DAMAGE_NO_END] = !text->is_full;
        close_line(text);
    }
    if (g_str_has_prefix(text->buffer->str, "\357\273\277"))
        memset(text->buffer->str, ' ', 3);
    marks = find_marks(text);
    for (guint i = 0; i < text->spans->len; i++) {
        Span span = (marks & IMP_MARK_PRINTABLE) ? joined_line(text, &i) : g_array_index(text->spans, Span, i);
        ImpLine line = {.text = text->buffer->str + span.offset, .number = span.number};

        imp_clean_line(line.text, span.length, marks, text->damage);
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

/* Digits, or one to three digits and groups of three behind one of `marks`, always the same. */
static gsize
number_length(const ImpWord *word, const char *marks)
{
    gsize i = 0;
    char mark;

    while (i < word->length && g_ascii_isdigit(word->text[i]))
        i++;
    if (i == 0 || i > 3)
        return i;
    mark = i < word->length && strchr(marks, word->text[i]) != NULL ? word->text[i] : '\0';
    while (mark != '\0' && i + 3 < word->length && word->text[i] == mark && g_ascii_isdigit(word->text[i + 1]) &&
           g_ascii_isdigit(word->text[i + 2]) && g_ascii_isdigit(word->text[i + 3]))
        i += 4;
    return i;
}

gboolean
imp_word_number(const ImpWord *word, gint64 *ret_number)
{
    gsize length = number_length(word, ",.'");
    gint64 number = 0;

    if (length == 0 || length != word->length)
        return FALSE;
    for (gsize i = 0; i < length; i++) {
        if (!g_ascii_isdigit(word->text[i]))
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

    whole.length = number_length(word, ",");
    if (!imp_word_number(&whole, &number))
        return FALSE;
    value = (double) number;
    i = whole.length;
    if (i < word->length && (word->text[i] == '.' || word->text[i] == ',')) {
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
