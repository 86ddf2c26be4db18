#include "host/app/title.h"

#include "host/base/units.h"

void title_count(const char *name, size_t count, FILE *file)
{
    char text[UNITS_TEXT_BYTES];

    (void)fprintf(file, "%s%s", name, units_format_count(count, text));
}

void title_shape(const struct cell *cell, bool block, FILE *file)
{
    const struct problem *problem = &cell->problem;

    (void)fprintf(file, "%s: %s", cell->preset, dtype_name(problem->dtype));
    if (block) {
        title_count(", block ", problem->block_m, file);
        title_count(" x ", problem->block_n, file);
    }
    title_count(", head_dim ", problem->head_dim, file);
    if (problem->head_dim_v != problem->head_dim) {
        title_count(" / ", problem->head_dim_v, file);
    }
    title_count(", heads ", problem->q_heads, file);
    if (problem->kv_heads != problem->q_heads) {
        title_count(" / ", problem->kv_heads, file);
    }
    title_count(", seq_q ", problem->seq_q, file);
    if (problem->batch != 1) {
        title_count(", batch ", problem->batch, file);
    }
}

void title_mask(const struct problem *problem, FILE *file)
{
    if (problem->causal) {
        (void)fprintf(file, ", causal");
    }
    if (problem->window_left >= 0 || problem->window_right >= 0) {
        (void)fprintf(file, ", window %lld,%lld", (long long)problem->window_left,
                      (long long)problem->window_right);
    }
    if (problem->softcap != 0.0) {
        (void)fprintf(file, ", softcap %g", problem->softcap);
    }
    (void)fprintf(file, "%s%s%s", problem->alibi ? ", ALiBi" : "", problem->sinks ? ", sinks" : "",
                  problem->mask ? ", mask" : "");
    if (problem->scale != 0.0) {
        (void)fprintf(file, ", scale %g", problem->scale);
    }
}
