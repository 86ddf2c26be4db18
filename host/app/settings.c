#include "host/app/settings.h"

#include "host/base/dtype.h"
#include "host/scratch/arena.h"

#include <stddef.h>

#define FOR_SWEEP (1U << COMMAND_SWEEP)
#define FOR_PLAN (1U << COMMAND_PLAN)
#define FOR_DEVICES (1U << COMMAND_DEVICES)
#define FOR_ROOFLINE (1U << COMMAND_ROOFLINE)
#define FOR_PROFILE (1U << COMMAND_PROFILE)
#define FOR_TUNE (1U << COMMAND_TUNE)
#define FOR_ROWS (FOR_SWEEP | FOR_PLAN)
#define FOR_CELLS (FOR_ROWS | FOR_PROFILE)
#define FOR_PROBLEM (FOR_CELLS | FOR_TUNE)

/* Of --help: where the summaries of presets begin, after two spaces. */
enum { PRESET_COLUMN = 22 };

#define AT(member) offsetof(struct settings, member)

static const char *const command_names[COMMAND_COUNT] = {"sweep",    "plan",    "devices", "attend",
                                                         "roofline", "profile", "tune"};

static const char section_problem[] =
    "Problem (a LIST is 1,2,4:64:x2 or 1:9:+2, 1:9 goes by 1; lists cross):";
static const char section_mask[] = "Mask:";
static const char section_memory[] = "Scratch:";
static const char section_device[] = "Where it runs:";
static const char section_timing[] = "Check and timing:";
static const char section_results[] = "Results:";

