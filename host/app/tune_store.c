#include "host/app/tune_store.h"

#include "host/app/context.h"
#include "host/app/output.h"
#include "host/base/size.h"
#include "host/base/text.h"
#include "kernels/kernels.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = TUNE_STORE_FOLDER_BYTES + 32, NAME_BYTES = 256 };

/* Different tiles that a search tells apart; there are no more than a few devices at a place. */
enum { MAX_ANSWERS = 64 };

/* As many digits as bring a double back. */
enum { REAL_DIGITS = 17 };

#define FILE_PREFIX "tune-"
#define FILE_SUFFIX ".json"

static void tell(struct tune_store *store, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void tell(struct tune_store *store, const char *format, ...)
{
    char line[2 * PATH_BYTES];
    struct text text = text_begin(line, sizeof line);
    va_list args;

    if (store->told) {
        return;
    }
    store->told = true;
    va_start(args, format);
    text_add_args(&text, format, args);
    va_end(args);
    (void)fprintf(stderr, "scratchscope: tuned tiles: %s\n", line);
}

void tune_store_init(struct tune_store *store)
{
    const char *own = getenv("SCRATCHSCOPE_CACHE_DIR");
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    struct text folder = text_begin(store->folder, sizeof store->folder);

    store->told = false;
    if (own != NULL && own[0] != '\0') {
        text_add(&folder, "%s", own);
    } else if (cache != NULL && cache[0] == '/') {
        text_add(&folder, "%s/scratchscope", cache);
    } else if (home != NULL && home[0] != '\0') {
        text_add(&folder, "%s/.cache/scratchscope", home);
    }
    if (folder.cut) {
        store->folder[0] = '\0';
    }
}

/* Keys -------------------------------------------------------------------------------------- */

/* FNV-1a. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static const uint64_t hash_start = UINT64_C(0xcbf29ce484222325);

static json_t *hash_json(uint64_t hash)
{
    char text[24];

    (void)snprintf(text, sizeof text, "%016" PRIx64, hash);
    return json_string(text);
}

static json_t *kernel_json(enum kernel_style style)
{
    const char *source = style == KERNEL_SIMT ? kernels_attention_simt : kernels_attention_simd;

    return hash_json(hash_text(hash_text(hash_start, source), kernels_merge));
}

/* All that makes the problem but its blocks. */
static json_t *problem_json(const struct problem *p)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:b, s:I, s:I, s:o, s:b, s:b, s:b, s:o}",
        "batch", context_size(p->batch), "q_heads", context_size(p->q_heads), "kv_heads",
        context_size(p->kv_heads), "seq_q", context_size(p->seq_q), "seq_kv",
        context_size(p->seq_kv), "head_dim", context_size(p->head_dim), "head_dim_v",
        context_size(p->head_dim_v), "dtype", dtype_name(p->dtype), "scale", json_real(p->scale),
        "causal", p->causal ? 1 : 0, "window_left", (json_int_t)p->window_left, "window_right",
        (json_int_t)p->window_right, "softcap", json_real(p->softcap), "alibi", p->alibi ? 1 : 0,
        "sinks", p->sinks ? 1 : 0, "mask", p->mask ? 1 : 0, "parts",
        context_size(problem_parts(p)));
}

/* What holds on every device. */
static json_t *common_json(const struct cell *cell, enum kernel_style style)
{
    return json_pack("{s:s, s:o, s:s, s:o, s:o, s:o}", "kernel", kernel_style_name(style),
                     "kernel_hash", kernel_json(style), "arena", pe_arenas_space_name(cell->arena),
                     "alignment", context_size(cell->alignment), "pool_bytes",
                     cell->pool_grow ? json_string("grow") : context_size(cell->pool_bytes),
                     "problem", problem_json(&cell->problem));
}

/* A new reference; NULL: no memory. */
static json_t *key_json(const struct tune_store_key *key)
{
    json_t *common = common_json(key->cell, key->cell->style);
    json_t *json =
        json_pack("{s:o, s:o, s:o, s:o}", "device", context_text(key->device->name), "driver",
                  context_text(key->device->driver), "platform",
                  context_text(key->device->platform_name), "pes", context_size(key->cell->pes));

    if (json != NULL && (common == NULL || json_object_update(json, common) != 0)) {
        json_decref(json);
        json = NULL;
    }
    json_decref(common);
    return json;
}

/* The file of a key; false: no folder, or no memory. */
static bool path_of(const struct tune_store *store, const json_t *key, char path[PATH_BYTES])
{
    char *text = json_dumps(key, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(REAL_DIGITS));

    if (text == NULL || store->folder[0] == '\0') {
        free(text);
        return false;
    }
    (void)snprintf(path, PATH_BYTES, "%s/" FILE_PREFIX "%016" PRIx64 FILE_SUFFIX, store->folder,
                   hash_text(hash_start, text));
    free(text);
    return true;
}

/* Reading ----------------------------------------------------------------------------------- */

