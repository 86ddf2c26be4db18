#include "host/scratch/program.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BEFORE_TILE, IN_TILE, AFTER_TILE }; /* program.section */

void program_init(struct program *program)
{
    *program = (struct program){.open_scope = PROGRAM_NO_SCOPE};
}

/* An operation's name is shown to readers as const; the program owns it all the same. */
static void free_name(const char *name)
{
    void *bytes;
    memcpy(&bytes, &name, sizeof bytes);
    free(bytes);
}

void program_fini(struct program *program)
{
    for (size_t i = 0; i < program->handle_count; i++) {
        free(program->handles[i].name);
    }
    for (size_t i = 0; i < program->scope_count; i++) {
        free(program->scopes[i].name);
    }
    for (size_t i = 0; i < program->operation_count; i++) {
        free_name(program->operations[i].name);
    }
    free(program->handles);
    free(program->scopes);
    free(program->operations);
    free(program->steps);
    program_init(program);
}

static enum status no_memory(const char *what)
{
    return STATUS_FAIL(STATUS_NO_MEMORY, what, "no memory to record it");
}

/* Makes room for one more item behind `count`. The capacity is not kept: it is the power of two at
 * or above the count, so an array grows when its count is a power of two, or 0. */
static bool reserve(void **items, size_t count, size_t item_bytes)
{
    size_t capacity = count > 0 ? count : 4;
    size_t bytes;
    if (count > 0 && (count < 4 || !size_is_power_of_two(count))) {
        return true;
    }
    if (!size_mul(capacity, count > 0 ? 2 : 1, &capacity) ||
        !size_mul(capacity, item_bytes, &bytes)) {
        return false;
    }
    void *grown = realloc(*items, bytes);
    if (grown == NULL) {
        return false;
    }
    *items = grown;
    return true;
}

static bool reserve_step(struct program *program)
{
    void *steps = program->steps;
    bool done = reserve(&steps, program->step_count, sizeof *program->steps);
    program->steps = steps;
    return done;
}

static void add_step(struct program *program, enum program_step_kind kind, size_t index)
{
    program->steps[program->step_count++] = (struct program_step){.kind = kind, .index = index};
}

static char *copy_name(const char *name)
{
    size_t size = strlen(name) + 1;
    char *copy = malloc(size);
    if (copy != NULL) {
        memcpy(copy, name, size);
    }
    return copy;
}

static enum status measure(const char *name, enum dtype dtype, struct shape logical,
                           struct shape stored, struct program_handle *handle)
{
    size_t logical_elems;
    size_t stored_elems;
    size_t unit = dtype_bytes(dtype);
    if (unit == 0) {
        return STATUS_FAIL(STATUS_MISUSE, "program_alloc", "%s: no such dtype", name);
    }
    if (!shape_elems(logical, &logical_elems) || !shape_elems(stored, &stored_elems) ||
        !size_mul(logical_elems, unit, &handle->requested_bytes) ||
        !size_mul(stored_elems, unit, &handle->size_bytes)) {
        return STATUS_FAIL(STATUS_RANGE, "program_alloc", "%s: its size does not fit size_t", name);
    }
    if (stored_elems < logical_elems) {
        return STATUS_FAIL(STATUS_MISUSE, "program_alloc",
                           "%s: %zu elements do not fit the %zu stored ones", name, logical_elems,
                           stored_elems);
    }
    return STATUS_OK;
}

static bool reserve_handle(struct program *program)
{
    void *handles = program->handles;
    bool done = reserve(&handles, program->handle_count, sizeof *program->handles);
    program->handles = handles;
    return done && reserve_step(program);
}

enum status program_alloc(struct program *program, const char *name, enum dtype dtype,
                          struct shape logical, struct shape stored, size_t *handle)
{
    enum status status = STATUS_OK;
    struct program_handle added = {
        .dtype = dtype,
        .logical = logical,
        .stored = stored,
        .persistent = program->section == BEFORE_TILE,
        .scope = program->open_scope,
    };
    *handle = 0;
    if (name == NULL) {
        return STATUS_FAIL(STATUS_MISUSE, "program_alloc", "an allocation needs a name");
    }
    if (program->section == AFTER_TILE) {
        return STATUS_FAIL(STATUS_MISUSE, "program_alloc", "%s: allocated after the tile", name);
    }
    STATUS_TRY(measure(name, dtype, logical, stored, &added));
    added.name = copy_name(name);
    if (added.name == NULL || !reserve_handle(program)) {
        free(added.name);
        return no_memory("program_alloc");
    }
    *handle = program->handle_count;
    program->handles[program->handle_count++] = added;
    add_step(program, PROGRAM_ALLOC, *handle);
out:
    return status;
}

