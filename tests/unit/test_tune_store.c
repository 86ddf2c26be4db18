/* What was tuned, between runs: kept and found again, other versions and damage passed over. */
#include "host/app/tune_store.h"
#include "tests/unit/app_fixture.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 512 };

enum { FOLDER = 64 };

struct fixture {
    char folder[FOLDER];
    struct tune_store store;
    struct device_info device;
    struct cell cell;
    struct tune_store_key key;
    struct tune_winner winners[POLICY_COUNT];
};

static void fixture_init(struct fixture *f)
{
    struct cell_list list;

    *f = (struct fixture){.folder = "tunes-XXXXXX",
                          .device = {.name = "device", .driver = "1", .platform_name = "platform"}};
    assert_non_null(mkdtemp(f->folder));
    assert_int_equal(setenv("SCRATCHSCOPE_CACHE_DIR", f->folder, 1), 0);
    tune_store_init(&f->store);
    app_cells("--tiles 4 --policy nested", &list);
    f->cell = list.cells[0];
    cell_list_fini(&list);
    f->key = (struct tune_store_key){.device = &f->device, .cell = &f->cell};
}

static bool is_dot(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Files in a folder; the last one's path goes to `path`. */
static size_t files_in(const char *name, char path[PATH])
{
    size_t count = 0;
    DIR *folder = opendir(name);

    assert_non_null(folder);
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (!is_dot(entry->d_name)) {
            (void)snprintf(path, PATH, "%s/%s", name, entry->d_name);
            count++;
        }
    }
    (void)closedir(folder);
    return count;
}

static void fixture_fini(struct fixture *f)
{
    char path[PATH];

    (void)chmod(f->folder, 0700);
    while (files_in(f->folder, path) > 0) {
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(f->folder), 0);
    status_clear();
}

static void put_winner(struct fixture *f, enum policy policy, size_t block_m, size_t block_n)
{
    f->winners[policy] = (struct tune_winner){
        .found = true, .tile = {.block_m = block_m, .block_n = block_n}, .gflops = 12.5};
}

static void keep(struct fixture *f, enum policy policy, size_t block_m, size_t block_n)
{
    memset(f->winners, 0, sizeof f->winners);
    put_winner(f, policy, block_m, block_n);
    tune_store_keep(&f->store, &f->key, f->winners);
}

static void finds(struct fixture *f, enum policy policy, size_t block_m, size_t block_n)
{
    struct tune_block tile;

    assert_true(tune_store_find(&f->store, &f->key, policy, &tile));
    assert_int_equal(tile.block_m, block_m);
    assert_int_equal(tile.block_n, block_n);
}

