/* A model's preset is one layer's attention of one sequence. Prefill takes a prompt, or where a
 * window is wider than a short prompt the last chunk of a long one, so that the window hides keys;
 * decode takes one query on a cache of 8192 keys, its packed heads in one block, split in 8 parts.
 *
 * A window of W tokens counts the query's own (transformers, vLLM, the models' reference code), so
 * that W - 1 keys before it are visible. */
#include "host/app/preset.h"

#include <string.h>

#define POOL_BYTES ((size_t)1 << 20)

#define COMMON .batch = 1, .dtype = DTYPE_F16
#define NO_WINDOW .window_left = -1, .window_right = -1
#define WINDOW(tokens_) .window_left = (tokens_)-1, .window_right = 0
#define HEADS(q_, kv_, dim_, dim_v_)                                                               \
    .q_heads = (q_), .kv_heads = (kv_), .head_dim = (dim_), .head_dim_v = (dim_v_)
#define BLOCK(m_, n_) .block_m = (m_), .block_n = (n_)
#define SEQ(q_, kv_) .seq_q = (q_), .seq_kv = (kv_)
#define DECODE SEQ(1, 8192), .causal = true, .parts = 8

/* Dubey et al. 2024, "The Llama 3 Herd of Models", table 3: 8B has 4096 / 32 = 128 columns a head,
 * 70B has 8192 / 64 = 128; both 8 key/value heads. */
#define LLAMA3 "Dubey et al. 2024, arXiv:2407.21783, table 3"

/* Gemma Team 2024, "Gemma 2", table 1 (9B) and section 2: every other layer has a local window of
 * 4096; attention logits are capped at 50. Its scale is 1 / sqrt(256), of head_dim (config.json:
 * query_pre_attn_scalar 256). */
#define GEMMA2 "Gemma Team 2024, arXiv:2408.00118, table 1, section 2"

/* Jiang et al. 2023, "Mistral 7B", table 1. */
#define MISTRAL "Jiang et al. 2023, arXiv:2310.06825, table 1"

/* OpenAI 2025, "gpt-oss-120b & gpt-oss-20b Model Card", attention: 64 query heads of 64 columns, 8
 * key/value heads, a learned sink a head; layers alternate between a banded window of 128 tokens
 * and full attention. */
#define GPT_OSS "OpenAI 2025, gpt-oss model card, arXiv:2508.10925"