/* The one table: parsing, --help and error texts come from it. */
static const struct option options[] = {
    {.name = "preset",
     .type = OPTION_WORD,
     .commands = FOR_PROBLEM,
     .offset = AT(preset),
     .words = PRESET_WORDS,
     .section = section_problem,
     .argument = "NAME",
     .standard = "cap16",
     .help = "a problem of the list below; the other options change it"},
    {.name = "tiles",
     .type = OPTION_COUNTS,
     .commands = FOR_ROWS,
     .offset = AT(tiles),
     .minimum = 1,
     .section = section_problem,
     .argument = "LIST",
     .standard = "cap16: 1,2,4,8,16,17,32:1024:x2",
     .help = "tile counts S; seq_kv = S x block_n. With cap16 and chip48 alone: the others fix "
             "seq_kv. The S "
             "that a row shows is what its longest item walks: fewer under a mask or in parts"},
    {.name = "tiles",
     .type = OPTION_COUNTS,
     .commands = FOR_TUNE,
     .offset = AT(tiles),
     .minimum = 1,
     .section = section_problem,
     .argument = "S",
     .standard = "cap16: 16",
     .help =
         "keys, in tiles of the preset's: seq_kv = S x 64 for cap16, whatever tile is tried. The "
         "other presets fix seq_kv"},
    {.name = "policy",
     .type = OPTION_WORDS,
     .commands = FOR_ROWS | FOR_TUNE,
     .offset = AT(policies),
     .words = "unscoped|scoped|nested",
     .section = section_problem,
     .argument = "NAME,...",
     .standard = "unscoped,scoped,nested",
     .help = "which scopes count: none, the tile's, all"},
    {.name = "tiles",
     .type = OPTION_COUNTS,
     .commands = FOR_PROFILE,
     .offset = AT(tiles),
     .minimum = 1,
     .section = section_problem,
     .argument = "S",
     .standard = "cap16: 16",
     .help = "tiles; seq_kv = S x block_n. With cap16 alone: the others fix seq_kv"},
    {.name = "policy",
     .type = OPTION_WORDS,
     .commands = FOR_PROFILE,
     .offset = AT(policies),
     .words = "unscoped|scoped|nested",
     .section = section_problem,
     .argument = "NAME",
     .standard = "nested",
     .help = "which scopes count: none, the tile's, all"},
    {.name = "dtype",
     .type = OPTION_WORDS,
     .commands = FOR_SWEEP | FOR_PROFILE | FOR_TUNE,
     .offset = AT(dtypes),
     .words = "f32|f16|bf16|f8|i8",
     .section = section_problem,
     .argument = "NAME,...",
     .standard = "f16",
     .help = "storage of q, k, v and p: f16, f32"},
    {.name = "dtype",
     .type = OPTION_WORDS,
     .commands = FOR_PLAN,
     .offset = AT(dtypes),
     .words = "f32|f16|bf16|f8|i8",
     .section = section_problem,
     .argument = "NAME,...",
     .standard = "f16",
     .help = "storage of q, k, v and p: f16, f32, bf16, f8, i8"},
    {.name = "block",
     .type = OPTION_BLOCK,
     .commands = FOR_CELLS,
     .offset = AT(block),
     .section = section_problem,
     .argument = "auto|MxN",
     .standard = "the preset's; cap16: 32x64",
     .help = "--block-m and --block-n at once. auto: the fastest tile that `scratchscope tune` has "
             "found for the problem, pool and device, under the most recycling policy asked for; "
             "sweep and profile first look for one themselves, for a minute at most. With cap16, S "
             "counts tiles of it"},
    {.name = "block-m",
     .type = OPTION_COUNTS,
     .commands = FOR_CELLS,
     .offset = AT(block_m),
     .minimum = 1,
     .section = section_problem,
     .argument = "LIST",
     .standard = "the preset's; cap16: 32",
     .help = "query rows of an item"},
    {.name = "block-n",
     .type = OPTION_COUNTS,
     .commands = FOR_CELLS,
     .offset = AT(block_n),
     .minimum = 1,
     .section = section_problem,
     .argument = "LIST",
     .standard = "the preset's; cap16: 64",
     .help = "keys and values of a tile"},
    {.name = "head-dim",
     .type = OPTION_COUNTS,
     .commands = FOR_PROBLEM,
     .offset = AT(head_dim),
     .minimum = 1,
     .section = section_problem,
     .argument = "LIST",
     .standard = "the preset's; cap16: 128",
     .help = "columns of q and k"},
    {.name = "head-dim-v",
     .type = OPTION_COUNTS,
     .commands = FOR_PROBLEM,
     .offset = AT(head_dim_v),
     .minimum = 1,
     .section = section_problem,
     .argument = "LIST",
     .standard = "the preset's; cap16: as head-dim",
     .help = "columns of v and of the result"},
    {.name = "seq-q",
     .type = OPTION_COUNTS,
     .commands = FOR_PROBLEM,
     .offset = AT(seq_q),
     .minimum = 1,
     .section = section_problem,
     .argument = "LIST",
     .standard = "the preset's; cap16: 128",
     .help = "queries of a head"},
    {.name = "q-heads",
     .type = OPTION_COUNTS,
     .commands = FOR_PROBLEM,
     .offset = AT(q_heads),
     .minimum = 1,
     .section = section_problem,
     .argument = "LIST",
     .standard = "the preset's; cap16: 4",
     .help = "query heads"},
    {.name = "kv-heads",
     .type = OPTION_COUNTS,
     .commands = FOR_PROBLEM,
     .offset = AT(kv_heads),
     .minimum = 1,
     .section = section_problem,
     .argument = "LIST",
     .standard = "the preset's; cap16: as q-heads",
     .help = "key and value heads; must divide the query heads"},
    {.name = "batch",
     .type = OPTION_COUNTS,
     .commands = FOR_PROBLEM,
     .offset = AT(batch),
     .minimum = 1,
     .section = section_problem,
     .argument = "LIST",
     .standard = "1",
     .help = "sequences"},
    {.name = "parts",
     .type = OPTION_COUNTS,
     .commands = FOR_PROBLEM,
     .offset = AT(parts),
     .minimum = 1,
     .maximum = PROBLEM_MAX_PARTS,
     .section = section_problem,
     .argument = "LIST",
     .standard = "the preset's; cap16: 1",
     .help = "items that share the tiles of a block of rows (split-KV), for few queries on many "
             "keys; a merge joins their states"},
    {.name = "causal",
     .type = OPTION_FLAG,
     .commands = FOR_PROBLEM,
     .offset = AT(causal),
     .section = section_mask,
     .help = "hide keys after the query's own, aligned at the bottom right"},
    {.name = "window",
     .type = OPTION_WINDOW,
     .commands = FOR_PROBLEM,
     .offset = AT(window),
     .section = section_mask,
     .argument = "LEFT,RIGHT",
     .standard = "the preset's; cap16: -1,-1",
     .help = "keys visible before and after the query's own; -1 = all"},
    {.name = "softcap",
     .type = OPTION_LIMIT,
     .commands = FOR_PROBLEM,
     .offset = AT(softcap),
     .section = section_mask,
     .argument = "X",
     .standard = "the preset's; cap16: none",
     .help = "bound of the scores: X tanh(score / X)"},
    {.name = "alibi",
     .type = OPTION_FLAG,
     .commands = FOR_PROBLEM,
     .offset = AT(alibi),
     .section = section_mask,
     .help = "linear bias by distance, a slope a head"},
    {.name = "sinks",
     .type = OPTION_FLAG,
     .commands = FOR_PROBLEM,
     .offset = AT(sinks),
     .section = section_mask,
     .help = "a random logit a head that takes part in the softmax without a value"},
    {.name = "mask",
     .type = OPTION_FLAG,
     .commands = FOR_PROBLEM,
     .offset = AT(mask),
     .section = section_mask,
     .help = "a random mask [seq_q, seq_kv] added to the scores, the same for all heads"},
    {.name = "scale",
     .type = OPTION_FACTOR,
     .commands = FOR_PROBLEM,
     .offset = AT(scale),
     .maximum = 1000000,
     .because = "scores are f32, and overflow beyond",
     .section = section_mask,
     .argument = "X",
     .standard = "1 / sqrt(head-dim)",
     .help = "factor of the scores, not 0, at most 1e6 in size"},
    {.name = "pool",
     .type = OPTION_POOL,
     .commands = FOR_PROBLEM,
     .offset = AT(pool),
     .minimum = ARENA_DEFAULT_ALIGNMENT,
     .section = section_memory,
     .argument = "SIZE|grow",
     .standard = "the preset's; cap16: 1MiB",
     .help = "scratch bytes of one PE, 128 or more. grow: what each row needs, so that unscoped "
             "can be timed past its cap"},
    {.name = "arena",
     .type = OPTION_WORD,
     .commands = FOR_SWEEP,
     .offset = AT(arena),
     .words = "global|local",
     .section = section_memory,
     .argument = "global|local",
     .standard = "the preset's; cap16: global",
     .help = "where the arenas are: a buffer in global memory, or each in the local memory of its "
             "work-group, where the pool is at most what the device has, less a guard of 1 KiB"},
    {.name = "arena",
     .type = OPTION_WORD,
     .commands = FOR_PLAN,
     .offset = AT(arena),
     .words = "global|local",
     .section = section_memory,
     .argument = "global|local",
     .standard = "the preset's; cap16: global",
     .help = "where the arenas are; a plan knows no device, so that local is a name alone, and "
             "the pool is what --pool says"},
    {.name = "pes",
     .type = OPTION_COUNT,
     .commands = FOR_SWEEP | FOR_PROFILE | FOR_TUNE,
     .offset = AT(pes),
     .words = "auto",
     .minimum = 1,
     .section = section_device,
     .argument = "auto|N",
     .standard = "auto",
     .help = "processing elements: work-groups, each with a pool of its own. auto: one a core on "
             "a CPU, two a compute unit elsewhere, as far as their pools can be allocated"},
    {.name = "pes",
     .type = OPTION_COUNT,
     .commands = FOR_PLAN,
     .offset = AT(pes),
     .words = "auto",
     .minimum = 1,
     .section = section_device,
     .argument = "auto|N",
     .standard = "auto",
     .help = "processing elements; auto leaves it open, as a plan knows no device"},
    {.name = "pes",
     .type = OPTION_COUNT,
     .commands = FOR_ROOFLINE,
     .offset = AT(pes),
     .words = "auto",
     .minimum = 1,
     .section = section_device,
     .argument = "auto|N",
     .standard = "auto",
     .help = "processing elements that take part; auto: as many as a sweep takes"},
    {.name = "device",
     .type = OPTION_TEXT,
     .commands = FOR_SWEEP | FOR_ROOFLINE | FOR_PROFILE | FOR_TUNE,
     .offset = AT(device),
     .section = section_device,
     .argument = "INDEX|cpu|gpu|NAME",
     .standard = "the first GPU, else the first CPU",
     .help = "index, type or part of the name; `scratchscope devices` lists them"},
    {.name = "kernel",
     .type = OPTION_WORD,
     .commands = FOR_PROBLEM,
     .offset = AT(kernel),
     .words = "auto|simd|simt",
     .section = section_device,
     .argument = "auto|simd|simt",
     .standard = "auto",
     .help = "simd: one work-item a PE, for CPUs; simt: cooperating work-items, for GPUs"},
    {.name = "bind",
     .type = OPTION_WORD,
     .commands = FOR_SWEEP | FOR_ROOFLINE | FOR_PROFILE | FOR_TUNE,
     .offset = AT(bind),
     .words = "auto|none",
     .section = section_device,
     .argument = "auto|none",
     .standard = "auto",
     .help = "auto: each worker thread of PoCL stays on a core of its own, where that can be had; "
             "POCL_AFFINITY, if set, decides instead"},
    {.name = "poison",
     .type = OPTION_FLAG,
     .commands = FOR_SWEEP,
     .offset = AT(poison),
     .section = section_timing,
     .help = "check once more with every freed range filled with 0xFF bytes: the result must stay "
             "the same bit for bit"},
    {.name = "time-limit",
     .type = OPTION_SECONDS,
     .commands = FOR_TUNE,
     .offset = AT(time_limit_s),
     .maximum = SETTINGS_MAX_TUNE_S,
     .section = section_timing,
     .argument = "SECONDS",
     .standard = "60",
     .help = "when to end, about; tiles that have not been timed by then are left"},
    {.name = "repetitions",
     .type = OPTION_COUNT,
     .commands = FOR_SWEEP,
     .offset = AT(repetitions),
     .minimum = 1,
     .maximum = 100000,
     .section = section_timing,
     .argument = "N",
     .standard = "3",
     .help = "timed repetitions of each row"},
    {.name = "min-time",
     .type = OPTION_SECONDS,
     .commands = FOR_SWEEP,
     .offset = AT(min_time_s),
     .maximum = SETTINGS_MAX_MIN_TIME_S,
     .section = section_timing,
     .argument = "SECONDS",
     .standard = "0.05",
     .help = "least time of one repetition: 0.5, 0.5s, 20ms; at most 3600"},
    {.name = "rounds",
     .type = OPTION_COUNT,
     .commands = FOR_PROFILE,
     .offset = AT(rounds),
     .minimum = 1,
     .maximum = 10000,
     .section = section_timing,
     .argument = "N",
     .standard = "8",
     .help = "rounds of each of the 5 blocks that a part is timed in"},
    {.name = "whole",
     .type = OPTION_FLAG,
     .commands = FOR_SWEEP,
     .offset = AT(whole),
     .section = section_timing,
     .help = "time launches over all items; without it one that takes longer than 50 ms is cut to "
             "about an item a PE"},
    {.name = "pairs",
     .type = OPTION_COUNT,
     .commands = FOR_SWEEP,
     .offset = AT(pairs),
     .maximum = 1000,
     .section = section_timing,
     .argument = "N",
     .standard = "5",
     .help = "blocks of interleaved rounds that ratios of policies come from, 5 or more; 0: none, "
             "and no ratios"},
    {.name = "seed",
     .type = OPTION_COUNT,
     .commands = FOR_SWEEP | FOR_PROFILE | FOR_TUNE,
     .offset = AT(seed),
     .maximum = (size_t)INT64_MAX,
     .because = "results are JSON, whose whole numbers end there",
     .section = section_timing,
     .argument = "N",
     .standard = "1",
     .help = "of the random inputs and of the intervals of ratios"},
    {.name = "format",
     .type = OPTION_WORD,
     .commands = FOR_PROBLEM,
     .offset = AT(format),
     .words = FORMAT_WORDS,
     .section = section_results,
     .argument = FORMAT_WORDS,
     .standard = "table",
     .help = "of stdout; with one --output, of that file instead, and stdout gets the table"},
    {.name = "format",
     .type = OPTION_WORD,
     .commands = FOR_DEVICES | FOR_ROOFLINE,
     .offset = AT(format),
     .words = "table|json",
     .section = section_results,
     .argument = "table|json",
     .standard = "table",
     .help = "of stdout"},
    {.name = "output",
     .type = OPTION_TEXTS,
     .commands = FOR_SWEEP,
     .offset = AT(outputs),
     .section = section_results,
     .argument = "FILE",
     .help =
         "write the results to FILE as rows finish: .json, .csv, .md, .txt. May be repeated. - is "
         "stdout. A file that is there is replaced at the first row, unless it is resumed"},
    {.name = "output",
     .type = OPTION_TEXTS,
     .commands = FOR_PLAN | FOR_PROFILE | FOR_TUNE,
     .offset = AT(outputs),
     .section = section_results,
     .argument = "FILE",
     .help = "write the results to FILE: .json, .csv, .md, .txt. May be repeated. - is "
             "stdout. A file that is there is replaced"},
    {.name = "resume",
     .type = OPTION_FLAG,
     .commands = FOR_SWEEP,
     .offset = AT(resume),
     .section = section_results,
     .help = "keep the rows that the JSON --output file has, and measure the missing ones"},
    {.name = "force",
     .type = OPTION_FLAG,
     .commands = FOR_SWEEP,
     .offset = AT(force),
     .section = section_results,
     .help = "resume even a file of another device, version or setting"},
};