/* The file's object if it is of this version; NULL: none. */
static json_t *load(struct tune_store *store, const char *path)
{
    json_error_t error;
    json_t *file = NULL;
    FILE *stream = fopen(path, "re");

    if (stream == NULL) {
        if (errno != ENOENT && errno != ENOTDIR) {
            tell(store, "%s cannot be read: %s; it is left out", path, strerror(errno));
        }
        return NULL;
    }
    file = json_loadf(stream, 0, &error);
    (void)fclose(stream);
    if (file == NULL || !json_is_integer(json_object_get(file, "schema_version"))) {
        tell(store, "%s is damaged; it is left out", path);
        json_decref(file);
        return NULL;
    }
    if (json_integer_value(json_object_get(file, "schema_version")) != TUNE_STORE_SCHEMA) {
        json_decref(file);
        return NULL;
    }
    return file;
}

static json_t *load_key(struct tune_store *store, const json_t *key, const char *path)
{
    json_t *file = load(store, path);

    if (file != NULL && !json_equal(json_object_get(file, "key"), key)) {
        json_decref(file);
        file = NULL;
    }
    return file;
}

/* Whether the tile is one that a search may find: in the lattice's range, and it fits. */
static bool tile_serves(const struct cell *base, enum policy policy, const struct tune_block *tile)
{
    const struct problem *problem = &base->problem;
    const size_t rows = size_min(problem->seq_q * problem_group(problem), TUNE_MAX_BLOCK);
    const size_t keys = size_min(size_max(problem->seq_kv, 1), TUNE_MAX_BLOCK);
    struct cell cell = *base;
    struct cell_result result;

    if (tile->block_m < 1 || tile->block_m > rows || tile->block_n < 1 || tile->block_n > keys) {
        return false;
    }
    cell.policy = policy;
    cell.problem.block_m = tile->block_m;
    cell.problem.block_n = tile->block_n;
    const bool fits = cell_plan(&cell, 0, 0, NULL, &result) == STATUS_OK && !result.overflow;
    status_clear();
    return fits;
}

/* A side of 0 is none. */
static size_t read_side(const json_t *tile, const char *key)
{
    const json_int_t side = json_integer_value(json_object_get(tile, key));

    return side > 0 ? (size_t)side : 0;
}

/* The policy's tile in a file of a key that serves. */
static bool read_tile(struct tune_store *store, const char *path, const json_t *file,
                      const struct tune_store_key *key, enum policy policy, struct tune_block *out)
{
    const json_t *tiles = json_object_get(file, "tiles");
    const json_t *tile = json_object_get(tiles, policy_name(policy));

    *out = (struct tune_block){0};
    if (file == NULL || (json_is_object(tiles) && tile == NULL)) {
        return false;
    }
    const struct tune_block read = {read_side(tile, "block_m"), read_side(tile, "block_n")};
    if (!tile_serves(key->cell, policy, &read)) {
        tell(store, "%s is damaged: its %s tile is none that fits; it is left out", path,
             policy_name(policy));
        return false;
    }
    *out = read;
    return true;
}

bool tune_store_find(struct tune_store *store, const struct tune_store_key *key, enum policy policy,
                     struct tune_block *out)
{
    char path[PATH_BYTES] = "";
    json_t *wanted = key_json(key);
    json_t *file = NULL;

    *out = (struct tune_block){0};
    if (wanted != NULL && path_of(store, wanted, path)) {
        file = load_key(store, wanted, path);
    }
    const bool found = read_tile(store, path, file, key, policy, out);
    json_decref(file);
    json_decref(wanted);
    return found;
}

/* Whether a stored key is of a style that the plan takes, and equal in what it knows. */
static bool key_serves(const json_t *stored, const struct tune_store_key *key)
{
    const char *style_name = json_string_value(json_object_get(stored, "kernel"));
    enum kernel_style style = KERNEL_SIMD;
    bool serves = style_name != NULL;

    if (serves && strcmp(style_name, kernel_style_name(KERNEL_SIMT)) == 0) {
        style = KERNEL_SIMT;
    }
    serves = serves && (key->cell->any_style || style == key->cell->style);
    serves = serves && (key->cell->pes == 0 || json_integer_value(json_object_get(stored, "pes")) ==
                                                   (json_int_t)key->cell->pes);
    json_t *common = serves ? common_json(key->cell, style) : NULL;
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach(common, name, value)
    {
        serves = serves && json_equal(value, json_object_get(stored, name));
    }
    serves = serves && common != NULL;
    json_decref(common);
    return serves;
}

static bool is_ours(const char *name)
{
    const size_t length = strlen(name);
    const size_t suffix = strlen(FILE_SUFFIX);

    return strncmp(name, FILE_PREFIX, strlen(FILE_PREFIX)) == 0 && length > suffix &&
           strcmp(name + length - suffix, FILE_SUFFIX) == 0;
}

/* The different tiles of a search. */
struct answers {
    struct tune_block tiles[MAX_ANSWERS];
    size_t count;
};

