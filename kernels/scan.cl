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
#define LINE_BYTES 128 /* PE_ARENAS_LINE_BYTES: two vectors of eight ulong */

#define INLINE static inline __attribute__((always_inline))

/* Whether all bytes of a line are equal to those of `paint`. */
INLINE bool is_untouched(__global const uchar *line, ulong paint)
{
    __global const ulong *words = (__global const ulong *)line;
    ulong8 painted = (ulong8)(paint);
    return !any((vload8(0, words) != painted) | (vload8(1, words) != painted));
}

/* 1 + the last byte of line[first, end) that is not `value`; 0 = none. */
INLINE uint last_touched(__global const uchar *line, uint first, uint end, uchar value)
{
    for (uint i = end; i > first; --i) {
        if (line[i - 1] != value)
            return i;
    }
    return 0;
}

/* Where `at`, a byte of the PE's stride, lies in the line that starts at `start`: 0..LINE_BYTES. */
INLINE uint within(ulong at, ulong start)
{
    return at > start ? (uint)min(at - start, (ulong)LINE_BYTES) : 0;
}

__kernel void scan(__global const uchar *arena, __global uchar *marks, ulong lines, ulong stride,
                   ulong begin, ulong end, uint value)
{
    ulong i = get_global_id(0);
    if (i >= lines)
        return;
    __global const uchar *line = arena + i * LINE_BYTES;
    uchar painted = (uchar)(value & 0xFF);
    if (is_untouched(line, (ulong)painted * 0x0101010101010101UL))
        return;

    ulong start = i * LINE_BYTES % stride;
    uint pool_first = within(begin, start);
    uint pool_end = within(end, start);
    uint pool = last_touched(line, pool_first, pool_end, painted);
    uint guard = max(last_touched(line, 0, pool_first, painted),
                     last_touched(line, pool_end, LINE_BYTES, painted));
    uchar2 mark = max(vload2(i, marks), (uchar2)((uchar)pool, (uchar)guard));
    vstore2(mark, i, marks);
}