static const struct option_table table = {
    .options = options,
    .count = sizeof options / sizeof options[0],
    .commands = command_names,
};

const char *command_name(enum command command)
{
    return command_names[command];
}

/* A line a preset, and a line for the source of a model's numbers. */
static void print_presets(FILE *file)
{
    (void)fprintf(file, "\nPresets:\n");
    for (size_t i = 0; i < PRESET_COUNT; i++) {
        const struct preset *preset = preset_at(i);
        (void)fprintf(file, "  %-*s%s\n", PRESET_COLUMN, preset->name, preset->summary);
        if (preset->source != NULL) {
            (void)fprintf(file, "  %-*s%s\n", PRESET_COLUMN, "", preset->source);
        }
    }
}

void settings_help(enum command command, FILE *file)
{
    options_help(&table, command, file);
    if ((FOR_PROBLEM >> command & 1U) != 0) {
        print_presets(file);
    }
    if ((FOR_ROWS >> command & 1U) != 0) {
        (void)fprintf(file,
                      "\nOf an option given twice the last value counts; a run has at most %d "
                      "rows.\n",
                      RANGES_MAX);
    }
}

static struct settings settings_default(void)
{
    return (struct settings){
        .window = {.left = -1, .right = -1},
        .pairs = SETTINGS_PAIRS,
        .time_limit_s = SETTINGS_TUNE_S,
        .seed = 1,
        .arena = SETTINGS_ARENA_PRESET,
        .format = FORMAT_COUNT,
    };
}

