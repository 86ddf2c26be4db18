/* scan: which bytes differ from the paint, line by line, added to what earlier scans found.
 *
 *   marks[i][0] = max(marks[i][0], 1 + the last j in the pool's part of line i with
 *                                  arena[i x LINE_BYTES + j] != value, or 0)
 *   marks[i][1] = the same for the guard's part of line i
 *
 * arena   uchar [lines][LINE_BYTES]: the arenas of all PEs, stride bytes each
 * marks   uchar [lines][2], zero before the first scan
 * lines   whole lines in the arena
 * stride  bytes from one PE's arena to the next, a multiple of LINE_BYTES
 * begin   first byte of the pool, from the PE's stride
 * end     one past its last byte; bytes before begin and from end on are guard
 * value   the paint, in the low 8 bits
 *
 * Work-item i scans line i. Any work-group size; work-items past the last line do nothing. Offsets
 * are 64 bits wide. Arena bytes used: none (all are read). */
#include "touch.clh"

__kernel void scan(__global const uchar *arena, __global uchar *marks, ulong lines, ulong stride,
                   ulong begin, ulong end, uint value)
{
    ulong i = get_global_id(0);
    const struct touch_pool pool = {begin, end};
    if (i < lines)
        touch_scan(arena + i * LINE_BYTES, i * LINE_BYTES % stride, pool, value,
                   marks + i * LINE_MARKS);
}
