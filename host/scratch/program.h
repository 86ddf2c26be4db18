/* The recorded program: which temporaries a kernel allocates, in which scopes, and which
 * operation reads and writes which. Recorded once; a policy is a replay of it (footprint.h).
 *
 * A program has three sections, run for every item: what comes before the tiles (its
 * allocations are persistent), the tile (replayed S times), and what comes after the tiles.
 *
 *     program_alloc(&p, "acc", DTYPE_F32, logical, stored, &acc);       persistent
 *     program_tile_begin(&p);
 *         program_begin(&p, "tile", &tile);                             level 0
 *             program_alloc(&p, "acc_new", ...);
 *             program_begin(&p, "scores", &inner); ... program_end(&p, inner);   level 1
 *             program_operation(&p, &(struct program_operation){...});
 *             program_copy_to(&p, acc, acc_new);
 *         program_end(&p, tile);
 *     program_tile_end(&p);
 *
 * The level of a scope is the number of scopes open around it in the tile. A policy keeps the
 * scopes of level < its depth: unscoped 0, scoped 1, nested all.
 */
#ifndef HOST_SCRATCH_PROGRAM_H
#define HOST_SCRATCH_PROGRAM_H

#include "host/base/dtype.h"
#include "host/base/size.h"
#include "host/base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct program_handle {
    char *name;             /* owned */
    enum dtype dtype;       /* storage type */
    struct shape logical;   /* what the algorithm asks for */
    struct shape stored;    /* what is allocated: row pitch and the like included */
    size_t requested_bytes; /* of the logical shape */
    size_t size_bytes;      /* of the stored shape */
    bool persistent;        /* allocated before the tiles */
    bool written;           /* some operation has written it */
    size_t scope;           /* index into scopes; PROGRAM_NO_SCOPE = none */
};

#define PROGRAM_NO_SCOPE ((size_t)-1)

struct program_scope {
    char *name;    /* owned */
    size_t level;  /* scopes open around it within the tile */
    size_t parent; /* index; PROGRAM_NO_SCOPE = none */
};

enum { PROGRAM_MAX_OPERANDS = 8 };

/* One operation reads and writes every byte of its operands once. */
struct program_operation {
    const char *name;                    /* copied by program_operation() */
    size_t reads[PROGRAM_MAX_OPERANDS];  /* handle ids */
    size_t read_count;                   /* 0..PROGRAM_MAX_OPERANDS */
    size_t writes[PROGRAM_MAX_OPERANDS]; /* handle ids */
    size_t write_count;                  /* 0..PROGRAM_MAX_OPERANDS */
    bool copy;                           /* made by program_copy_to */
};

enum program_step_kind { PROGRAM_ALLOC, PROGRAM_BEGIN, PROGRAM_END, PROGRAM_OPERATION };

struct program_step {
    enum program_step_kind kind;
    size_t index; /* into handles, scopes or operations */
};

struct program {
    struct program_handle *handles; /* in order of allocation: the id is the index */
    size_t handle_count;
    struct program_scope *scopes; /* in order of their begin */
    size_t scope_count;
    struct program_operation *operations; /* names owned */
    size_t operation_count;
    struct program_step *steps; /* the whole recording, in order */
    size_t step_count;
    size_t tile_first; /* first step of the tile; valid after program_tile_begin */
    size_t tile_end;   /* one past its last step; valid after program_tile_end */
    size_t open_scope; /* innermost open scope; PROGRAM_NO_SCOPE = none */
    int section;       /* 0 before, 1 in, 2 after the tile */
};

/* Traffic of one pass over a section, bytes in scratch (stored shapes). A copy counts as a read
 * of its source and a write of its destination, and once more in copy_bytes. */
struct program_traffic {
    size_t read_bytes;
    size_t write_bytes;
    size_t copy_bytes; /* bytes of the sources of copies */
};

void program_init(struct program *program);
void program_fini(struct program *program);

/* Records an allocation; *handle gets its id. `stored` must hold at least as many elements as
 * `logical`. STATUS_RANGE: a size wraps; STATUS_MISUSE: after the tile. */
enum status program_alloc(struct program *program, const char *name, enum dtype dtype,
                          struct shape logical, struct shape stored,
                          size_t *handle) STATUS_MUST_USE;

/* Opens and closes a scope, inside the tile only (R2: closing out of order, twice or with none
 * open is STATUS_MISUSE). */
enum status program_begin(struct program *program, const char *name, size_t *scope) STATUS_MUST_USE;
enum status program_end(struct program *program, size_t scope) STATUS_MUST_USE;

/* Whether scope a is scope b or encloses it; PROGRAM_NO_SCOPE encloses every scope. */
bool program_scope_encloses(const struct program *program, size_t a, size_t b);

enum status program_tile_begin(struct program *program) STATUS_MUST_USE;
enum status program_tile_end(struct program *program) STATUS_MUST_USE;

/* Records an operation. STATUS_STALE: an operand's scope has ended (R7). STATUS_MISUSE: an id
 * that does not exist, too many operands, or a read of a handle that no operation wrote. */
enum status program_operation(struct program *program,
                              const struct program_operation *operation) STATUS_MUST_USE;

/* Records copy_to(dst, src), held to R6: same stored shape and dtype, different handles, both
 * alive, dst's scope is src's own or encloses it. */
enum status program_copy_to(struct program *program, size_t dst, size_t src) STATUS_MUST_USE;

/* Sums over the operations of the tile, or over those outside it. Saturates at SIZE_MAX. */
struct program_traffic program_tile_traffic(const struct program *program);
struct program_traffic program_item_traffic(const struct program *program);

#endif
