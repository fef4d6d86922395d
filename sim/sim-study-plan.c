/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim-study-private.h"

#include <string.h>
#include <zlib.h>

/* Keys that say how often a point is run and how it is judged, not what it is: changing them keeps its runs. */
static const char *const steering_keys[] = {"run.replications", "run.precision", "run.confidence", "run.starts", NULL};

void
sim_study_pack(const char *text, gsize length, guint8 **ret_bytes, gsize *ret_length)
{
    uLongf packed = compressBound(length);
    guint8 *bytes = g_malloc(packed + sizeof(guint64));
    guint64 size = GUINT64_TO_LE((guint64) length);
    int code;

    memcpy(bytes, &size, sizeof size);
    code = compress2(bytes + sizeof size, &packed, (const Bytef *) text, length, Z_BEST_SPEED);
    g_assert(code == Z_OK);
    *ret_bytes = bytes;
    *ret_length = packed + sizeof size;
}

/* A length that a damaged file may claim; no table of one run comes near it. */
#define MAX_TEXT_BYTES ((guint64) 1 << 31)

char *
sim_study_unpack(const guint8 *bytes, gsize length)
{
    guint64 size;
    uLongf unpacked;
    char *text;

    if (bytes == NULL || length < sizeof size)
        return NULL;
    memcpy(&size, bytes, sizeof size);
    size = GUINT64_FROM_LE(size);
    text = size < MAX_TEXT_BYTES ? g_try_malloc(size + 1) : NULL;
    if (text == NULL)
        return NULL;
    unpacked = size;
    if (uncompress((Bytef *) text, &unpacked, bytes + sizeof size, length - sizeof size) != Z_OK || unpacked != size ||
        memchr(text, '\0', size) != NULL) {
        g_free(text);
        return NULL;
    }
    text[size] = '\0';
    return text;
}

/* What a transaction on the points works with. */
typedef struct {
    SimStudy *study;
    SimDesign *design;
    const SimStudyPlan *plan;
    GChecksum *digest; /* of the whole plan */
    guint n_points;    /* taken in so far */
    guint n_cells;
} Filling;

static void
add_word(GChecksum *sum, const char *word)
{
    g_checksum_update(sum, (const guchar *) word, -1);
    g_checksum_update(sum, (const guchar *) "\n", 1);
}

/* The lines of a configuration that change what is simulated. */
static void
add_configuration(GChecksum *sum, const char *text)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    const char *group = "";
    gsize n_group = 0;

    for (char **line = lines; *line != NULL; line++) {
        if (**line == '[') {
            group = *line + 1;
            n_group = strcspn(group, "]");
        }
        if (strncmp(group, "scenario]", 9) == 0 || strncmp(group, "plot ", 5) == 0)
            continue;
        g_autofree char *name = g_strdup_printf("%.*s.%.*s", (int) n_group, group, (int) strcspn(*line, " "), *line);
        if (!g_strv_contains(steering_keys, name))
            add_word(sum, *line);
    }
}

/* What makes two points the same one: variant, configuration, and steering keys where they are an axis. */
static char *
point_digest(const Filling *filling, guint point, const char *configuration)
{
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);

    add_word(sum, sim_design_variant(filling->design, point));
    for (guint axis = 0; axis < sim_design_n_axes(filling->design); axis++) {
        if (!g_strv_contains(steering_keys, sim_design_axis_key(filling->design, axis)))
            continue;
        add_word(sum, sim_design_axis_key(filling->design, axis));
        add_word(sum, sim_design_axis_value(filling->design, point, axis));
    }
    add_configuration(sum, configuration);
    return g_strdup(g_checksum_get_string(sum));
}

static gboolean
put_about(SimDb *db, const char *key, const char *value, GError **error)
{
    return sim_db_run(db, error, "INSERT OR REPLACE INTO about(key, value) VALUES(?, ?)", "tt", key, value);
}

static gboolean fail_model(const SimStudy *study, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);

static gboolean
fail_model(const SimStudy *study, GError **error, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    g_autofree char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error(error, SIM_ERROR, SIM_ERROR_MODEL, "%s: %s", study->db->path, message);
    return FALSE;
}

/* Row of the point, made when it is new. */
static gboolean
put_point(Filling *filling, guint point, const char *configuration, gint64 *ret_id, GError **error)
{
    SimDb *db = filling->study->db;
    g_autofree char *digest = point_digest(filling, point, configuration);
    g_autofree char *label = sim_design_label(filling->design, point);
    g_autofree guint8 *packed = NULL;
    gsize length;

    add_word(filling->digest, digest);
    add_word(filling->digest, label);
    if (!sim_db_int(db, ret_id, error, "SELECT point FROM point WHERE digest = ?", "t", digest))
        return FALSE;
    if (*ret_id != 0)
        return sim_db_run(db, error, "UPDATE point SET ordinal = ?, label = ? WHERE point = ?", "iti",
                          (gint64) filling->n_points, label, *ret_id);
    sim_study_pack(configuration, strlen(configuration), &packed, &length);
    if (!sim_db_run(db, error,
                    "INSERT INTO point(digest, ordinal, variant, label, configuration) VALUES(?, ?, ?, ?, ?)", "tittb",
                    digest, (gint64) filling->n_points, sim_design_variant(filling->design, point), label, packed,
                    length))
        return FALSE;
    *ret_id = sqlite3_last_insert_rowid(db->handle);
    return TRUE;
}

