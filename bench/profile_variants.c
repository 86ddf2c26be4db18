/* What each part of a profile is: build options, and the table that goes with them. */
#include "bench/profile.h"

#include "host/base/text.h"
#include "kernels/layout.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct variant {
    const char *name;
    enum profile_kind kind;
    const char *defines; /* NULL: list_offsets */
    const char *what;
};

#define TWICE(name_, macro_, what_)                                                                \
    {                                                                                              \
        (name_), PROFILE_TWICE, "-D" macro_ "=2", (what_)                                          \
    }
#define LEFT_OUT(name_, macro_, what_)                                                             \
    {                                                                                              \
        (name_), PROFILE_LEFT_OUT, "-D" macro_ "=0", (what_)                                       \
    }

static const struct variant variants[PROFILE_PARTS] = {
    TWICE("keys", "STAGE_KEYS", "k into the arena"),
    TWICE("scores", "STAGE_SCORES", "s = q k^T, scale and mask"),
    TWICE("softmax", "STAGE_SOFTMAX", "m_new, alpha, p, l_new"),
    TWICE("staging", "STAGE_STAGING", "v into the arena"),
    TWICE("values", "STAGE_VALUES", "acc_new = alpha acc + p v"),
    TWICE("copies", "STAGE_COPIES", "copy_to of l and acc"),
    LEFT_OUT("keys", "STAGE_KEYS", "k into the arena"),
    LEFT_OUT("staging", "STAGE_STAGING", "v into the arena"),
    {"table", PROFILE_TAX, NULL, "constants in place of the offset table"},
    {"staging", PROFILE_TAX, "-DVALUES_DIRECT=1 -DSTAGE_STAGING=0",
     "v read from its source, not from the arena"},
    {"copy_to", PROFILE_TAX, "-DSTAGE_COPIES=0", "l_new and acc_new at the place of l and acc"},
};

enum { TABLE_PART = 8, STAGING_PART = 9, COPY_TO_PART = 10 };

static void list_offsets(const struct offset_table *table, char defines[PROFILE_DEFINES_BYTES])
{
    struct text text = text_begin(defines, PROFILE_DEFINES_BYTES);
    for (size_t i = 0; i < table->columns; i++) {
        text_add(&text, "%s%" PRIu64, i == 0 ? "-DTABLE_CONSTANTS=" : ",", table->cells[i]);
    }
}

static const char *why_not(size_t index, const struct problem *problem,
                           const struct offset_table *plain)
{
    if (index == TABLE_PART && plain->row_stride != 0) {
        return "every tile has offsets of its own";
    }
    if (index == STAGING_PART && problem->seq_kv % problem->block_n != 0) {
        return "the last tile is cut: its source ends before it";
    }
    if (index == STAGING_PART && problem->head_dim_v % LAYOUT_PITCH_ELEMS != 0) {
        return "head_dim_v is no multiple of 16";
    }
    return NULL;
}

void profile_variant(size_t index, const struct problem *problem, const struct offset_table *plain,
                     struct profile_part *part, struct offset_table *table)
{
    const struct variant *variant = &variants[index];
    *part = (struct profile_part){
        .name = variant->name,
        .kind = variant->kind,
        .what = variant->what,
        .why = why_not(index, problem, plain),
        .check = PROFILE_NONE,
        .share = (double)NAN,
        .lower = (double)NAN,
        .upper = (double)NAN,
        .noise_floor = (double)NAN,
    };
    if (variant->defines == NULL) {
        list_offsets(plain, part->defines);
    } else {
        memcpy(part->defines, variant->defines, strlen(variant->defines) + 1);
    }
    memcpy(table->cells, plain->cells, plain->rows * plain->columns * sizeof *plain->cells);
    for (size_t row = 0; index == COPY_TO_PART && row < table->rows; row++) {
        uint64_t *cells = table->cells + row * table->columns;
        cells[TABLE_L_NEW] = cells[TABLE_L];
        cells[TABLE_ACC_NEW] = cells[TABLE_ACC];
    }
}

void profile_judge(const struct pairs_ratio *ratio, double noise_floor, struct profile_part *part)
{
    const bool twice = part->kind == PROFILE_TWICE;
    part->share = twice ? ratio->ratio - 1.0 : 1.0 - ratio->ratio;
    part->lower = twice ? ratio->lower - 1.0 : 1.0 - ratio->upper;
    part->upper = twice ? ratio->upper - 1.0 : 1.0 - ratio->lower;
    part->noise_floor = noise_floor;
    part->clear = part->lower > noise_floor || part->upper < -noise_floor;
}

const char *profile_kind_name(enum profile_kind kind)
{
    switch (kind) {
    case PROFILE_TWICE:
        return "twice";
    case PROFILE_LEFT_OUT:
        return "left out";
    case PROFILE_TAX:
        return "tax";
    }
    return "";
}

const char *profile_check_name(enum profile_check check)
{
    switch (check) {
    case PROFILE_RIGHT:
        return "right";
    case PROFILE_WRONG:
        return "WRONG";
    case PROFILE_TIMING_ONLY:
        return "timing only";
    case PROFILE_NONE:
        return "none";
    }
    return "";
}
