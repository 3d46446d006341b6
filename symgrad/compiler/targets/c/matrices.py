"""Functions of the C target on matrices: each text stands for real and for complex numbers, with ``NUMBER`` for these.

``conjugate``, ``real_part``, ``size_of``, ``phase_of`` are what C has for the one and for the other; the functions of
complex numbers have ``complex_`` before their names.
"""

from __future__ import annotations

import re

_MATRICES = {
    "lu": """\
/* Rows of a (n, n) exchanged and eliminated in place, and those of b (n, m); gives the sign of that. */
static double lu(ptrdiff_t n, ptrdiff_t m, NUMBER *a, NUMBER *b)
{
    double sign = 1;
    for (ptrdiff_t k = 0; k < n; k++) {
        ptrdiff_t pivot = k;
        for (ptrdiff_t i = k + 1; i < n; i++)
            if (size_of(a[i * n + k]) > size_of(a[pivot * n + k])) pivot = i;
        if (pivot != k) {
            sign = -sign;
            for (ptrdiff_t j = 0; j < n; j++) {
                NUMBER other = a[k * n + j];
                a[k * n + j] = a[pivot * n + j];
                a[pivot * n + j] = other;
            }
            for (ptrdiff_t j = 0; j < m; j++) {
                NUMBER other = b[k * m + j];
                b[k * m + j] = b[pivot * m + j];
                b[pivot * m + j] = other;
            }
        }
        if (a[k * n + k] == 0) continue;
        for (ptrdiff_t i = k + 1; i < n; i++) {
            NUMBER by = a[i * n + k] / a[k * n + k];
            if (by == 0) continue;
            for (ptrdiff_t j = k; j < n; j++) a[i * n + j] -= by * a[k * n + j];
            for (ptrdiff_t j = 0; j < m; j++) b[i * m + j] -= by * b[k * m + j];
        }
    }
    return sign;
}""",
    "triangular": """\
/* b (n, m) becomes x of a x = b for a triangle of a; unit: ones on its diagonal. 4 if singular. */
static int triangular(ptrdiff_t n, ptrdiff_t m, const NUMBER *a, NUMBER *b, bool upper, bool unit)
{
    for (ptrdiff_t r = 0; r < n; r++) {
        ptrdiff_t i = upper ? n - 1 - r : r;
        for (ptrdiff_t k = upper ? i + 1 : 0; k < (upper ? n : i); k++)
            for (ptrdiff_t j = 0; j < m; j++) b[i * m + j] -= a[i * n + k] * b[k * m + j];
        if (unit) continue;
        if (a[i * n + i] == 0) return 4;
        for (ptrdiff_t j = 0; j < m; j++) b[i * m + j] /= a[i * n + i];
    }
    return 0;
}""",
    "solve": """/* b (n, m) becomes x of a x = b, and a its factors; 4 where a is singular. */
static int solve(ptrdiff_t n, ptrdiff_t m, NUMBER *a, NUMBER *b)
{
    lu(n, m, a, b);
    return triangular(n, m, a, b, true, false);
}""",
    "determinant": """static NUMBER determinant(ptrdiff_t n, NUMBER *a)
{
    NUMBER product = lu(n, 0, a, a);
    for (ptrdiff_t k = 0; k < n; k++) product *= a[k * n + k];
    return product;
}""",
    "log_abs_determinant": """static double log_abs_determinant(ptrdiff_t n, NUMBER *a)
{
    double sum = 0;
    lu(n, 0, a, a);
    for (ptrdiff_t k = 0; k < n; k++) sum += log(size_of(a[k * n + k]));
    return sum;
}""",
    "log_determinant": """/* The logarithm of the determinant; nan where that is negative. */
static NUMBER log_determinant(ptrdiff_t n, NUMBER *a)
{
    NUMBER found = lu(n, 0, a, a);
    double sum = 0;
    for (ptrdiff_t k = 0; k < n; k++) {
        if (a[k * n + k] != 0) found *= phase_of(a[k * n + k]);
        sum += log(size_of(a[k * n + k]));
    }
    return sum > -INFINITY ? sum + logarithm_of(found) : sum;
}""",
    "sign_of_determinant": """static NUMBER sign_of_determinant(ptrdiff_t n, NUMBER *a)
{
    NUMBER found = lu(n, 0, a, a);
    for (ptrdiff_t k = 0; k < n; k++) found *= a[k * n + k] == a[k * n + k] ? phase_of(a[k * n + k]) : a[k * n + k];
    return found;
}""",
    "cholesky": """\
/* a (n, n), read up to its diagonal, becomes its factor; 4 where it is not positive definite. */
static int cholesky(ptrdiff_t n, NUMBER *a)
{
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t j = 0; j < n; j++) {
            if (j > i) {
                a[i * n + j] = 0;
                continue;
            }
            NUMBER rest = a[i * n + j];
            for (ptrdiff_t k = 0; k < j; k++) rest -= a[i * n + k] * conjugate(a[j * n + k]);
            if (i == j && !(real_part(rest) > 0)) return 4;
            a[i * n + j] = i == j ? sqrt(real_part(rest)) : rest / a[j * n + j];
        }
    return 0;
}""",
    "eigen": """\
/* Ascending eigenvalues of a symmetric a (n, n), read up to its diagonal; vectors are columns of v. All are nan where
   an entry is not finite. */
static void eigen(ptrdiff_t n, NUMBER *a, NUMBER *v, double *values)
{
    double most = 0, none = 0;
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t j = 0; j <= i; j++) {
            double size = size_of(a[i * n + j]);
            none += 0 * size;
            if (size > most) most = size;
        }
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t j = 0; j <= i; j++) {
            if (most > 0) a[i * n + j] /= most; /* whose square neither overflows nor vanishes */
            if (j == i) a[i * n + j] = real_part(a[i * n + j]);
            a[j * n + i] = conjugate(a[i * n + j]);
            v[i * n + j] = v[j * n + i] = (i == j) + none;
        }
    for (int sweep = 0; sweep < 60; sweep++) { /* of Jacobi's rotations; the rest falls quadratically */
        double rest = 0, all = 0;
        for (ptrdiff_t i = 0; i < n; i++)
            for (ptrdiff_t j = 0; j < n; j++) {
                double size = size_of(a[i * n + j]);
                all += size * size;
                if (i != j) rest += size * size;
            }
        if (rest <= 1e-36 * all) break;
        for (ptrdiff_t p = 0; p < n; p++)
            for (ptrdiff_t q = p + 1; q < n; q++) {
                double size = size_of(a[p * n + q]);
                if (size == 0) continue;
                NUMBER turn = a[p * n + q] / size; /* which makes that entry a positive number */
                double half = real_part(a[q * n + q] - a[p * n + p]) / (2 * size);
                double t = (half < 0 ? -1 : 1) / (fabs(half) + sqrt(half * half + 1));
                double c = 1 / sqrt(t * t + 1), s = t * c;
                for (ptrdiff_t k = 0; k < n; k++) {
                    NUMBER x = a[k * n + p], y = a[k * n + q] * conjugate(turn);
                    a[k * n + p] = c * x - s * y;
                    a[k * n + q] = s * x + c * y;
                }
                for (ptrdiff_t k = 0; k < n; k++) {
                    NUMBER x = a[p * n + k], y = a[q * n + k] * turn;
                    a[p * n + k] = c * x - s * y;
                    a[q * n + k] = s * x + c * y;
                    x = v[k * n + p], y = v[k * n + q] * conjugate(turn);
                    v[k * n + p] = c * x - s * y;
                    v[k * n + q] = s * x + c * y;
                }
            }
    }
    for (ptrdiff_t i = 0; i < n; i++) values[i] = (most > 0 ? most : 1) * real_part(a[i * n + i]) + none;
    for (ptrdiff_t i = 0; i < n; i++) {
        ptrdiff_t least = i;
        for (ptrdiff_t j = i + 1; j < n; j++)
            if (values[j] < values[least]) least = j;
        double value = values[i];
        values[i] = values[least];
        values[least] = value;
        for (ptrdiff_t k = 0; k < n; k++) {
            NUMBER x = v[k * n + i];
            v[k * n + i] = v[k * n + least];
            v[k * n + least] = x;
        }
    }
}""",
    "rotated": """\
/* Two columns of n entries turned until they are orthogonal, and two of v as they are; whether they were not. */
static bool rotated(ptrdiff_t n, NUMBER *x, NUMBER *y, ptrdiff_t m, NUMBER *v, NUMBER *w)
{
    double first = 0, second = 0;
    NUMBER both = 0;
    for (ptrdiff_t k = 0; k < n; k++) {
        first += real_part(x[k] * conjugate(x[k]));
        second += real_part(y[k] * conjugate(y[k]));
        both += conjugate(x[k]) * y[k];
    }
    double size = size_of(both);
    if (!(size > 1e-16 * sqrt(first) * sqrt(second))) return false;
    NUMBER turn = conjugate(both / size);
    double half = (second - first) / (2 * size), t = (half < 0 ? -1 : 1) / (fabs(half) + sqrt(half * half + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (ptrdiff_t k = 0; k < n; k++) {
        NUMBER p = x[k], q = y[k] * turn;
        x[k] = c * p - s * q;
        y[k] = s * p + c * q;
    }
    for (ptrdiff_t k = 0; k < m; k++) {
        NUMBER p = v[k], q = w[k] * turn;
        v[k] = c * p - s * q;
        w[k] = s * p + c * q;
    }
    return true;
}""",
    "beside": """/* A column of length 1, orthogonal to the j columns (n entries each) before it. */
static void beside(ptrdiff_t n, ptrdiff_t j, const NUMBER *columns, NUMBER *x)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        double left = 0;
        for (ptrdiff_t k = 0; k < n; k++) x[k] = k == i;
        for (int twice = 0; twice < 2; twice++)
            for (ptrdiff_t c = 0; c < j; c++) {
                NUMBER part = 0;
                for (ptrdiff_t k = 0; k < n; k++) part += conjugate(columns[c * n + k]) * x[k];
                for (ptrdiff_t k = 0; k < n; k++) x[k] -= part * columns[c * n + k];
            }
        for (ptrdiff_t k = 0; k < n; k++) left += real_part(x[k] * conjugate(x[k]));
        if (left * (double)n < 0.5) continue; /* one of the n unit vectors keeps 1 / n at least */
        for (ptrdiff_t k = 0; k < n; k++) x[k] /= sqrt(left);
        return;
    }
}""",
    "svd": """\
/* a (m, n) = u diag(s) vh with k = min(m, n), s descending, by Jacobi's rotations of the columns of the taller of a
   and its adjoint; all are nan where an entry is not finite. Rooms: w for m * n numbers, v for k * k. */
static void svd(ptrdiff_t m, ptrdiff_t n, const NUMBER *a, NUMBER *u, double *s, NUMBER *vh, NUMBER *w, NUMBER *v)
{
    bool tall = m >= n, turning = true;
    ptrdiff_t k = tall ? n : m, l = tall ? m : n;
    double most = 0, none = 0;
    for (ptrdiff_t i = 0; i < m * n; i++) {
        none += 0 * size_of(a[i]);
        if (size_of(a[i]) > most) most = size_of(a[i]);
    }
    for (ptrdiff_t j = 0; j < k; j++) {
        for (ptrdiff_t i = 0; i < l; i++) {
            NUMBER x = tall ? a[i * n + j] : conjugate(a[j * n + i]);
            w[j * l + i] = (most > 0 ? x / most : x) + none;
        }
        for (ptrdiff_t i = 0; i < k; i++) v[j * k + i] = (i == j) + none;
    }
    for (int sweep = 0; sweep < 60 && turning; sweep++) {
        turning = false;
        for (ptrdiff_t p = 0; p < k; p++)
            for (ptrdiff_t q = p + 1; q < k; q++)
                if (rotated(l, w + p * l, w + q * l, k, v + p * k, v + q * k)) turning = true;
    }
    for (ptrdiff_t j = 0; j < k; j++) {
        double sum = 0;
        for (ptrdiff_t i = 0; i < l; i++) sum += real_part(w[j * l + i] * conjugate(w[j * l + i]));
        s[j] = sqrt(sum);
    }
    for (ptrdiff_t j = 0; j < k; j++) {
        ptrdiff_t top = j;
        for (ptrdiff_t i = j + 1; i < k; i++)
            if (s[i] > s[top]) top = i;
        double size = s[top];
        s[top] = s[j];
        s[j] = size;
        for (ptrdiff_t i = 0; i < l; i++) {
            NUMBER x = w[top * l + i];
            w[top * l + i] = w[j * l + i];
            w[j * l + i] = x;
        }
        for (ptrdiff_t i = 0; i < k; i++) {
            NUMBER x = v[top * k + i];
            v[top * k + i] = v[j * k + i];
            v[j * k + i] = x;
        }
        if (size == 0) beside(l, j, w, w + j * l);
        else for (ptrdiff_t i = 0; i < l; i++) w[j * l + i] /= size;
        s[j] = most > 0 ? size * most : size;
    }
    for (ptrdiff_t j = 0; j < k; j++) {
        for (ptrdiff_t i = 0; i < m; i++) u[i * k + j] = tall ? w[j * l + i] : v[j * k + i];
        for (ptrdiff_t i = 0; i < n; i++) vh[j * n + i] = conjugate(tall ? v[j * k + i] : w[j * l + i]);
    }
}""",
    "pseudo_inverse": """\
/* x (n, m) of the parts of a (m, n); singular values up to max(atol, rtol * the largest) count as 0. */
static void pseudo_inverse(ptrdiff_t m, ptrdiff_t n, double atol, double rtol, const NUMBER *u, const double *s,
                           const NUMBER *vh, NUMBER *x)
{
    ptrdiff_t k = m < n ? m : n;
    double low = k && rtol * s[0] > atol ? rtol * s[0] : atol, none = 0;
    for (ptrdiff_t r = 0; r < k; r++) none += 0 * s[r];  /* nan where one of them is no number */
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t j = 0; j < m; j++) {
            NUMBER sum = none;
            for (ptrdiff_t r = 0; r < k && s[r] > low; r++)
                sum += conjugate(vh[r * n + i]) * conjugate(u[j * k + r]) / s[r];
            x[i * m + j] = sum;
        }
}""",
    "qr": """\
/* a (m, n) becomes r above the diagonal, by Householder's reflections with LAPACK's signs, and q (m, k) what it was
   multiplied by, k = min(m, n). */
static void qr(ptrdiff_t m, ptrdiff_t n, NUMBER *a, NUMBER *q, NUMBER *tau)
{
    ptrdiff_t k = m < n ? m : n;
    for (ptrdiff_t c = 0; c < k; c++) {
        double most = 0, sum = 0;
        NUMBER top = a[c * n + c];
        for (ptrdiff_t i = c + 1; i < m; i++)
            if (size_of(a[i * n + c]) > most) most = size_of(a[i * n + c]);
        tau[c] = 0;
        if (most == 0 && top == real_part(top)) continue;
        if (size_of(top) > most) most = size_of(top);
        for (ptrdiff_t i = c; i < m; i++) {
            double part = size_of(a[i * n + c]) / most;
            sum += part * part;
        }
        double length = most * sqrt(sum), turned = real_part(top) < 0 ? length : -length;
        tau[c] = (turned - top) / turned;
        for (ptrdiff_t i = c + 1; i < m; i++) a[i * n + c] /= top - turned;
        a[c * n + c] = turned;
        for (ptrdiff_t j = c + 1; j < n; j++) {
            NUMBER part = a[c * n + j];
            for (ptrdiff_t i = c + 1; i < m; i++) part += conjugate(a[i * n + c]) * a[i * n + j];
            part *= conjugate(tau[c]);
            a[c * n + j] -= part;
            for (ptrdiff_t i = c + 1; i < m; i++) a[i * n + j] -= part * a[i * n + c];
        }
    }
    for (ptrdiff_t i = 0; i < m; i++)
        for (ptrdiff_t j = 0; j < k; j++) q[i * k + j] = i == j;
    for (ptrdiff_t c = k - 1; c >= 0; c--)
        for (ptrdiff_t j = 0; j < k; j++) {
            NUMBER part = q[c * k + j];
            for (ptrdiff_t i = c + 1; i < m; i++) part += conjugate(a[i * n + c]) * q[i * k + j];
            part *= tau[c];
            q[c * k + j] -= part;
            for (ptrdiff_t i = c + 1; i < m; i++) q[i * k + j] -= part * a[i * n + c];
        }
}""",
    "times": """/* y = a b, all (n, n). */
static void times(ptrdiff_t n, const NUMBER *a, const NUMBER *b, NUMBER *y)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        for (ptrdiff_t j = 0; j < n; j++) y[i * n + j] = 0;
        for (ptrdiff_t k = 0; k < n; k++)
            for (ptrdiff_t j = 0; j < n; j++) y[i * n + j] += a[i * n + k] * b[k * n + j];
    }
}""",
    "exponential": """\
/* a (n, n) becomes its exponential by scaling, squaring and Pade's approximant of degree 13. room: 6 * n * n. */
static int exponential(ptrdiff_t n, NUMBER *a, NUMBER *room)
{
    static const double b[] = {64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0,
        129060195264000.0, 10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0,
        16380.0, 182.0, 1.0};
    ptrdiff_t all = n * n;
    NUMBER *a2 = room, *a4 = a2 + all, *a6 = a4 + all, *odd = a6 + all, *even = odd + all, *other = even + all;
    double most = 0;
    for (ptrdiff_t j = 0; j < n; j++) {
        double sum = 0;
        for (ptrdiff_t i = 0; i < n; i++) sum += size_of(a[i * n + j]);
        if (sum > most || sum != sum) most = sum;
    }
    int squarings = most > 5.37 && most < INFINITY ? (int)ceil(log2(most / 5.37)) : 0;
    for (ptrdiff_t i = 0; i < all; i++) a[i] *= exp2(-squarings);
    times(n, a, a, a2);
    times(n, a2, a2, a4);
    times(n, a4, a2, a6);
    for (int even_part = 0; even_part < 2; even_part++) {
        const double *c = b + 1 - even_part;
        NUMBER *sum = even_part ? even : odd;
        for (ptrdiff_t i = 0; i < all; i++) other[i] = c[12] * a6[i] + c[10] * a4[i] + c[8] * a2[i];
        times(n, a6, other, sum);
        for (ptrdiff_t i = 0; i < all; i++) sum[i] += c[6] * a6[i] + c[4] * a4[i] + c[2] * a2[i];
        for (ptrdiff_t i = 0; i < n; i++) sum[i * n + i] += c[0];
    }
    times(n, a, odd, other);
    for (ptrdiff_t i = 0; i < all; i++) {
        a[i] = even[i] + other[i];
        even[i] -= other[i];
    }
    int status = solve(n, n, even, a);
    for (int k = 0; k < squarings; k++) {
        times(n, a, a, other);
        for (ptrdiff_t i = 0; i < all; i++) a[i] = other[i];
    }
    return status;
}""",
}

_NAMES = re.compile(rf"\b({'|'.join(_MATRICES)})\(")
_REAL = {
    "conjugate(": "(",
    "real_part(": "(",
    "size_of(": "fabs(",
    "phase_of(": "sign(",
    "logarithm_of(": "log(",
    "NUMBER": "double",
}
_COMPLEX = {
    "conjugate(": "conj(",
    "real_part(": "creal(",
    "size_of(": "cabs(",
    "phase_of(": "phase(",
    "logarithm_of(": "clog(",
    "NUMBER": "double complex",
}


def _of(text: str, words: dict[str, str]) -> str:
    for word, other in words.items():
        text = text.replace(word, other)
    return text


MATRICES = {
    **{name: _of(text, _REAL) for name, text in _MATRICES.items()},
    **{f"complex_{name}": _NAMES.sub(r"complex_\1(", _of(text, _COMPLEX)) for name, text in _MATRICES.items()},
}
"""The text of every function by its name; one that calls another stands after it."""