enum pe_arenas_space settings_arena(const struct settings *settings)
{
    return settings->arena == SETTINGS_ARENA_PRESET ? preset_at(settings->preset)->arena
                                                    : (enum pe_arenas_space)settings->arena;
}

void settings_fini(struct settings *settings)
{
    ranges_fini(&settings->tiles);
    ranges_fini(&settings->policies);
    ranges_fini(&settings->dtypes);
    ranges_fini(&settings->block_m);
    ranges_fini(&settings->block_n);
    ranges_fini(&settings->head_dim);
    ranges_fini(&settings->head_dim_v);
    ranges_fini(&settings->seq_q);
    ranges_fini(&settings->q_heads);
    ranges_fini(&settings->kv_heads);
    ranges_fini(&settings->batch);
    ranges_fini(&settings->parts);
    *settings = settings_default();
}

static enum status check_dtypes(const struct ranges *dtypes)
{
    for (size_t i = 0; i < dtypes->count; i++) {
        enum dtype dtype = (enum dtype)dtypes->values[i];
        if (!dtype_has_kernel(dtype)) {
            enum status status =
                STATUS_FAIL(STATUS_BAD_INPUT, "--dtype",
                            "no kernel stores %s yet; f16 and f32 can run", dtype_name(dtype));
            status_hint("scratchscope plan --dtype %s tells its footprint", dtype_name(dtype));
            return status;
        }
    }
    return STATUS_OK;
}

