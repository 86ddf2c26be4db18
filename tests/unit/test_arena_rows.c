/* Where the arenas are, as results tell it: the row's key, the context's settings, and the table of
 * rows in local memory. */
#include "host/app/writers.h"
#include "tests/unit/app_fixture.h"

struct fixture {
    struct cell_list list;
    struct results results;
    struct app_machine machine;
    struct report report;
};

/* Unscoped on a device with 30,000 bytes of local memory: S = 2 does not fit. */
static void fixture_init(struct fixture *f, const char *line)
{
    app_cells(line, &f->list);
    cell_list_local(&f->list, 30000);
    assert_int_equal(results_init(&f->results, &f->list, false), STATUS_OK);
    app_machine_init(&f->machine);
    f->machine.context.arena = f->list.cells[0].arena;
    f->report = (struct report){.results = &f->results, .context = &f->machine.context};
    for (size_t i = 0; i < f->list.count; i++) {
        app_measure(&f->results, i);
    }
}

static void fixture_fini(struct fixture *f)
{
    results_fini(&f->results);
    cell_list_fini(&f->list);
}

static char *written(const struct fixture *f,
                     enum status (*write)(const struct report *report, FILE *file))
{
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);

    assert_non_null(file);
    assert_int_equal(write(&f->report, file), STATUS_OK);
    assert_int_equal(fclose(file), 0);
    return text;
}

static enum status plain_table(const struct report *report, FILE *file)
{
    return write_table(report, false, file);
}

static void assert_says(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("\"%s\" is not in:\n%s", part, text);
    }
}

static void table_tells_of_local_memory_and_the_pool_it_leaves(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--preset chip48 --tiles 1,2 --policy unscoped");
    char *text = written(&f, plain_table);
    assert_says(text, "pool 28.3 KiB x 2 PEs in local memory, simd kernel");
    assert_says(text, "OVERFLOW: k of tile 2 asks 4,096, 3,328 free");
    assert_says(text, "fits 28.3 KiB up to S = 1, overflows from S = 2");
    free(text);
    fixture_fini(&f);
}

static void table_tells_of_a_pool_that_grows_past_local_memory(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--preset chip48 --tiles 1,2 --policy unscoped --pool grow");
    char *text = written(&f, plain_table);
    assert_says(text, "pool as needed x 2 PEs in local memory, simd kernel");
    assert_says(text, "OVERFLOW: the device has 30,000 bytes of local memory, 38,912 are needed");
    free(text);
    fixture_fini(&f);
}

static void table_of_global_arenas_says_nothing_of_local_memory(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--preset chip48 --tiles 1 --arena global");
    char *text = written(&f, plain_table);
    assert_says(text, "pool 48 KiB x 2 PEs, simd kernel");
    free(text);
    fixture_fini(&f);
}

static void json_tells_the_arena_in_rows_and_settings(void **state)
{
    static const char *const arenas[] = {"global", "local"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct fixture f;
        char line[64];
        (void)snprintf(line, sizeof line, "--tiles 1 --policy nested --arena %s", arenas[i]);
        fixture_init(&f, line);
        char *text = written(&f, write_json);
        json_t *file = json_loads(text, 0, NULL);
        const json_t *settings = json_object_get(json_object_get(file, "context"), "settings");
        const json_t *row = json_array_get(json_object_get(file, "benchmarks"), 0);
        assert_string_equal(json_string_value(json_object_get(row, "arena")), arenas[i]);
        assert_string_equal(json_string_value(json_object_get(settings, "arena")), arenas[i]);
        json_decref(file);
        free(text);
        fixture_fini(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_tells_of_local_memory_and_the_pool_it_leaves),
        cmocka_unit_test(table_tells_of_a_pool_that_grows_past_local_memory),
        cmocka_unit_test(table_of_global_arenas_says_nothing_of_local_memory),
        cmocka_unit_test(json_tells_the_arena_in_rows_and_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