static void finds_nothing(struct fixture *f, enum policy policy)
{
    struct tune_block tile;

    assert_false(tune_store_find(&f->store, &f->key, policy, &tile));
    assert_int_equal(tile.block_m, 0);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    (void)fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void kept_tile_is_found_again(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    finds_nothing(&f, POLICY_NESTED);
    keep(&f, POLICY_NESTED, 48, 96);
    finds(&f, POLICY_NESTED, 48, 96);
    finds_nothing(&f, POLICY_SCOPED);
    assert_false(f.store.told);
    fixture_fini(&f);
}

static void answer_holds_for_any_block_of_the_cell(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    keep(&f, POLICY_NESTED, 48, 96);
    f.cell.problem.block_m = 7;
    f.cell.problem.block_n = 9;
    f.cell.policy = POLICY_UNSCOPED;
    finds(&f, POLICY_NESTED, 48, 96);
    fixture_fini(&f);
}

static void other_policies_of_a_key_stay(void **state)
{
    struct fixture f;
    char path[PATH];

    (void)state;
    fixture_init(&f);
    keep(&f, POLICY_NESTED, 48, 96);
    keep(&f, POLICY_UNSCOPED, 16, 32);
    finds(&f, POLICY_NESTED, 48, 96);
    finds(&f, POLICY_UNSCOPED, 16, 32);
    keep(&f, POLICY_NESTED, 1, 2);
    finds(&f, POLICY_NESTED, 1, 2);
    finds(&f, POLICY_UNSCOPED, 16, 32);
    assert_int_equal(files_in(f.folder, path), 1);
    fixture_fini(&f);
}

static void winner_that_was_not_timed_is_not_kept(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    put_winner(&f, POLICY_NESTED, 48, 96);
    f.winners[POLICY_NESTED].gflops = (double)NAN;
    tune_store_keep(&f.store, &f.key, f.winners);
    finds_nothing(&f, POLICY_NESTED);
    fixture_fini(&f);
}

/* Each changes one part of the key. */
static void change(struct fixture *f, size_t which)
{
    struct problem *p = &f->cell.problem;
    size_t *const sizes[] = {&p->batch,    &p->q_heads,         &p->kv_heads,      &p->seq_q,
                             &p->seq_kv,   &p->head_dim,        &p->head_dim_v,    &p->parts,
                             &f->cell.pes, &f->cell.pool_bytes, &f->cell.alignment};
    const size_t size_count = sizeof sizes / sizeof sizes[0];

    if (which < size_count) {
        *sizes[which] += which == 7 ? 2 : 1; /* 0 and 1 parts are the same */
        return;
    }
    switch (which - size_count) {
    case 0:
        p->dtype = DTYPE_F32;
        break;
    case 1:
        p->causal = true;
        break;
    case 2:
        p->window_left = 5;
        break;
    case 3:
        p->softcap = 2.5;
        break;
    case 4:
        p->scale = 0.1;
        break;
    case 5:
        p->mask = true;
        break;
    case 6:
        p->sinks = true;
        break;
    case 7:
        p->alibi = true;
        break;
    case 8:
        f->cell.style = KERNEL_SIMT;
        break;
    case 9:
        (void)snprintf(f->device.driver, sizeof f->device.driver, "2");
        break;
    case 10:
        (void)snprintf(f->device.name, sizeof f->device.name, "other");
        break;
    case 11:
        f->cell.arena = PE_ARENAS_LOCAL;
        break;
    default:
        f->cell.pool_grow = true;
        break;
    }
}

static void every_part_of_the_key_counts(void **state)
{
    enum { PARTS = 11 + 13 };

    (void)state;
    for (size_t which = 0; which < PARTS; which++) {
        struct fixture f;
        fixture_init(&f);
        keep(&f, POLICY_NESTED, 48, 96);
        change(&f, which);
        finds_nothing(&f, POLICY_NESTED);
        fixture_fini(&f);
    }
}

static void two_writers_lose_nothing_of_each_other(void **state)
{
    struct fixture f;
    struct tune_store other;
    char path[PATH];

    (void)state;
    fixture_init(&f);
    tune_store_init(&other);
    keep(&f, POLICY_NESTED, 48, 96);
    f.cell.problem.seq_q = 64;
    put_winner(&f, POLICY_NESTED, 8, 16);
    tune_store_keep(&other, &f.key, f.winners);
    finds(&f, POLICY_NESTED, 8, 16);
    f.cell.problem.seq_q = 128;
    finds(&f, POLICY_NESTED, 48, 96);
    assert_int_equal(files_in(f.folder, path), 2);
    fixture_fini(&f);
}

static void damaged_files_are_told_once_and_replaced(void **state)
{
    static const char *const texts[] = {"", "{", "[1, 2]", "{\"schema_version\": \"1\"}", "null"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct fixture f;
        char path[PATH];
        fixture_init(&f);
        keep(&f, POLICY_NESTED, 48, 96);
        assert_int_equal(files_in(f.folder, path), 1);
        write_text(path, texts[i]);
        finds_nothing(&f, POLICY_NESTED);
        assert_true(f.store.told);
        keep(&f, POLICY_NESTED, 4, 5);
        finds(&f, POLICY_NESTED, 4, 5);
        fixture_fini(&f);
    }
}

/* Puts what `text` says in the place of a kept file's tiles. */
static void put_tiles(const struct fixture *f, const char *text)
{
    char path[PATH];

    assert_int_equal(files_in(f->folder, path), 1);
    json_t *file = json_load_file(path, 0, NULL);
    json_t *tiles = json_loads(text, JSON_DECODE_ANY, NULL);
    assert_int_equal(json_object_set_new(file, "tiles", tiles), 0);
    assert_int_equal(json_dump_file(file, path, JSON_REAL_PRECISION(17)), 0);
    json_decref(file);
}

/* The same key, and an object of this version, but not what a tile looks like, or none of this
 * problem of 128 queries on 256 keys. */
static void file_with_a_senseless_tile_is_told_and_has_none(void **state)
{
    static const char *const tiles[] = {
        "null",
        "{\"nested\": 3}",
        "{\"nested\": {\"block_m\": 0, \"block_n\": 4}}",
        "{\"nested\": {\"block_m\": -5, \"block_n\": 4}}",
        "{\"nested\": {\"block_m\": 1e30, \"block_n\": 4}}",
        "{\"nested\": {\"block_m\": \"8\", \"block_n\": 4}}",
        "{\"nested\": {\"block_m\": 129, \"block_n\": 4}}",
        "{\"nested\": {\"block_m\": 4, \"block_n\": 257}}",
        "{\"nested\": {\"block_m\": 100000, \"block_n\": 100000}}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof tiles / sizeof tiles[0]; i++) {
        struct fixture f;
        struct tune_block tile;
        fixture_init(&f);
        keep(&f, POLICY_NESTED, 48, 96);
        put_tiles(&f, tiles[i]);
        finds_nothing(&f, POLICY_NESTED);
        assert_true(f.store.told);
        f.store.told = false;
        assert_int_equal(tune_store_search(&f.store, &f.key, POLICY_NESTED, &tile), 0);
        assert_true(f.store.told);
        fixture_fini(&f);
    }
}

static void tile_that_does_not_fit_is_told_and_none(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    keep(&f, POLICY_NESTED, 128, 128);
    finds(&f, POLICY_NESTED, 128, 128);
    assert_false(f.store.told);
    f.cell.pool_bytes = 4096;
    finds_nothing(&f, POLICY_NESTED);
    assert_false(f.store.told); /* another key */
    keep(&f, POLICY_NESTED, 128, 128);
    finds_nothing(&f, POLICY_NESTED);
    assert_true(f.store.told);
    fixture_fini(&f);
}

static void file_without_the_policy_s_tile_is_not_damaged(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    keep(&f, POLICY_NESTED, 48, 96);
    put_tiles(&f, "{}");
    finds_nothing(&f, POLICY_NESTED);
    assert_false(f.store.told);
    fixture_fini(&f);
}

static void other_version_is_passed_over_without_a_word(void **state)
{
    struct fixture f;
    char path[PATH];

    (void)state;
    fixture_init(&f);
    keep(&f, POLICY_NESTED, 48, 96);
    assert_int_equal(files_in(f.folder, path), 1);
    json_t *file = json_load_file(path, 0, NULL);
    assert_int_equal(json_object_set_new(file, "schema_version", json_integer(99)), 0);
    assert_int_equal(json_dump_file(file, path, JSON_REAL_PRECISION(17)), 0);
    json_decref(file);
    finds_nothing(&f, POLICY_NESTED);
    assert_false(f.store.told);
    fixture_fini(&f);
}

/* As if the hash of two keys were the same, or the kernels another version's. */
static void other_key_in_the_file_is_no_answer(void **state)
{
    struct fixture f;
    char path[PATH];

    (void)state;
    fixture_init(&f);
    keep(&f, POLICY_NESTED, 48, 96);
    assert_int_equal(files_in(f.folder, path), 1);
    json_t *file = json_load_file(path, 0, NULL);
    assert_int_equal(json_object_set_new(json_object_get(file, "key"), "kernel_hash",
                                         json_string("0123456789abcdef")),
                     0);
    assert_int_equal(json_dump_file(file, path, JSON_REAL_PRECISION(17)), 0);
    json_decref(file);
    finds_nothing(&f, POLICY_NESTED);
    struct tune_block tile;
    assert_int_equal(tune_store_search(&f.store, &f.key, POLICY_NESTED, &tile), 0);
    fixture_fini(&f);
}

static void folder_that_cannot_be_made_is_told_and_no_failure(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    (void)snprintf(f.store.folder, sizeof f.store.folder, "/dev/null/tunes");
    keep(&f, POLICY_NESTED, 48, 96);
    assert_true(f.store.told);
    assert_int_equal(status_last()->status, STATUS_OK);
    finds_nothing(&f, POLICY_NESTED);
    fixture_fini(&f);
}

static void folders_above_are_made(void **state)
{
    struct fixture f;
    char path[PATH];

    (void)state;
    fixture_init(&f);
    (void)snprintf(f.store.folder, sizeof f.store.folder, "%s/a/b", f.folder);
    keep(&f, POLICY_NESTED, 48, 96);
    finds(&f, POLICY_NESTED, 48, 96);
    assert_int_equal(files_in(f.store.folder, path), 1);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(f.store.folder), 0);
    (void)snprintf(path, sizeof path, "%s/a", f.folder);
    assert_int_equal(rmdir(path), 0);
    fixture_fini(&f);
}

