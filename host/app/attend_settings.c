/* The option table of attend: each option has one value. */
#include "host/app/attend.h"

#include "host/app/format.h"
#include "host/app/option_rows.h"
#include "host/app/settings.h"
#include "host/scratch/arena.h"

#include <stddef.h>

#define AT(member) offsetof(struct attend_settings, member)

enum { FOR_ATTEND = 1 };

/* Of a tile, where nothing is said. */
enum { STANDARD_BLOCK_M = 32, STANDARD_BLOCK_N = 64 };

static const char *const command_names[] = {"attend"};

static const char section_files[] = "Files:";
static const char section_mask[] = "Attention:";
static const char section_memory[] = "Scratch:";
static const char section_device[] = "Where it runs:";
static const char section_results[] = "Check and results:";

static const struct option options[] = {
    {.name = "q",
     .type = OPTION_TEXT,
     .commands = FOR_ATTEND,
     .offset = AT(q),
     .section = section_files,
     .argument = "Q.npy",
     .help = "queries [batch, q_heads, seq_q, head_dim]; batch, or batch and heads, may be left "
             "out in all three"},
    {.name = "k",
     .type = OPTION_TEXT,
     .commands = FOR_ATTEND,
     .offset = AT(k),
     .section = section_files,
     .argument = "K.npy",
     .help = "keys [batch, kv_heads, seq_kv, head_dim]; kv_heads divides q_heads"},
    {.name = "v",
     .type = OPTION_TEXT,
     .commands = FOR_ATTEND,
     .offset = AT(v),
     .section = section_files,
     .argument = "V.npy",
     .help = "values [batch, kv_heads, seq_kv, head_dim_v]"},
    {.name = "out",
     .type = OPTION_TEXT,
     .commands = FOR_ATTEND,
     .offset = AT(out),
     .section = section_files,
     .argument = "O.npy",
     .help = "written: the result [batch, q_heads, seq_q, head_dim_v], f32"},
    {.name = "lse",
     .type = OPTION_TEXT,
     .commands = FOR_ATTEND,
     .offset = AT(lse),
     .section = section_files,
     .argument = "L.npy",
     .help = "written: log of the sum of exp(score) [batch, q_heads, seq_q], f32"},
    OPTION_ROW_CAUSAL(FOR_ATTEND, section_mask),
    OPTION_ROW_WINDOW(FOR_ATTEND, section_mask, "-1,-1"),
    OPTION_ROW_SOFTCAP(FOR_ATTEND, section_mask, "none"),
    OPTION_ROW_ALIBI(FOR_ATTEND, section_mask),
    {.name = "sinks",
     .type = OPTION_TEXT,
     .commands = FOR_ATTEND,
     .offset = AT(sinks),
     .section = section_mask,
     .argument = "S.npy",
     .standard = "none",
     .help = "[q_heads]: a logit a head that takes part in the softmax without a value"},
    {.name = "mask",
     .type = OPTION_TEXT,
     .commands = FOR_ATTEND,
     .offset = AT(mask),
     .section = section_mask,
     .argument = "M.npy",
     .standard = "none",
     .help = "[seq_q, seq_kv], added to the scores of every head; -inf hides"},
    OPTION_ROW_SCALE(FOR_ATTEND, section_mask),
    {.name = "policy",
     .type = OPTION_WORD,
     .commands = FOR_ATTEND,
     .offset = AT(policy),
     .words = "unscoped|scoped|nested",
     .section = section_memory,
     .argument = "unscoped|scoped|nested",
     .standard = "nested",
     .help = "which scopes count: none, the tile's, all"},
    {.name = "dtype",
     .type = OPTION_WORD,
     .commands = FOR_ATTEND,
     .offset = AT(dtype),
     .words = "f32|f16",
     .section = section_memory,
     .argument = "f32|f16",
     .standard = "f16 if q, k and v are, else f32",
     .help = "storage of q, k, v and p"},
    {.name = "block",
     .type = OPTION_BLOCK,
     .commands = FOR_ATTEND,
     .offset = AT(block),
     .section = section_memory,
     .argument = "auto|MxN",
     .standard = "32x64",
     .help = "--block-m and --block-n at once. auto: the fastest tile that was found for such a "
             "problem on this device; if none was yet, it is looked for, for a minute at most"},
    {.name = "block-m",
     .type = OPTION_COUNT,
     .commands = FOR_ATTEND,
     .offset = AT(block_m),
     .minimum = 1,
     .section = section_memory,
     .argument = "N",
     .standard = "32",
     .help = "query rows of an item"},
    {.name = "block-n",
     .type = OPTION_COUNT,
     .commands = FOR_ATTEND,
     .offset = AT(block_n),
     .minimum = 1,
     .section = section_memory,
     .argument = "N",
     .standard = "64",
     .help = "keys and values of a tile"},
    {.name = "parts",
     .type = OPTION_COUNT,
     .commands = FOR_ATTEND,
     .offset = AT(parts),
     .minimum = 1,
     .maximum = PROBLEM_MAX_PARTS,
     .section = section_memory,
     .argument = "N",
     .standard = "1",
     .help = "items that share the tiles of a block of rows (split-KV), for few queries on many "
             "keys"},
    {.name = "pool",
     .type = OPTION_POOL,
     .commands = FOR_ATTEND,
     .offset = AT(pool),
     .minimum = ARENA_DEFAULT_ALIGNMENT,
     .section = section_memory,
     .argument = "SIZE|grow",
     .standard = "1MiB",
     .help = "scratch bytes of one PE, 128 or more. grow: what the problem needs"},
    {.name = "arena",
     .type = OPTION_WORD,
     .commands = FOR_ATTEND,
     .offset = AT(arena),
     .words = "global|local",
     .section = section_memory,
     .argument = "global|local",
     .standard = "global",
     .help = "where the scratch is: global memory, or the local memory of each work-group, where "
             "the pool is at most what the device has, less a guard of 1 KiB"},
    OPTION_ROW_PES(FOR_ATTEND, section_device),
    OPTION_ROW_DEVICE(FOR_ATTEND, section_device),
    OPTION_ROW_KERNEL(FOR_ATTEND, section_device),
    OPTION_ROW_BIND(FOR_ATTEND, section_device),
    {.name = "verify",
     .type = OPTION_FLAG,
     .commands = FOR_ATTEND,
     .offset = AT(verify),
     .section = section_results,
     .help = "compare all rows with the reference (of a large problem a sample), not just a few"},
    {.name = "format",
     .type = OPTION_WORD,
     .commands = FOR_ATTEND,
     .offset = AT(format),
     .words = "table|json",
     .section = section_results,
     .argument = "table|json",
     .standard = "table",
     .help = "of what is printed"},
};

