/* Attention in double precision, row by row, and the verdict on a kernel's output.
 *
 *     s_j = softcap tanh(scale x q . k_j / softcap) - slope x |d - j| + mask_j over visible keys j,
 *     LSE = log (exp(sink) + sum_j exp(s_j)),  out = sum_j exp(s_j - LSE) v_j
 *
 * with each option's term only where the problem has it. No visible key, or -inf as the score of
 * all: out 0, LSE -inf, with a sink too.
 *
 * Source: Vaswani et al. 2017, equation 1; LSE as in FlashAttention-2, natural log; options:
 * problem.h. */
#ifndef HOST_ATTENTION_REFERENCE_H
#define HOST_ATTENTION_REFERENCE_H

#include "host/attention/inputs.h"
#include "host/attention/problem.h"

#include <stdbool.h>

/* Rows are numbered over [batch, q_heads, seq_q]. */
struct reference {
    size_t row_count;       /* rows computed */
    size_t *rows;           /* their numbers, ascending, owned */
    double *out;            /* [row_count, head_dim_v], owned */
    double *lse;            /* [row_count], owned */
    double *score_sizes;    /* [row_count], owned: of a row, the mean size of its scores, weighted
                               as its values are; 0 if that is not finite */
    double out_magnitude;   /* largest finite |out| */
    double score_magnitude; /* largest of score_sizes */
    double lse_magnitude;   /* largest finite |LSE| */
};

/* A kernel's score is off by about this x its size. The size is the sum of the magnitudes of its
 * terms: |scale| x sum |q_i k_i|, |bias|, |mask|; a softcap takes from the first as much as it
 * flattens it, and adds what it leaves of the score. */
#define REFERENCE_SCORE_ROUNDING 0x1p-22

/* Multiply-adds that the reference may spend by default: all rows if they fit, else a sample that
 * includes the first and last row of sequences and blocks, spread over heads. */
#define REFERENCE_DEFAULT_WORK 3e8

/* `work`: bound on rows x max(seq_kv, 16) x (head_dim + head_dim_v + 16), where 16 stands for the
 * exp; at least 4 rows are computed, or all if there are fewer. Which rows depends on the problem
 * and `work` alone. A NaN goes where plain arithmetic takes it; a score of +inf makes out and LSE
 * NaN, as in max + log(sum). */
enum status reference_create(const struct problem *problem, const struct inputs *inputs,
                             double work, struct reference **out) STATUS_MUST_USE;
void reference_destroy(struct reference *reference);

struct verdict {
    bool verified;      /* every element compared is within the tolerance of its own row */
    double max_abs_err; /* of out; infinity if a NaN or infinity stands alone on one side */
    double tolerance;   /* atol + rtol x out_magnitude: the widest row's, or worst_row's if wrong */
    double lse_max_abs_err; /* the same of LSE */
    double lse_tolerance;   /* absolute, of that row too */
    size_t rows_checked;    /* rows compared: the reference's */
    size_t worst_row;       /* row number of max_abs_err */
    size_t worst_column;    /* its column of out */
};

/* Compares f32 results, NaN- and infinity-aware: a NaN, +inf or -inf must stand where the
 * reference has the same, and nowhere else. */
void reference_compare(const struct reference *reference, const struct problem *problem,
                       const float *out, const float *lse, struct verdict *verdict);

#endif