static enum status check_resume(const struct settings *settings)
{
    if (settings->force && !settings->resume) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "--force", "it goes with --resume alone");
    }
    if (settings->resume && settings->outputs.count == 0) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "--resume",
                           "it needs the JSON file to go on with: --output FILE.json");
    }
    return STATUS_OK;
}

/* Causal hides every key after the query's own: a reach to the right contradicts it. */
static enum status check_window(const struct settings *settings)
{
    const struct preset *preset = preset_at(settings->preset);

    if (!settings->window.given || settings->window.right <= 0 ||
        !(settings->causal || preset->problem.causal)) {
        return STATUS_OK;
    }
    enum status status =
        STATUS_FAIL(STATUS_BAD_INPUT, "--window",
                    "%lld keys after the query's own contradict %s%s, which hides them",
                    (long long)settings->window.right, settings->causal ? "--causal" : "preset ",
                    settings->causal ? "" : preset->name);
    status_hint("--window %lld,0", (long long)settings->window.left);
    return status;
}

static enum status check_block(const struct settings *settings)
{
    const bool given = settings->block.automatic || settings->block.rows != 0;

    if (given && (settings->block_m.count > 0 || settings->block_n.count > 0)) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "--block", "it sets what %s sets: give one of them",
                           settings->block_m.count > 0 ? "--block-m" : "--block-n");
    }
    return STATUS_OK;
}

