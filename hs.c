/*
 * hessian_program: C99 written by symgrad.
 *
 * Sizes: n
 * Arguments
 *     A (n, 2) float64
 *     x (2,) float64
 *     b (n,) float64
 * Results (gradients have the shape of their variable; Jacobians have axes outputs…, inputs…)
 *     by x: (2, 2) float64
 * Formula (LaTeX)
 *     2 A^{\top} \operatorname{diag}\left(\left(1 - 3 \tanh^{2}\left(A x - b\right)\right) \odot \left(1 - \tanh^{2}\left(A x - b\right)\right)\right) A
 *
 * Arrays lie row by row; results are memory of the caller that overlaps no argument.
 * Gives 0, 1 where there is no memory for temporary arrays.
 *
 * `cc -std=c99 -O2 -DSELFTEST <this file> -lm && ./a.out` compares it with stored values.
 */

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Memory for a temporary array; never none of it. */
static void *room(size_t each, ptrdiff_t count)
{
    return malloc(each * (size_t)count + 1);
}

int hessian_program(ptrdiff_t n, const double *A, const double *x, const double *b, double *out)
{
    double *t1;
    double *t2;
    double *t3;
    double *t4;
    double *t5;
    double *t6;
    double *t7;
    void *held[7] = {0};
    int status = 0;

    /* einsum(A) */
    if (!(t1 = held[0] = room(sizeof *t1, 2 * n))) { status = 1; goto done; }
    for (ptrdiff_t i1 = 0; i1 < 2; i1++) {
        for (ptrdiff_t i2 = 0; i2 < n; i2++) {
            t1[i1 * n + i2] = A[i2 * 2 + i1];
        }
    }
    /* matmul(A, x) */
    if (!(t2 = held[1] = room(sizeof *t2, n))) { status = 1; goto done; }
    for (ptrdiff_t i1 = 0; i1 < n; i1++) {
        {
            double s = 0;
            for (ptrdiff_t i2 = 0; i2 < 2; i2++) {
                s += A[i1 * 2 + i2] * x[i2];
            }
            t2[i1] = s;
        }
    }
    /* tanh(sub(t2, b)) */
    if (!(t3 = held[2] = room(sizeof *t3, n))) { status = 1; goto done; }
    for (ptrdiff_t i1 = 0; i1 < n; i1++) {
        t3[i1] = tanh(t2[i1] - b[i1]);
    }
    free(t2);
    held[1] = NULL;
    /* one_less_square(t3) */
    if (!(t4 = held[3] = room(sizeof *t4, n))) { status = 1; goto done; }
    for (ptrdiff_t i1 = 0; i1 < n; i1++) {
        t4[i1] = 1 - t3[i1] * t3[i1];
    }
    /* mul(t4, 2) */
    if (!(t5 = held[4] = room(sizeof *t5, n))) { status = 1; goto done; }
    for (ptrdiff_t i1 = 0; i1 < n; i1++) {
        t5[i1] = t4[i1] * 2.0;
    }
    /* mul(mul(4, t3), t3) */
    if (!(t6 = held[5] = room(sizeof *t6, n))) { status = 1; goto done; }
    for (ptrdiff_t i1 = 0; i1 < n; i1++) {
        t6[i1] = (4.0 * t3[i1]) * t3[i1];
    }
    free(t3);
    held[2] = NULL;
    /* mul(sub(mul(t1, t5), mul(t1, t6)), t4) */
    if (!(t7 = held[6] = room(sizeof *t7, 2 * n))) { status = 1; goto done; }
    for (ptrdiff_t i1 = 0; i1 < 2; i1++) {
        for (ptrdiff_t i2 = 0; i2 < n; i2++) {
            t7[i1 * n + i2] = ((t1[i1 * n + i2] * t5[i2]) - (t1[i1 * n + i2] * t6[i2])) * t4[i2];
        }
    }
    free(t1);
    held[0] = NULL;
    /* out is einsum(t7, A) */
    for (ptrdiff_t i1 = 0; i1 < 2; i1++) {
        for (ptrdiff_t i2 = 0; i2 < 2; i2++) {
            out[i1 * 2 + i2] = 0;
        }
        for (ptrdiff_t i2 = 0; i2 < n; i2++) {
            for (ptrdiff_t i3 = 0; i3 < 2; i3++) {
                out[i1 * 2 + i3] += t7[i1 * n + i2] * A[i2 * 2 + i3];
            }
        }
    }
done:
    for (int k = 0; k < 7; k++) free(held[k]);
    return status;
}

#ifdef SELFTEST
#include <stdio.h>

static const double argument0[] = {
    1.0, 1.793331848361975, 0.795567118378535, 0.25934825413781404, 1.3952906809108865, 1.6387896900987924,
};
static const double argument1[] = {
    1.6731767878463173, 1.3419039041870637,
};
static const double argument2[] = {
    1.7274379414605454, 0.5761310872732053, 0.38178840995521024,
};
static const double stored0[] = {
    -0.5621348065010352, -0.3874317427429023, -0.38743174274290226, -0.48842140198992934,
};
static double found0[4];

static int differs(double found, double stored)
{
    if (found == stored || (found != found && stored != stored)) return 0;
    return !(fabs(found - stored) <= 1e-09 * (1 + fabs(stored)));
}

int main(void)
{
    int failures = 0;
    int status = hessian_program(3, argument0, argument1, argument2, found0);
    for (ptrdiff_t i = 0; i < 4; i++)
        failures += differs((double)found0[i], (double)stored0[i]);
    printf("%s: %d differences, status %d\n", failures || status ? "self-test FAILED" : "self-test passed",
           failures, status);
    return failures || status;
}
#endif
