/* The kernel sources, includes expanded at build time: what the program carries with it.
 * Source: the .cl files of this folder, expanded by kernels/expand.cmake with #line. */
#ifndef KERNELS_KERNELS_H
#define KERNELS_KERNELS_H

extern const char *const kernels_attention_simd; /* kernels/attention_simd.cl */
extern const char *const kernels_attention_simt; /* kernels/attention_simt.cl */
extern const char *const kernels_merge;          /* kernels/merge.cl: joins the parts of split-KV */
extern const char *const kernels_paint;          /* kernels/paint.cl: fills the arenas */
extern const char *const kernels_scan;           /* kernels/scan.cl: finds touched bytes */
extern const char *const kernels_roofline; /* kernels/roofline.cl: FMA peak and read bandwidth */

#endif