/* One search is for one problem. */
static enum status check_single(const struct settings *settings)
{
    const struct {
        const char *name;
        const struct ranges *list;
    } lists[] = {
        {"--tiles", &settings->tiles},       {"--dtype", &settings->dtypes},
        {"--head-dim", &settings->head_dim}, {"--head-dim-v", &settings->head_dim_v},
        {"--seq-q", &settings->seq_q},       {"--q-heads", &settings->q_heads},
        {"--kv-heads", &settings->kv_heads}, {"--batch", &settings->batch},
        {"--parts", &settings->parts},
    };

    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        if (lists[i].list->count > 1) {
            return STATUS_FAIL(STATUS_BAD_INPUT, lists[i].name,
                               "tune takes one problem, so one value, not %zu",
                               lists[i].list->count);
        }
    }
    return STATUS_OK;
}

static enum status check(enum command command, const struct settings *settings)
{
    enum status status = STATUS_OK;
    const struct preset *preset = preset_at(settings->preset);

    if (preset->tiles == NULL && settings->tiles.count > 0) {
        status = STATUS_FAIL(STATUS_BAD_INPUT, "--tiles",
                             "preset %s fixes seq_kv = %zu, so that S = seq_kv / block_n",
                             preset->name, preset->problem.seq_kv);
        status_hint("change S by --block-n, or take --preset cap16 with the shape's options");
        goto out;
    }
    if (command == COMMAND_SWEEP || command == COMMAND_PROFILE || command == COMMAND_TUNE) {
        STATUS_TRY(check_dtypes(&settings->dtypes));
    }
    if (command == COMMAND_TUNE) {
        STATUS_TRY(check_single(settings));
    }
    STATUS_TRY(check_block(settings));
    STATUS_TRY(check_window(settings));
    STATUS_TRY(check_resume(settings));
out:
    return status;
}

enum status settings_parse(enum command command, int argc, char **argv, struct settings *out,
                           bool *help)
{
    *out = settings_default();
    enum status status = options_parse(&table, command, argc, argv, out, help);
    if (status == STATUS_OK && !*help) {
        status = check(command, out);
    }
    return status;
}