static bool reserve_scope(struct program *program)
{
    void *scopes = program->scopes;
    bool done = reserve(&scopes, program->scope_count, sizeof *program->scopes);
    program->scopes = scopes;
    return done && reserve_step(program);
}

enum status program_begin(struct program *program, const char *name, size_t *scope)
{
    struct program_scope added = {.parent = program->open_scope};
    *scope = 0;
    if (name == NULL) {
        return STATUS_FAIL(STATUS_MISUSE, "program_begin", "a scope needs a name");
    }
    if (program->section != IN_TILE) {
        return STATUS_FAIL(STATUS_MISUSE, "program_begin", "%s: opened outside the tile", name);
    }
    if (added.parent != PROGRAM_NO_SCOPE) {
        added.level = program->scopes[added.parent].level + 1;
    }
    added.name = copy_name(name);
    if (added.name == NULL || !reserve_scope(program)) {
        free(added.name);
        return no_memory("program_begin");
    }
    *scope = program->scope_count;
    program->scopes[program->scope_count++] = added;
    program->open_scope = *scope;
    add_step(program, PROGRAM_BEGIN, *scope);
    return STATUS_OK;
}

bool program_scope_encloses(const struct program *program, size_t a, size_t b)
{
    while (b != a && b != PROGRAM_NO_SCOPE) {
        b = program->scopes[b].parent;
    }
    return b == a;
}

static bool scope_is_open(const struct program *program, size_t scope)
{
    return program_scope_encloses(program, scope, program->open_scope);
}

enum status program_end(struct program *program, size_t scope)
{
    if (program->open_scope == PROGRAM_NO_SCOPE) {
        return STATUS_FAIL(STATUS_MISUSE, "program_end", "no scope is open");
    }
    if (scope != program->open_scope) {
        return STATUS_FAIL(STATUS_MISUSE, "program_end",
                           scope_is_open(program, scope) ? "an inner scope is still open: %s"
                                                         : "not an open scope; the innermost is %s",
                           program->scopes[program->open_scope].name);
    }
    if (!reserve_step(program)) {
        return no_memory("program_end");
    }
    program->open_scope = program->scopes[scope].parent;
    add_step(program, PROGRAM_END, scope);
    return STATUS_OK;
}

enum status program_tile_begin(struct program *program)
{
    if (program->section != BEFORE_TILE) {
        return STATUS_FAIL(STATUS_MISUSE, "program_tile_begin", "a program has one tile");
    }
    program->section = IN_TILE;
    program->tile_first = program->step_count;
    return STATUS_OK;
}

enum status program_tile_end(struct program *program)
{
    if (program->section != IN_TILE) {
        return STATUS_FAIL(STATUS_MISUSE, "program_tile_end", "no tile is open");
    }
    if (program->open_scope != PROGRAM_NO_SCOPE) {
        return STATUS_FAIL(STATUS_MISUSE, "program_tile_end", "a scope is still open: %s",
                           program->scopes[program->open_scope].name);
    }
    program->section = AFTER_TILE;
    program->tile_end = program->step_count;
    return STATUS_OK;
}

/* That every operand exists and is alive. */
static enum status check_operands(const struct program *program, const char *name,
                                  const size_t *operands, size_t count)
{
    if (count > PROGRAM_MAX_OPERANDS) {
        return STATUS_FAIL(STATUS_MISUSE, "program_operation", "%s: %zu operands, at most %d", name,
                           count, PROGRAM_MAX_OPERANDS);
    }
    for (size_t i = 0; i < count; i++) {
        if (operands[i] >= program->handle_count) {
            return STATUS_FAIL(STATUS_MISUSE, "program_operation", "%s: no handle %zu", name,
                               operands[i]);
        }
        const struct program_handle *handle = &program->handles[operands[i]];
        if (!scope_is_open(program, handle->scope)) {
            return STATUS_FAIL(STATUS_STALE, "program_operation", "%s uses %s after its scope, %s",
                               name, handle->name, program->scopes[handle->scope].name);
        }
    }
    return STATUS_OK;
}