static void folder_follows_the_environment(void **state)
{
    struct tune_store store;

    (void)state;
    assert_int_equal(setenv("SCRATCHSCOPE_CACHE_DIR", "own", 1), 0);
    assert_int_equal(setenv("XDG_CACHE_HOME", "/cache", 1), 0);
    assert_int_equal(setenv("HOME", "/home/me", 1), 0);
    tune_store_init(&store);
    assert_string_equal(store.folder, "own");
    assert_int_equal(unsetenv("SCRATCHSCOPE_CACHE_DIR"), 0);
    tune_store_init(&store);
    assert_string_equal(store.folder, "/cache/scratchscope");
    assert_int_equal(setenv("XDG_CACHE_HOME", "relative", 1), 0); /* which the standard forbids */
    tune_store_init(&store);
    assert_string_equal(store.folder, "/home/me/.cache/scratchscope");
    assert_int_equal(unsetenv("HOME"), 0);
    tune_store_init(&store);
    assert_string_equal(store.folder, "");
}

static size_t search(struct fixture *f, bool any_style, size_t pes, struct tune_block *tile)
{
    struct cell cell = f->cell;
    const struct tune_store_key key = {.cell = &cell};

    cell.any_style = any_style;
    cell.pes = pes;
    return tune_store_search(&f->store, &key, POLICY_NESTED, tile);
}

