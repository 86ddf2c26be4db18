/* paint: arena[i] = value, for 0 <= i < LINE_BYTES x lines.
 *
 * arena   uchar [lines][LINE_BYTES]: the arenas of all PEs with their guards, as one range of bytes
 * lines   whole lines in it
 * value   the byte, in the low 8 bits
 *
 * Work-item i paints line i: byte j of it is arena[i x LINE_BYTES + j]. Any work-group size; work-
 * items past the last line do nothing. Offsets are 64 bits wide. Arena bytes used: all. */
#define LINE_BYTES 128 /* PE_ARENAS_LINE_BYTES: two vectors of eight ulong */

__kernel void paint(__global uchar *arena, ulong lines, uint value)
{
    ulong line = get_global_id(0);
    if (line >= lines)
        return;
    __global ulong *words = (__global ulong *)(arena + line * LINE_BYTES);
    ulong8 filled = (ulong8)((ulong)(value & 0xFF) * 0x0101010101010101UL);
    vstore8(filled, 0, words);
    vstore8(filled, 1, words);
}
