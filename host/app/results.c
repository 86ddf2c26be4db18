#include "host/app/results.h"

#include <stdlib.h>
#include <string.h>

enum status results_init(struct results *results, struct cell_list *list, bool planned)
{
    *results = (struct results){.list = list, .planned = planned};
    results->of_cell = calloc(list->count > 0 ? list->count : 1, sizeof *results->of_cell);
    if (results->of_cell == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "results", "no memory for %zu rows", list->count);
    }
    return STATUS_OK;
}

void results_fini(struct results *results)
{
    for (size_t i = 0; results->of_cell != NULL && i < results->list->count; i++) {
        rows_fini(&results->of_cell[i]);
    }
    free(results->of_cell);
    rows_fini(&results->extra);
    free(results->ratios);
    *results = (struct results){0};
}

enum status results_set(struct results *results, size_t index, const struct rows_source *source)
{
    results->list->cells[index].pool_bytes = source->cell->pool_bytes;
    if (results->of_cell[index].count > 0) {
        return STATUS_OK;
    }
    return rows_add_cell(&results->of_cell[index], source);
}

static struct cell_ratio *find_ratio(const struct results *results, const char *group,
                                     enum policy numerator, enum policy denominator)
{
    for (size_t i = 0; i < results->ratio_count; i++) {
        struct cell_ratio *ratio = &results->ratios[i];
        if (ratio->numerator == numerator && ratio->denominator == denominator &&
            strcmp(ratio->group, group) == 0) {
            return ratio;
        }
    }
    return NULL;
}

enum status results_add_ratio(struct results *results, const struct cell_ratio *ratio)
{
    struct cell_ratio *there =
        find_ratio(results, ratio->group, ratio->numerator, ratio->denominator);
    if (there != NULL) {
        *there = *ratio;
        return STATUS_OK;
    }
    if (results->ratio_count == results->ratio_room) {
        size_t room = results->ratio_room == 0 ? 16 : results->ratio_room * 2;
        struct cell_ratio *ratios = realloc(results->ratios, room * sizeof *ratios);
        if (ratios == NULL) {
            return STATUS_FAIL(STATUS_NO_MEMORY, "results", "no memory for %zu ratios", room);
        }
        results->ratios = ratios;
        results->ratio_room = room;
    }
    results->ratios[results->ratio_count++] = *ratio;
    return STATUS_OK;
}

const struct cell_ratio *results_ratio(const struct results *results, const char *group,
                                       enum policy numerator, enum policy denominator)
{
    return find_ratio(results, group, numerator, denominator);
}

size_t results_done(const struct results *results)
{
    size_t done = 0;

    for (size_t i = 0; i < results->list->count; i++) {
        done += results->of_cell[i].count > 0 ? 1 : 0;
    }
    return done;
}

size_t results_wrong(const struct results *results)
{
    size_t wrong = 0;

    for (size_t i = 0; i < results->list->count; i++) {
        const struct rows *rows = &results->of_cell[i];
        wrong += rows->count > 0 && row_is_wrong(&rows->items[0]) ? 1 : 0;
    }
    return wrong;
}

size_t results_find(const struct results *results, const char *run_name)
{
    size_t i = 0;

    while (i < results->list->count && strcmp(results->list->cells[i].name, run_name) != 0) {
        i++;
    }
    return i;
}