static void search_without_a_device_tells_different_answers_apart(void **state)
{
    struct fixture f;
    struct tune_block tile;

    (void)state;
    fixture_init(&f);
    assert_int_equal(search(&f, true, 0, &tile), 0);
    keep(&f, POLICY_NESTED, 48, 96);
    assert_int_equal(search(&f, true, 0, &tile), 1);
    assert_int_equal(tile.block_m, 48);
    assert_int_equal(tile.block_n, 96);
    f.cell.pes = 5;
    keep(&f, POLICY_NESTED, 48, 96); /* the same tile with other PEs is the same answer */
    assert_int_equal(search(&f, true, 0, &tile), 1);
    f.cell.style = KERNEL_SIMT;
    keep(&f, POLICY_NESTED, 8, 16);
    assert_int_equal(search(&f, true, 0, &tile), 2);
    assert_int_equal(search(&f, false, 0, &tile), 1);
    assert_int_equal(tile.block_m, 8);
    assert_int_equal(search(&f, true, 2, &tile), 1);
    assert_int_equal(tile.block_m, 48);
    f.cell.arena = PE_ARENAS_LOCAL;
    assert_int_equal(search(&f, true, 0, &tile), 0);
    f.cell.arena = PE_ARENAS_GLOBAL;
    f.cell.problem.seq_q = 1;
    assert_int_equal(search(&f, true, 0, &tile), 0);
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_tile_is_found_again),
        cmocka_unit_test(answer_holds_for_any_block_of_the_cell),
        cmocka_unit_test(other_policies_of_a_key_stay),
        cmocka_unit_test(winner_that_was_not_timed_is_not_kept),
        cmocka_unit_test(every_part_of_the_key_counts),
        cmocka_unit_test(two_writers_lose_nothing_of_each_other),
        cmocka_unit_test(damaged_files_are_told_once_and_replaced),
        cmocka_unit_test(file_with_a_senseless_tile_is_told_and_has_none),
        cmocka_unit_test(tile_that_does_not_fit_is_told_and_none),
        cmocka_unit_test(file_without_the_policy_s_tile_is_not_damaged),
        cmocka_unit_test(other_version_is_passed_over_without_a_word),
        cmocka_unit_test(other_key_in_the_file_is_no_answer),
        cmocka_unit_test(folder_that_cannot_be_made_is_told_and_no_failure),
        cmocka_unit_test(folders_above_are_made),
        cmocka_unit_test(search_without_a_device_tells_different_answers_apart),
        cmocka_unit_test(folder_follows_the_environment),
    };
    return cmocka_run_group_tests_name("unit.tune_store", tests, NULL, NULL);
}
