#include "host/scratch/footprint.h"

#include "host/base/text.h"
#include "host/base/units.h"

enum { MAX_LISTED = 4 };

/* Whether the failed tile still holds a handle of its own: allocated before the one that failed,
 * and no scope that counts has ended since. */
static bool tile_holds(const struct program *program, size_t depth, size_t handle, size_t failed)
{
    if (handle >= failed || program->handles[handle].persistent) {
        return false;
    }
    size_t scope = program->handles[handle].scope;
    while (scope != PROGRAM_NO_SCOPE) {
        if (program->scopes[scope].level < depth &&
            !program_scope_encloses(program, scope, program->handles[failed].scope)) {
            return false;
        }
        scope = program->scopes[scope].parent;
    }
    return true;
}

struct holders {
    const struct program *program;
    size_t depth;    /* of the policy */
    size_t failed;   /* the handle that did not fit */
    bool persistent; /* which group: the persistent handles, or the tile's own */
};

static bool is_holder(const struct holders *holders, size_t handle)
{
    const struct program *program = holders->program;
    if (holders->persistent) {
        return program->handles[handle].persistent && handle < holders->failed;
    }
    return tile_holds(program, holders->depth, handle, holders->failed);
}

/* The largest holder that comes after `last` by size, then id; handle_count = none. */
static size_t next_largest(const struct holders *holders, size_t last)
{
    const struct program_handle *handles = holders->program->handles;
    size_t count = holders->program->handle_count;
    size_t best = count;
    for (size_t i = 0; i < count; i++) {
        bool after = last == count || handles[i].size_bytes < handles[last].size_bytes ||
                     (handles[i].size_bytes == handles[last].size_bytes && i > last);
        if (after && is_holder(holders, i) &&
            (best == count || handles[i].size_bytes > handles[best].size_bytes)) {
            best = i;
        }
    }
    return best;
}

/* " (acc 16,384, q 8,192 and 2 more)" */
static void add_holders(struct text *text, const struct holders *holders)
{
    const struct program *program = holders->program;
    char number[UNITS_TEXT_BYTES];
    size_t count = 0;
    for (size_t i = 0; i < program->handle_count; i++) {
        count += is_holder(holders, i) ? 1 : 0;
    }
    size_t last = program->handle_count;
    for (size_t i = 0; i < size_min(count, MAX_LISTED); i++) {
        last = next_largest(holders, last);
        text_add(text, "%s%s %s", i == 0 ? " (" : ", ", program->handles[last].name,
                 units_format_count(program->handles[last].size_bytes, number));
    }
    if (count > MAX_LISTED) {
        text_add(text, " and %zu more", count - MAX_LISTED);
    }
    if (count > 0) {
        text_add(text, ")");
    }
}

static void add_request(struct text *text, const struct footprint_request *request,
                        const struct footprint_overflow *overflow)
{
    char number[4][UNITS_TEXT_BYTES];
    if (overflow->tile > 0) {
        text_add(text, "%s in tile %zu", overflow->name, overflow->tile);
    } else {
        text_add(text, "%s, before the first tile", overflow->name);
    }
    text_add(text, ": %s bytes requested, %s free, %s missing (pool %s, alignment %zu, %s).",
             units_format_count(overflow->request_bytes, number[0]),
             units_format_count(overflow->free_bytes, number[1]),
             units_format_count(overflow->missing_bytes, number[2]),
             units_format_count(request->pool_bytes, number[3]), request->alignment,
             policy_name(request->policy));
}

static void add_use(struct text *text, const struct program *program,
                    const struct footprint_request *request,
                    const struct footprint_overflow *overflow)
{
    char number[UNITS_TEXT_BYTES];
    struct holders holders = {
        .program = program,
        .depth = policy_depth(request->policy),
        .failed = overflow->handle,
        .persistent = true,
    };
    size_t persistent = overflow->used_bytes - overflow->live_tile_bytes;
    size_t earlier = overflow->live_tile_bytes - overflow->this_tile_bytes;
    text_add(text, " %s bytes are used", units_format_count(overflow->used_bytes, number));
    const char *separator = ":";
    if (persistent > 0) {
        text_add(text, "%s %s persistent", separator, units_format_count(persistent, number));
        add_holders(text, &holders);
        separator = ",";
    }
    if (earlier > 0) {
        text_add(text, "%s %s by the %zu tiles before, which %s never gives back", separator,
                 units_format_count(earlier, number), overflow->tile - 1,
                 policy_name(request->policy));
        separator = ",";
    }
    if (overflow->this_tile_bytes > 0) {
        text_add(text, "%s %s by this tile", separator,
                 units_format_count(overflow->this_tile_bytes, number));
        holders.persistent = false;
        add_holders(text, &holders);
    }
    text_add(text, ".");
}

/* A larger pool where the device has one, else what needs none. */
static void add_larger(struct text *text, size_t pool_bytes, size_t most_bytes)
{
    if (pool_bytes <= most_bytes) {
        text_add(text, "--pool grow (or --pool %zu)", pool_bytes);
    } else {
        text_add(text, "--arena global");
    }
}

static void add_way_out(struct text *text, const struct program *program,
                        const struct footprint_request *request, const struct footprint *footprint,
                        size_t most_bytes)
{
    char number[UNITS_TEXT_BYTES];
    struct footprint nested;
    struct footprint_request other = *request;
    size_t pool = size_max(footprint->peak_bytes, request->alignment);
    other.policy = POLICY_NESTED;
    text_add(text, " Without a limit the peak would be %s.",
             units_format_count(footprint->peak_bytes, number));
    if (pool > most_bytes) {
        text_add(text, " The device has local memory for a pool of %s.",
                 units_format_count(most_bytes, number));
    }
    if (request->policy != POLICY_NESTED && footprint_plan(program, &other, &nested) == STATUS_OK) {
        units_format_count(nested.peak_bytes, number);
        if (!nested.overflow.happened) {
            text_add(text, " Use --policy nested, which peaks at %s, or ", number);
            add_larger(text, pool, most_bytes);
            text_add(text, ".");
            return;
        }
        text_add(text, " --policy nested peaks at %s, which does not fit either.", number);
    }
    text_add(text, " Use ");
    add_larger(text, pool, most_bytes);
    text_add(text, ", or smaller blocks.");
}

void footprint_overflow_text(const struct program *program, const struct footprint_request *request,
                             const struct footprint *footprint, size_t most_bytes, char *text,
                             size_t size)
{
    struct text out = text_begin(text, size);
    if (footprint->overflow.happened) {
        add_request(&out, request, &footprint->overflow);
        add_use(&out, program, request, &footprint->overflow);
        add_way_out(&out, program, request, footprint, most_bytes);
    }
}