static const struct option_table table = {
    .options = options,
    .count = sizeof options / sizeof options[0],
    .commands = command_names,
};

void attend_settings_help(FILE *file)
{
    options_help(&table, 0, file);
}

static enum status check_files(const struct attend_settings *settings)
{
    const struct {
        const char *name;
        const char *path;
        const char *what;
    } files[] = {
        {"--q", settings->q, "the queries, a .npy file"},
        {"--k", settings->k, "the keys, a .npy file"},
        {"--v", settings->v, "the values, a .npy file"},
        {"--out", settings->out, "the .npy file that the result goes to"},
        {"--lse", settings->lse, "the .npy file that the LSE goes to"},
    };

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (files[i].path == NULL) {
            enum status status =
                STATUS_FAIL(STATUS_BAD_INPUT, files[i].name, "it is missing: %s", files[i].what);
            status_hint("scratchscope attend --help lists the options");
            return status;
        }
    }
    return STATUS_OK;
}

/* Causal hides every key after the query's own: a reach to the right contradicts it. */
static enum status check_window(const struct attend_settings *settings)
{
    if (!settings->causal || settings->window.right <= 0) {
        return STATUS_OK;
    }
    enum status status =
        STATUS_FAIL(STATUS_BAD_INPUT, "--window",
                    "%lld keys after the query's own contradict --causal, which hides them",
                    (long long)settings->window.right);
    status_hint("--window %lld,0", (long long)settings->window.left);
    return status;
}

static enum status set_block(struct attend_settings *settings)
{
    const struct options_block *block = &settings->block;

    if ((block->automatic || block->rows != 0) &&
        (settings->block_m != 0 || settings->block_n != 0)) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "--block", "it sets what %s sets: give one of them",
                           settings->block_m != 0 ? "--block-m" : "--block-n");
    }
    if (block->rows != 0) {
        settings->block_m = block->rows;
        settings->block_n = block->keys;
    }
    settings->block_m = settings->block_m != 0 ? settings->block_m : STANDARD_BLOCK_M;
    settings->block_n = settings->block_n != 0 ? settings->block_n : STANDARD_BLOCK_N;
    return STATUS_OK;
}

enum status attend_settings_parse(int argc, char **argv, struct attend_settings *out, bool *help)
{
    enum status status = STATUS_OK;

    *out = (struct attend_settings){
        .window = {.left = -1, .right = -1},
        .parts = 1,
        .policy = POLICY_NESTED,
        .dtype = DTYPE_COUNT,
        .pool = {.bytes = (size_t)1 << 20},
        .format = FORMAT_TABLE,
    };
    STATUS_TRY(options_parse(&table, 0, argc, argv, out, help));
    if (!*help) {
        STATUS_TRY(check_files(out));
        STATUS_TRY(check_window(out));
        STATUS_TRY(set_block(out));
    }
out:
    return status;
}
