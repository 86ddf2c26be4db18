/* Problems that the unit tests of host/attention share: the reference preset, random small ones,
 * options for them, and visibility and slopes by their definition. */
#ifndef TESTS_UNIT_ATTENTION_FIXTURE_H
#define TESTS_UNIT_ATTENTION_FIXTURE_H

#include "host/attention/problem.h"
#include "tests/unit/random.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>

/* The preset cap16 at S tiles: 16 items of 32 rows. */
static inline struct problem cap16_problem(size_t tiles)
{
    return (struct problem){
        .batch = 1,
        .q_heads = 4,
        .kv_heads = 4,
        .seq_q = 128,
        .seq_kv = 64 * tiles,
        .head_dim = 128,
        .head_dim_v = 128,
        .block_m = 32,
        .block_n = 64,
        .dtype = DTYPE_F16,
        .window_left = -1,
        .window_right = -1,
    };
}

/* Seed 1, or that of SCRATCHSCOPE_TEST_SEED; printed. */
static inline struct random random_start(void)
{
    const char *text = getenv("SCRATCHSCOPE_TEST_SEED");
    struct random random = {.state = text != NULL ? strtoull(text, NULL, 10) : 1};

    print_message("seed %llu\n", (unsigned long long)random.state);
    return random;
}

/* A number in [least, most]. */
static inline size_t random_in(struct random *random, size_t least, size_t most)
{
    return least + random_below(random, most - least + 1);
}

/* No bound, bounds at the end of the type, and those that cut a small problem. */
static inline int64_t random_reach(struct random *random)
{
    static const int64_t extreme[] = {-1, -1, INT64_MAX, INT64_MAX - 3, 0};
    size_t kind = random_below(random, 10);

    return kind < 5 ? extreme[kind] : (int64_t)random_in(random, 0, 60);
}

static inline struct problem random_problem(struct random *random)
{
    size_t kv_heads = random_in(random, 1, 3);

    return (struct problem){
        .batch = random_in(random, 1, 2),
        .q_heads = kv_heads * random_in(random, 1, 4),
        .kv_heads = kv_heads,
        .seq_q = random_in(random, 1, 24),
        .seq_kv = random_in(random, 0, 90),
        .head_dim = random_in(random, 1, 20),
        .head_dim_v = random_in(random, 1, 20),
        .block_m = random_in(random, 1, 20),
        .block_n = random_in(random, 1, 20),
        .dtype = random_below(random, 2) == 0 ? DTYPE_F16 : DTYPE_F32,
        .causal = random_below(random, 3) == 0,
        .window_left = random_reach(random),
        .window_right = random_reach(random),
    };
}

/* Each option alone, then each pair of them, by turns: the number of a choice says which. */
enum { OPTION_COUNT = 4, OPTION_CHOICES = OPTION_COUNT * OPTION_COUNT };

static inline void set_option(struct problem *problem, size_t option)
{
    switch (option) {
    case 0:
        problem->softcap = 3.0;
        break;
    case 1:
        problem->alibi = true;
        break;
    case 2:
        problem->sinks = true;
        break;
    default:
        problem->mask = true;
        break;
    }
}

static inline void set_options(struct problem *problem, size_t choice)
{
    set_option(problem, choice % OPTION_COUNT);
    set_option(problem, choice / OPTION_COUNT % OPTION_COUNT);
}

/* A power of two n: the geometric sequence from 2^(-8/n) on with that ratio. Else that of the power
 * below, then the 1st, 3rd, ... of the next power's. */
static inline double definition_of_slope(size_t heads, size_t head)
{
    size_t power = 1;
    double slope, ratio;

    for (; power * 2 <= heads; power *= 2) {
    }
    ratio = pow(2.0, -8.0 / (double)(head < power ? power : 2 * power));
    slope = ratio;
    for (size_t i = 0; i < (head < power ? head : 2 * (head - power)); i++) {
        slope *= ratio;
    }
    return slope;
}

/* Visibility by its definition, without a sum that could wrap. */
static inline bool is_visible(const struct problem *problem, size_t position, size_t key)
{
    int64_t ahead = (int64_t)(key + problem->seq_q) - (int64_t)(position + problem->seq_kv);

    return !(problem->causal && ahead > 0) &&
           !(problem->window_right >= 0 && ahead > problem->window_right) &&
           !(problem->window_left >= 0 && -ahead > problem->window_left);
}

#endif