static void add_answer(struct answers *answers, const struct tune_block *tile)
{
    for (size_t i = 0; i < answers->count; i++) {
        if (answers->tiles[i].block_m == tile->block_m &&
            answers->tiles[i].block_n == tile->block_n) {
            return;
        }
    }
    if (answers->count < MAX_ANSWERS) {
        answers->tiles[answers->count++] = *tile;
    }
}

/* The tile of a file, if it is of a key that serves. */
static void search_file(struct tune_store *store, const char *name,
                        const struct tune_store_key *key, enum policy policy,
                        struct answers *answers)
{
    char path[PATH_BYTES + NAME_BYTES];
    struct tune_block tile;

    (void)snprintf(path, sizeof path, "%s/%s", store->folder, name);
    json_t *file = load(store, path);
    if (file != NULL && key_serves(json_object_get(file, "key"), key) &&
        read_tile(store, path, file, key, policy, &tile)) {
        add_answer(answers, &tile);
    }
    json_decref(file);
}

size_t tune_store_search(struct tune_store *store, const struct tune_store_key *key,
                         enum policy policy, struct tune_block *out)
{
    struct answers answers = {.count = 0};
    DIR *folder = store->folder[0] != '\0' ? opendir(store->folder) : NULL;

    for (const struct dirent *entry = NULL; folder != NULL && (entry = readdir(folder)) != NULL;) {
        if (is_ours(entry->d_name)) {
            search_file(store, entry->d_name, key, policy, &answers);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    *out = answers.tiles[0];
    return answers.count;
}

/* Writing ----------------------------------------------------------------------------------- */

/* Makes the folder and those above it. */
static bool make_folder(const char *folder)
{
    char path[TUNE_STORE_FOLDER_BYTES];

    (void)snprintf(path, sizeof path, "%s", folder);
    for (char *at = path + 1; *at != '\0'; at++) {
        if (*at == '/') {
            *at = '\0';
            (void)mkdir(path, 0777); /* it is there, or the last one says why not */
            *at = '/';
        }
    }
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

static json_t *winner_json(const struct tune_winner *winner, enum policy policy)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "block_m", context_size(winner->tile.block_m),
                     "block_n", context_size(winner->tile.block_n), "planned_peak_bytes",
                     context_size(winner->tile.peak_bytes[policy]), "gflops",
                     context_real(winner->gflops));
}

/* The tiles that are to be kept: those of `old`, replaced by the new. NULL: no memory. */
static json_t *tiles_json(const json_t *old, const struct tune_winner winners[POLICY_COUNT])
{
    json_t *tiles = json_is_object(old) ? json_deep_copy(old) : json_object();

    for (size_t policy = 0; tiles != NULL && policy < POLICY_COUNT; policy++) {
        if (winners[policy].found && winners[policy].gflops > 0.0 &&
            json_object_set_new(tiles, policy_name((enum policy)policy),
                                winner_json(&winners[policy], (enum policy)policy)) != 0) {
            json_decref(tiles);
            tiles = NULL;
        }
    }
    return tiles;
}

static enum status replace(const char *path, const char *bytes)
{
    enum status status = STATUS_OK;
    struct output output = {.stream = -1};
    char name[OUTPUT_NAME_BYTES];

    STATUS_TRY(output_open(path, &output));
    STATUS_TRY(output_stage(&output, bytes, strlen(bytes), name));
    STATUS_TRY(output_commit(&output, bytes, strlen(bytes), name));
out:
    output_close(&output);
    return status;
}

static void write_answer(struct tune_store *store, const char *path, const json_t *answer)
{
    char *bytes = json_dumps(answer, JSON_INDENT(1) | JSON_REAL_PRECISION(REAL_DIGITS));

    if (bytes == NULL) {
        tell(store, "no memory to keep them");
    } else if (!make_folder(store->folder)) {
        tell(store, "they are not kept: %s: %s", store->folder, strerror(errno));
    } else if (replace(path, bytes) != STATUS_OK) {
        tell(store, "they are not kept: %s: %s", status_last()->what, status_last()->why);
        status_clear();
    }
    free(bytes);
}

void tune_store_keep(struct tune_store *store, const struct tune_store_key *key,
                     const struct tune_winner winners[POLICY_COUNT])
{
    char path[PATH_BYTES];
    json_t *wanted = key_json(key);

    if (store->folder[0] == '\0') {
        tell(store, "they are not kept: no SCRATCHSCOPE_CACHE_DIR, XDG_CACHE_HOME or HOME is set");
    } else if (wanted != NULL && path_of(store, wanted, path)) {
        json_t *old = load_key(store, wanted, path);
        json_t *answer = json_pack("{s:i, s:s, s:O, s:o}", "schema_version", TUNE_STORE_SCHEMA,
                                   "tool_version", context_version(), "key", wanted, "tiles",
                                   tiles_json(json_object_get(old, "tiles"), winners));
        write_answer(store, path, answer);
        json_decref(answer);
        json_decref(old);
    }
    json_decref(wanted);
}
