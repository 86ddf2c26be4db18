/* paint: arena[i] = value, for 0 <= i < LINE_BYTES x lines.
 *
 * arena   uchar [lines][LINE_BYTES]: the arenas of all PEs with their guards, as one range of bytes
 * lines   whole lines in it
 * value   the byte, in the low 8 bits
 *
 * Work-item i paints line i: byte j of it is arena[i x LINE_BYTES + j]. Any work-group size; work-
 * items past the last line do nothing. Offsets are 64 bits wide. Arena bytes used: all. */
#include "touch.clh"

__kernel void paint(__global uchar *arena, ulong lines, uint value)
{
    ulong line = get_global_id(0);
    if (line < lines)
        touch_paint(arena + line * LINE_BYTES, value);
}
