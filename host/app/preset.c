#include "host/app/preset.h"

#include <string.h>

/* kv_heads and head_dim_v of a preset equal q_heads and head_dim: cell_list.c lets them follow. */
static const struct preset presets[PRESET_COUNT] = {
    {
        .name = "cap16",
        .summary = "the reference program: unscoped fits 1 MiB up to S = 16",
        .tiles = "1,2,4,8,16,17,32:1024:x2",
        .problem = {.batch = 1,
                    .q_heads = 4,
                    .kv_heads = 4,
                    .seq_q = 128,
                    .head_dim = 128,
                    .head_dim_v = 128,
                    .block_m = 32,
                    .block_n = 64,
                    .dtype = DTYPE_F16,
                    .window_left = -1,
                    .window_right = -1},
        .pool_bytes = (size_t)1 << 20,
    },
    {
        .name = "square4096",
        .summary = "4096 queries on 4096 keys, blocks 128 x 128: S = seq_kv / block_n",
        .tiles = NULL,
        .problem = {.batch = 1,
                    .q_heads = 4,
                    .kv_heads = 4,
                    .seq_q = 4096,
                    .seq_kv = 4096,
                    .head_dim = 128,
                    .head_dim_v = 128,
                    .block_m = 128,
                    .block_n = 128,
                    .dtype = DTYPE_F16,
                    .window_left = -1,
                    .window_right = -1},
        .pool_bytes = (size_t)1 << 20,
    },
};

const struct preset *preset_at(size_t index)
{
    return &presets[index < PRESET_COUNT ? index : 0];
}

const char *preset_intern(const char *name)
{
    for (size_t i = 0; i < PRESET_COUNT; i++) {
        if (strcmp(presets[i].name, name) == 0) {
            return presets[i].name;
        }
    }
    return "";
}
