/* Attention in double precision, row by row, and the verdict on a kernel's output.
 *
 *     s_j = scale x q . k_j over visible keys j,  LSE = log sum_j exp(s_j),
 *     out = sum_j exp(s_j - LSE) v_j;  no visible key: out 0, LSE -inf
 *
 * Source: Vaswani et al. 2017, equation 1; LSE as in FlashAttention-2, natural log. */
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
    double out_magnitude;   /* largest finite |out| */
    double score_magnitude; /* largest finite |scale| x sum |q_i k_i| */
    double lse_magnitude;   /* largest finite |LSE| */
};

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
    bool verified;          /* every element compared is within its tolerance */
    double max_abs_err;     /* of out; infinity if a NaN or infinity stands alone on one side */
    double tolerance;       /* atol + rtol x out_magnitude */
    double lse_max_abs_err; /* the same of LSE */
    double lse_tolerance;   /* absolute */
    size_t rows_checked;    /* rows compared: the reference's */
    size_t worst_row;       /* row number of max_abs_err */
    size_t worst_column;    /* its column of out */
};

/* Compares f32 results, NaN- and infinity-aware: a NaN, +inf or -inf must stand where the
 * reference has the same, and nowhere else. */
void reference_compare(const struct reference *reference, const struct problem *problem,
                       const float *out, const float *lse, struct verdict *verdict);

#endif
