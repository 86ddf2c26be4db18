/* The line above a table: what problem it is about. */
#ifndef HOST_APP_TITLE_H
#define HOST_APP_TITLE_H

#include "bench/cells.h"

#include <stdio.h>

/* ", NAME COUNT"; the name brings what stands before it. */
void title_count(const char *name, size_t count, FILE *file);

/* "cap16: f16, block 32 x 64, head_dim 128, heads 4, seq_q 128", with or without its block. */
void title_shape(const struct cell *cell, bool block, FILE *file);

/* ", causal, window 4096,0" and so on: the options of attention that are there. */
void title_mask(const struct problem *problem, FILE *file);

#endif
