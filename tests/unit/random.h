/* Random numbers that a seed repeats (splitmix64), for tests against a model. */
#ifndef TESTS_UNIT_RANDOM_H
#define TESTS_UNIT_RANDOM_H

#include "tests/unit/unit.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

struct random {
    uint64_t state;
};

static inline uint64_t random_next(struct random *random)
{
    random->state += 0x9E3779B97F4A7C15U;
    uint64_t z = random->state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
}

/* 0..count - 1 */
static inline size_t random_below(struct random *random, size_t count)
{
    return (size_t)(random_next(random) % count);
}

/* Runs `run` with the seeds 1..count and one that nobody has seen, or with SCRATCHSCOPE_SEED alone.
 * The seed is printed before its run, so that the last one printed is the one that failed. */
static inline void random_for_seeds(uint64_t count, void (*run)(uint64_t seed))
{
    const char *chosen = getenv("SCRATCHSCOPE_SEED");
    if (chosen != NULL) {
        print_message("seed %s\n", chosen);
        run(strtoull(chosen, NULL, 10));
        return;
    }
    for (uint64_t seed = 1; seed <= count; seed++) {
        print_message("seed %llu\n", (unsigned long long)seed);
        run(seed);
    }
    uint64_t fresh = (uint64_t)time(NULL);
    print_message("seed %llu\n", (unsigned long long)fresh);
    run(fresh);
}

#endif
