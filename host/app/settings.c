#include "host/app/settings_table.h"

#include "bench/cells.h"
#include "host/base/dtype.h"

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

static enum status check_pairs(const struct settings *settings)
{
    if (settings->pairs == 0 || settings->pairs >= SWEEP_LEAST_PAIR_BLOCKS) {
        return STATUS_OK;
    }
    enum status status =
        STATUS_FAIL(STATUS_BAD_INPUT, "--pairs", "%zu block%s too few for an interval",
                    settings->pairs, settings->pairs == 1 ? " is" : "s are");
    status_hint("--pairs %d or more, or --pairs 0 for none, and no ratios",
                SWEEP_LEAST_PAIR_BLOCKS);
    return status;
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

/* A variant that reads v from its source could not read an arena in local memory as well. */
static enum status check_arena(enum command command, const struct settings *settings)
{
    if (command != COMMAND_PROFILE || settings->arena != PE_ARENAS_LOCAL) {
        return STATUS_OK;
    }
    enum status status =
        STATUS_FAIL(STATUS_BAD_INPUT, "--arena",
                    "profile takes no local arenas: its shortcuts read v in global memory in place "
                    "of the arena");
    status_hint("--arena global, or scratchscope sweep --arena local for the time of the whole");
    return status;
}

/* One search is for one problem, and a profile of one row. */
static enum status check_single(enum command command, const struct settings *settings)
{
    const bool profile = command == COMMAND_PROFILE;
    const struct {
        const char *name;
        const struct ranges *list;
    } lists[] = {
        {"--block-m", &settings->block_m},   {"--block-n", &settings->block_n},
        {"--tiles", &settings->tiles},       {"--dtype", &settings->dtypes},
        {"--head-dim", &settings->head_dim}, {"--head-dim-v", &settings->head_dim_v},
        {"--seq-q", &settings->seq_q},       {"--q-heads", &settings->q_heads},
        {"--kv-heads", &settings->kv_heads}, {"--batch", &settings->batch},
        {"--parts", &settings->parts},       {"--policy", &settings->policies},
    };
    /* But --policy: tune takes several. */
    const size_t count = sizeof lists / sizeof lists[0] - (profile ? 0 : 1);

    for (size_t i = 0; i < count; i++) {
        if (lists[i].list->count > 1) {
            return STATUS_FAIL(STATUS_BAD_INPUT, lists[i].name,
                               "%s takes one %s, so one value, not %zu", command_name(command),
                               profile ? "row" : "problem", lists[i].list->count);
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
        status_hint(
            "change S by --block-n, or take --preset cap16 or chip48 with the shape's options");
        goto out;
    }
    if (command == COMMAND_SWEEP || command == COMMAND_PROFILE || command == COMMAND_TUNE) {
        STATUS_TRY(check_dtypes(&settings->dtypes));
    }
    if (command == COMMAND_TUNE || command == COMMAND_PROFILE) {
        STATUS_TRY(check_single(command, settings));
    }
    STATUS_TRY(check_arena(command, settings));
    STATUS_TRY(check_block(settings));
    STATUS_TRY(check_window(settings));
    STATUS_TRY(check_pairs(settings));
    STATUS_TRY(check_resume(settings));
out:
    return status;
}

enum status settings_parse(enum command command, int argc, char **argv, struct settings *out,
                           bool *help)
{
    *out = settings_default();
    enum status status = options_parse(&settings_table, command, argc, argv, out, help);
    if (status == STATUS_OK && !*help) {
        status = check(command, out);
    }
    return status;
}