static gboolean
put_axis_values(Filling *filling, guint point, gint64 id, GError **error)
{
    for (guint axis = 0; axis < sim_design_n_axes(filling->design); axis++) {
        if (!sim_db_run(filling->study->db, error,
                        "INSERT OR REPLACE INTO point_axis(point, axis, value, number) VALUES(?, ?, ?, ?)", "iitd", id,
                        (gint64) axis, sim_design_axis_value(filling->design, point, axis),
                        sim_design_axis_number(filling->design, point, axis)))
            return FALSE;
    }
    return TRUE;
}

static gboolean
put_cells(Filling *filling, gint64 id, const SimConfig *config, GError **error)
{
    SimDb *db = filling->study->db;
    const char *const *starts = sim_config_list(config, "run", "starts");
    gint64 wanted = sim_config_int(config, "run", "replications");
    double precision =
        sim_config_is_given(config, "run", "precision") ? sim_config_real(config, "run", "precision") : 0;
    double confidence = sim_config_real(config, "run", "confidence");
    char number[2][G_ASCII_DTOSTR_BUF_SIZE];
    g_autofree char *words = g_strjoinv(";", (char **) starts);
    g_autofree char *steering =
        g_strdup_printf("%s %" G_GINT64_FORMAT " %s %s", words, wanted, sim_format_real(number[0], precision),
                        sim_format_real(number[1], confidence));

    add_word(filling->digest, steering);
    for (gint64 rank = 0; starts[rank] != NULL; rank++, filling->n_cells++) {
        if (!sim_db_run(db, error,
                        "INSERT INTO cell(point, start, start_rank, number, wanted, precision, confidence)"
                        " VALUES(?, ?, ?, ?, ?, ?, ?)",
                        "itiiidd", id, starts[rank], rank, (gint64) filling->n_cells, wanted, precision, confidence))
            return FALSE;
    }
    return TRUE;
}

static gboolean
put_refused(Filling *filling, guint point, const GError *problem, GError **error)
{
    g_autofree char *label = sim_design_label(filling->design, point);

    add_word(filling->digest, label);
    return sim_db_run(filling->study->db, error, "INSERT INTO refused(ordinal, label, reason) VALUES(?, ?, ?)", "itt",
                      (gint64) point, label, problem->message);
}

static gboolean
put_one(Filling *filling, guint point, GError **error)
{
    g_autoptr(GError) problem = NULL;
    g_autoptr(SimConfig) config = sim_design_resolve(filling->design, point, &problem);
    g_autofree char *text = NULL;
    gint64 id;

    if (config == NULL && filling->plan->skip_refused)
        return put_refused(filling, point, problem, error);
    if (config == NULL) {
        g_propagate_error(error, g_steal_pointer(&problem));
        return FALSE;
    }
    text = sim_config_to_text(config, FALSE);
    if (!put_point(filling, point, text, &id, error) || !put_axis_values(filling, point, id, error) ||
        !put_cells(filling, id, config, error))
        return FALSE;
    g_array_append_val(filling->study->design_points, point);
    filling->n_points++;
    return TRUE;
}

/* Title and question are those of the first point: they cannot differ between points. */
static gboolean
put_texts(Filling *filling, GError **error)
{
    SimDb *db = filling->study->db;
    g_autoptr(SimConfig) config = NULL;
    static const char *const keys[] = {"title", "question", "reference", "expects", "limits"};

    for (guint point = 0; config == NULL && point < sim_design_n_points(filling->design); point++)
        config = sim_design_resolve(filling->design, point, NULL);
    for (guint i = 0; config != NULL && i < G_N_ELEMENTS(keys); i++)
        if (sim_config_is_given(config, "scenario", keys[i]) &&
            !put_about(db, keys[i], sim_config_text(config, "scenario", keys[i]), error))
            return FALSE;
    return put_about(db, "scenario", sim_design_name(filling->design), error) &&
           put_about(db, "scenario_text", filling->plan->scenario_text, error);
}

static gboolean
put_all(Filling *filling, GError **error)
{
    SimDb *db = filling->study->db;

    if (!sim_db_exec(db,
                     "UPDATE point SET ordinal = NULL; DELETE FROM cell; DELETE FROM axis; DELETE FROM point_axis;"
                     "DELETE FROM refused",
                     error))
        return FALSE;
    for (guint axis = 0; axis < sim_design_n_axes(filling->design); axis++) {
        add_word(filling->digest, sim_design_axis_key(filling->design, axis));
        if (!sim_db_run(db, error, "INSERT INTO axis(axis, key) VALUES(?, ?)", "it", (gint64) axis,
                        sim_design_axis_key(filling->design, axis)))
            return FALSE;
    }
    for (guint point = 0; point < sim_design_n_points(filling->design); point++) {
        if (!put_one(filling, point, error))
            return FALSE;
    }
    if (filling->n_points == 0)
        return fail_model(filling->study, error, "every point of the sweep is refused");
    /* A fixed number of replications needs no decision. */
    return sim_db_exec(db, "UPDATE cell SET needed = wanted WHERE precision = 0", error) && put_texts(filling, error);
}