static const struct preset presets[PRESET_COUNT] = {
    {
        .name = "cap16",
        .summary = "the reference program: unscoped fits 1 MiB up to S = 16",
        .tiles = "1,2,4,8,16,17,32:1024:x2",
        .problem = {COMMON, NO_WINDOW, HEADS(4, 4, 128, 128), BLOCK(32, 64), SEQ(128, 0)},
        .pool_bytes = POOL_BYTES,
    },
    {
        /* 48 KiB is what many GPUs report as the local memory of a work-group. */
        .name = "chip48",
        .summary = "in local memory: unscoped fits 48 KiB up to S = 2",
        .tiles = "1,2,3,4,8,16:1024:x4",
        .problem = {COMMON, NO_WINDOW, HEADS(4, 4, 64, 64), BLOCK(16, 32), SEQ(64, 0)},
        .pool_bytes = (size_t)48 << 10,
        .arena = PE_ARENAS_LOCAL,
    },
    {
        .name = "square4096",
        .summary = "4096 queries on 4096 keys, 4 heads of 128",
        .problem = {COMMON, NO_WINDOW, HEADS(4, 4, 128, 128), BLOCK(128, 128), SEQ(4096, 4096)},
        .pool_bytes = POOL_BYTES,
    },
    {
        .name = "llama3-8b-prefill",
        .summary = "2048 tokens, causal, 32 / 8 heads of 128",
        .source = LLAMA3,
        .problem = {COMMON, NO_WINDOW, HEADS(32, 8, 128, 128), BLOCK(64, 64), SEQ(2048, 2048),
                    .causal = true},
        .pool_bytes = POOL_BYTES,
    },
    {
        .name = "llama3-8b-decode",
        .summary = "1 query on 8192 keys, 8 parts, 32 / 8 heads of 128",
        .source = LLAMA3,
        .problem = {COMMON, NO_WINDOW, HEADS(32, 8, 128, 128), BLOCK(4, 64), DECODE},
        .pool_bytes = POOL_BYTES,
    },
    {
        .name = "llama3-70b-prefill",
        .summary = "1024 tokens, causal, 64 / 8 heads of 128",
        .source = LLAMA3,
        .problem = {COMMON, NO_WINDOW, HEADS(64, 8, 128, 128), BLOCK(64, 64), SEQ(1024, 1024),
                    .causal = true},
        .pool_bytes = POOL_BYTES,
    },
    {
        .name = "llama3-70b-decode",
        .summary = "1 query on 8192 keys, 8 parts, 64 / 8 heads of 128",
        .source = LLAMA3,
        .problem = {COMMON, NO_WINDOW, HEADS(64, 8, 128, 128), BLOCK(8, 64), DECODE},
        .pool_bytes = POOL_BYTES,
    },
    {
        /* The released config.json: n_head 12, n_embd 768, n_positions 1024. */
        .name = "gpt2-prefill",
        .summary = "1024 tokens, causal, 12 heads of 64",
        .source = "Radford et al. 2019, table 2; config.json of gpt2",
        .problem = {COMMON, NO_WINDOW, HEADS(12, 12, 64, 64), BLOCK(64, 64), SEQ(1024, 1024),
                    .causal = true},
        .pool_bytes = POOL_BYTES,
    },
    {
        .name = "gemma2-9b-prefill",
        .summary = "last 256 of 8192 tokens, window 4096, softcap 50",
        .source = GEMMA2,
        .problem = {COMMON, WINDOW(4096), HEADS(16, 8, 256, 256), BLOCK(64, 64), SEQ(256, 8192),
                    .causal = true, .softcap = 50.0},
        .pool_bytes = POOL_BYTES,
    },
    {
        .name = "gemma2-9b-decode",
        .summary = "1 query, window 4096 of 8192 keys, 8 parts, softcap 50",
        .source = GEMMA2,
        .problem = {COMMON, WINDOW(4096), HEADS(16, 8, 256, 256), BLOCK(2, 64), DECODE,
                    .softcap = 50.0},
        .pool_bytes = POOL_BYTES,
    },
    {
        .name = "mistral-7b-prefill",
        .summary = "last 256 of 8192 tokens, window 4096, 32 / 8 heads",
        .source = MISTRAL,
        .problem = {COMMON, WINDOW(4096), HEADS(32, 8, 128, 128), BLOCK(64, 64), SEQ(256, 8192),
                    .causal = true},
        .pool_bytes = POOL_BYTES,
    },
    {
        .name = "mistral-7b-decode",
        .summary = "1 query, window 4096 of 8192 keys, 8 parts",
        .source = MISTRAL,
        .problem = {COMMON, WINDOW(4096), HEADS(32, 8, 128, 128), BLOCK(4, 64), DECODE},
        .pool_bytes = POOL_BYTES,
    },
    {
        .name = "gpt-oss-20b-prefill",
        .summary = "2048 tokens, sinks, window 128: a banded layer",
        .source = GPT_OSS,
        .problem = {COMMON, WINDOW(128), HEADS(64, 8, 64, 64), BLOCK(64, 64), SEQ(2048, 2048),
                    .causal = true, .sinks = true},
        .pool_bytes = POOL_BYTES,
    },
    {
        .name = "gpt-oss-20b-decode",
        .summary = "1 query on 8192 keys, 8 parts, sinks: a full layer",
        .source = GPT_OSS,
        .problem = {COMMON, NO_WINDOW, HEADS(64, 8, 64, 64), BLOCK(8, 64), DECODE, .sinks = true},
        .pool_bytes = POOL_BYTES,
    },
    {
        /* 128 heads; q and k have 128 columns and 64 more with the rotary embedding, v has 128.
         * DeepSeek-V3 (arXiv:2412.19437, section 4.2) has the same. */
        .name = "deepseek-mla-prefill",
        .summary = "1024 tokens, causal, 128 heads of 192 / 128",
        .source = "DeepSeek-AI 2024, arXiv:2405.04434, section 3.1.2",
        .problem = {COMMON, NO_WINDOW, HEADS(128, 128, 192, 128), BLOCK(64, 64), SEQ(1024, 1024),
                    .causal = true},
        .pool_bytes = POOL_BYTES,
    },
    {
        /* 224 x 224 pixels in patches of 16 x 16 are 196 tokens, and one is the class token;
         * 768 / 12 = 64 columns a head. */
        .name = "vit-b16",
        .summary = "197 tokens, 12 heads of 64, no mask",
        .source = "Dosovitskiy et al. 2021, arXiv:2010.11929, table 1",
        .problem = {COMMON, NO_WINDOW, HEADS(12, 12, 64, 64), BLOCK(64, 64), SEQ(197, 197)},
        .pool_bytes = POOL_BYTES,
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

size_t preset_kv_heads(const struct preset *preset, size_t q_heads)
{
    bool follows = preset->problem.kv_heads == preset->problem.q_heads;

    return follows ? q_heads : preset->problem.kv_heads;
}

size_t preset_head_dim_v(const struct preset *preset, size_t head_dim)
{
    bool follows = preset->problem.head_dim_v == preset->problem.head_dim;

    return follows ? head_dim : preset->problem.head_dim_v;
}