static enum status check_operation(const struct program *program,
                                   const struct program_operation *operation)
{
    enum status status = STATUS_OK;
    if (operation->name == NULL) {
        return STATUS_FAIL(STATUS_MISUSE, "program_operation", "an operation needs a name");
    }
    STATUS_TRY(check_operands(program, operation->name, operation->reads, operation->read_count));
    STATUS_TRY(check_operands(program, operation->name, operation->writes, operation->write_count));
    for (size_t i = 0; i < operation->read_count; i++) {
        const struct program_handle *handle = &program->handles[operation->reads[i]];
        if (!handle->written) {
            return STATUS_FAIL(STATUS_MISUSE, "program_operation",
                               "%s reads %s, which nothing wrote", operation->name, handle->name);
        }
    }
out:
    return status;
}

static bool reserve_operation(struct program *program)
{
    void *operations = program->operations;
    bool done = reserve(&operations, program->operation_count, sizeof *program->operations);
    program->operations = operations;
    return done && reserve_step(program);
}

static enum status add_operation(struct program *program, const struct program_operation *operation,
                                 bool copy)
{
    enum status status = STATUS_OK;
    STATUS_TRY(check_operation(program, operation));
    char *name = copy_name(operation->name);
    if (name == NULL || !reserve_operation(program)) {
        free(name);
        return no_memory("program_operation");
    }
    for (size_t i = 0; i < operation->write_count; i++) {
        program->handles[operation->writes[i]].written = true;
    }
    struct program_operation *added = &program->operations[program->operation_count];
    *added = *operation;
    added->name = name;
    added->copy = copy;
    add_step(program, PROGRAM_OPERATION, program->operation_count++);
out:
    return status;
}

enum status program_operation(struct program *program, const struct program_operation *operation)
{
    return add_operation(program, operation, false);
}

enum status program_copy_to(struct program *program, size_t dst, size_t src)
{
    enum status status = STATUS_OK;
    const struct program_operation copy = {
        .name = "copy_to",
        .reads = {src},
        .read_count = 1,
        .writes = {dst},
        .write_count = 1,
    };
    if (dst == src) {
        return STATUS_FAIL(STATUS_MISUSE, "program_copy_to", "source and destination are the same");
    }
    STATUS_TRY(check_operation(program, &copy));
    const struct program_handle *to = &program->handles[dst];
    const struct program_handle *from = &program->handles[src];
    if (to->dtype != from->dtype || !shape_equal(to->stored, from->stored)) {
        return STATUS_FAIL(STATUS_MISUSE, "program_copy_to", "%s and %s differ in dtype or shape",
                           to->name, from->name);
    }
    if (!program_scope_encloses(program, to->scope, from->scope)) {
        return STATUS_FAIL(STATUS_MISUSE, "program_copy_to", "%s does not outlive %s", to->name,
                           from->name);
    }
    STATUS_TRY(add_operation(program, &copy, true));
out:
    return status;
}

static size_t add_saturated(size_t a, size_t b)
{
    size_t sum;
    return size_add(a, b, &sum) ? sum : SIZE_MAX;
}

static size_t operand_bytes(const struct program *program, const size_t *operands, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bytes = add_saturated(bytes, program->handles[operands[i]].size_bytes);
    }
    return bytes;
}

static bool step_is_in_tile(const struct program *program, size_t step)
{
    return program->section != BEFORE_TILE && step >= program->tile_first &&
           (program->section == IN_TILE || step < program->tile_end);
}

static struct program_traffic traffic(const struct program *program, bool in_tile)
{
    struct program_traffic sum = {0};
    for (size_t i = 0; i < program->step_count; i++) {
        const struct program_step *step = &program->steps[i];
        if (step->kind != PROGRAM_OPERATION || step_is_in_tile(program, i) != in_tile) {
            continue;
        }
        const struct program_operation *operation = &program->operations[step->index];
        size_t read = operand_bytes(program, operation->reads, operation->read_count);
        size_t write = operand_bytes(program, operation->writes, operation->write_count);
        sum.read_bytes = add_saturated(sum.read_bytes, read);
        sum.write_bytes = add_saturated(sum.write_bytes, write);
        sum.copy_bytes = add_saturated(sum.copy_bytes, operation->copy ? read : 0);
    }
    return sum;
}

struct program_traffic program_tile_traffic(const struct program *program)
{
    return traffic(program, true);
}

struct program_traffic program_item_traffic(const struct program *program)
{
    return traffic(program, false);
}