/* Reads one value of `about` as it is now: the loaded ones may be older than the transaction. */
static char *
read_about(SimDb *db, const char *key, GError **error)
{
    sqlite3_stmt *s = sim_db_select(db, error, "SELECT value FROM about WHERE key = ?", "t", key);
    gboolean has_row;
    char *value;

    if (s == NULL || !sim_db_step(db, s, &has_row, error))
        return NULL;
    value = g_strdup(has_row ? sim_db_text(s, 0) : "");
    sqlite3_reset(s);
    return value;
}

/* Who the study belongs to: written into an empty one, compared otherwise. */
static gboolean
settle_owner(Filling *filling, GError **error)
{
    const SimStudyPlan *plan = filling->plan;
    SimStudy *study = filling->study;
    g_autofree char *shard = plan->n_shards > 1 ? g_strdup_printf("%u/%u", plan->shard, plan->n_shards) : g_strdup("");
    const char *const keys[] = {"program", "version", "shard"};
    const char *const values[] = {plan->experiment->program, plan->experiment->version, shard};
    g_autofree char *digest = read_about(study->db, "plan", error);

    if (digest == NULL)
        return FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(keys); i++) {
        g_autofree char *old = NULL;
        if (*digest == '\0') {
            if (!put_about(study->db, keys[i], values[i], error))
                return FALSE;
            continue;
        }
        old = read_about(study->db, keys[i], error);
        if (old == NULL)
            return FALSE;
        if (!g_str_equal(old, values[i]))
            return fail_model(study, error, "a study of %s '%s', and this is %s '%s': use another --study", keys[i],
                              old, keys[i], values[i]);
    }
    return TRUE;
}

/* TRUE with *ret_is_same when nothing has changed, so that what sequential stopping has decided is kept. */
static gboolean
fill(Filling *filling, gboolean *ret_is_same, GError **error)
{
    SimStudy *study = filling->study;
    g_autofree char *old = NULL;
    const char *new;

    if (!settle_owner(filling, error) || !put_all(filling, error))
        return FALSE;
    old = read_about(study->db, "plan", error);
    new = g_checksum_get_string(filling->digest);
    if (old == NULL)
        return FALSE;
    *ret_is_same = g_str_equal(old, new);
    if (*old != '\0' && !*ret_is_same && !filling->plan->may_extend)
        return fail_model(study, error,
                          "holds other points than this scenario asks for: use --extend to add to it, or another "
                          "--study");
    return put_about(study->db, "plan", new, error);
}

/* Titles, limits and plots may change without any run being another one: the points get their texts anew. */
static gboolean
refresh_texts(Filling *filling, GError **error)
{
    SimStudy *study = filling->study;

    for (guint i = 0; i < study->design_points->len; i++) {
        guint point = g_array_index(study->design_points, guint, i);
        g_autoptr(SimConfig) config = sim_design_resolve(filling->design, point, error);
        g_autofree char *text = config != NULL ? sim_config_to_text(config, FALSE) : NULL;
        g_autofree guint8 *packed = NULL;
        gsize length;
        if (text == NULL)
            return FALSE;
        sim_study_pack(text, strlen(text), &packed, &length);
        if (!sim_db_run(study->db, error, "UPDATE point SET configuration = ? WHERE ordinal = ?", "bi", packed, length,
                        (gint64) i))
            return FALSE;
    }
    return put_texts(filling, error);
}

/* Inside a transaction. */
static gboolean
has_other_text(const Filling *filling, gboolean *ret_is_other, GError **error)
{
    g_autofree char *old = read_about(filling->study->db, "scenario_text", error);

    *ret_is_other = old != NULL && !g_str_equal(old, filling->plan->scenario_text);
    return old != NULL;
}

gboolean
sim_study_put_design(SimStudy *study, SimDesign *design, const SimStudyPlan *plan, GError **error)
{
    Filling filling = {.study = study, .design = design, .plan = plan};
    gboolean ok, is_same = FALSE, is_other_text = FALSE;

    g_assert(plan->shard >= 1 && plan->shard <= plan->n_shards);
    if (!sim_db_begin(study->db, error))
        return FALSE;
    g_array_set_size(study->design_points, 0);
    filling.digest = g_checksum_new(G_CHECKSUM_SHA256);
    ok = fill(&filling, &is_same, error);
    g_checksum_free(filling.digest);
    if (ok && !is_same)
        ok = sim_db_commit(study->db, error);
    sim_db_rollback(study->db);
    if (ok && is_same)
        ok = sim_db_begin(study->db, error) && has_other_text(&filling, &is_other_text, error) &&
             (!is_other_text || refresh_texts(&filling, error)) && sim_db_commit(study->db, error);
    sim_db_rollback(study->db);
    return ok && sim_study_load(study, error);
}
