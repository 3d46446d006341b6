"""Functions of the C target: what is not in <math.h> and is longer than an expression."""

from __future__ import annotations

LIBRARY = {
    "sigmoid": """static double sigmoid(double x)
{
    double e = exp(-fabs(x));
    return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}""",
    "softplus": """static double softplus(double x)
{
    return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
}""",
    "maximum": """static double maximum(double x, double y)
{
    return x > y || x != x ? x : y;
}""",
    "minimum": """static double minimum(double x, double y)
{
    return x < y || x != x ? x : y;
}""",
    "sign": """static double sign(double x)
{
    return x > 0 ? 1 : x < 0 ? -1 : 0;
}""",
    "logaddexp": """static double logaddexp(double x, double y)
{
    if (x == y) return x + log(2.0);
    return x > y ? x + log1p(exp(y - x)) : x <= y ? y + log1p(exp(x - y)) : x + y;
}""",
    "xlogy": """static double xlogy(double x, double y)
{
    return x == 0 && y == y ? 0 : x * log(y);
}""",
    "xlog1py": """static double xlog1py(double x, double y)
{
    return x == 0 && y == y ? 0 : x * log1p(y);
}""",
    "sinc": """static double sinc(double x)
{
    double turn = 3.141592653589793 * x, whole = rint(x), sine = sin(3.141592653589793 * (x - whole));
    return x == 0 ? 1 : (x == whole ? sin(turn) : fmod(whole, 2) != 0 ? -sine : sine) / turn;
}""",
    "floor_mod": """static double floor_mod(double x, double y)
{
    double rest = fmod(x, y);
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}""",
    "floor_divide": """static double floor_divide(double x, double y)
{
    double rest = fmod(x, y), whole = (x - rest) / y;
    if (y == 0) return x / y;
    return floor(whole - (rest != 0 && (rest < 0) != (y < 0)) + 0.5);
}""",
    "whole_abs": """static int64_t whole_abs(int64_t x)
{
    return x < 0 ? (int64_t)(0 - (uint64_t)x) : x;
}""",
    "whole_maximum": """static int64_t whole_maximum(int64_t x, int64_t y)
{
    return x > y ? x : y;
}""",
    "whole_minimum": """static int64_t whole_minimum(int64_t x, int64_t y)
{
    return x < y ? x : y;
}""",
    "whole_floor_divide": """/* x / y rounded down; 0 where y is. */
static int64_t whole_floor_divide(int64_t x, int64_t y)
{
    if (y == 0) return 0;
    if (y == -1) return (int64_t)(0 - (uint64_t)x);
    return x / y - (x % y != 0 && (x < 0) != (y < 0));
}""",
    "whole_floor_mod": """static int64_t whole_floor_mod(int64_t x, int64_t y)
{
    if (y == 0 || y == -1) return 0;
    return x % y + (x % y != 0 && (x < 0) != (y < 0) ? y : 0);
}""",
    "wrap": """static ptrdiff_t wrap(int64_t place, ptrdiff_t size)
{
    return (ptrdiff_t)(place < 0 ? place + size : place);
}""",
    "outside": """/* Whether a place is beyond an axis of this size; negative ones count from the end. */
static bool outside(int64_t place, ptrdiff_t size)
{
    return place < -size || place >= size;
}""",
    "slice_end": """/* Where a slice begins or ends: negative places count from the end, and none is beyond it. */
static ptrdiff_t slice_end(ptrdiff_t place, ptrdiff_t size, ptrdiff_t step)
{
    ptrdiff_t low = step < 0 ? -1 : 0, high = step < 0 ? size - 1 : size;
    if (place < 0) place += size;
    return place < low ? low : place > high ? high : place;
}""",
    "slice_length": """static ptrdiff_t slice_length(ptrdiff_t start, ptrdiff_t stop, ptrdiff_t step)
{
    ptrdiff_t span = step > 0 ? stop - start : start - stop, by = step > 0 ? step : -step;
    return span > 0 ? (span - 1) / by + 1 : 0;
}""",
    "searchsorted": """/* How many of the ascending values stand before x; right: also those equal to it. */
static int64_t searchsorted(const double *values, ptrdiff_t n, double x, bool right)
{
    ptrdiff_t low = 0, high = n;
    while (low < high) {
        ptrdiff_t middle = low + (high - low) / 2;
        if (x != x || values[middle] < x || (right && values[middle] == x)) low = middle + 1;
        else high = middle;
    }
    return low;
}""",
    "lu": """/* Rows of a (n, n) exchanged and eliminated in place, and those of b (n, m); gives the sign of that. */
static double lu(ptrdiff_t n, ptrdiff_t m, double *a, double *b)
{
    double sign = 1;
    for (ptrdiff_t k = 0; k < n; k++) {
        ptrdiff_t pivot = k;
        for (ptrdiff_t i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[pivot * n + k])) pivot = i;
        if (pivot != k) {
            sign = -sign;
            for (ptrdiff_t j = 0; j < n; j++) {
                double other = a[k * n + j];
                a[k * n + j] = a[pivot * n + j];
                a[pivot * n + j] = other;
            }
            for (ptrdiff_t j = 0; j < m; j++) {
                double other = b[k * m + j];
                b[k * m + j] = b[pivot * m + j];
                b[pivot * m + j] = other;
            }
        }
        if (a[k * n + k] == 0) continue;
        for (ptrdiff_t i = k + 1; i < n; i++) {
            double by = a[i * n + k] / a[k * n + k];
            if (by == 0) continue;
            for (ptrdiff_t j = k; j < n; j++) a[i * n + j] -= by * a[k * n + j];
            for (ptrdiff_t j = 0; j < m; j++) b[i * m + j] -= by * b[k * m + j];
        }
    }
    return sign;
}""",
    "triangular": """/* b (n, m) becomes x of a x = b for a triangle of a; unit: ones on its diagonal. 4 if singular. */
static int triangular(ptrdiff_t n, ptrdiff_t m, const double *a, double *b, bool upper, bool unit)
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
static int solve(ptrdiff_t n, ptrdiff_t m, double *a, double *b)
{
    lu(n, m, a, b);
    return triangular(n, m, a, b, true, false);
}""",
    "determinant": """static double determinant(ptrdiff_t n, double *a)
{
    double product = lu(n, 0, a, a);
    for (ptrdiff_t k = 0; k < n; k++) product *= a[k * n + k];
    return product;
}""",
    "log_determinant": """/* The logarithm of the determinant; nan where that is negative. */
static double log_determinant(ptrdiff_t n, double *a)
{
    double sign = lu(n, 0, a, a), sum = 0;
    for (ptrdiff_t k = 0; k < n; k++) {
        if (a[k * n + k] < 0) sign = -sign;
        sum += log(fabs(a[k * n + k]));
    }
    return sign < 0 && sum > -INFINITY ? NAN : sum;
}""",
    "log_abs_determinant": """static double log_abs_determinant(ptrdiff_t n, double *a)
{
    double sum = 0;
    lu(n, 0, a, a);
    for (ptrdiff_t k = 0; k < n; k++) sum += log(fabs(a[k * n + k]));
    return sum;
}""",
    "sign_of_determinant": """static double sign_of_determinant(ptrdiff_t n, double *a)
{
    double sign = lu(n, 0, a, a);
    for (ptrdiff_t k = 0; k < n; k++) sign *= a[k * n + k] > 0 ? 1 : a[k * n + k] < 0 ? -1 : a[k * n + k];
    return sign;
}""",
    "behind": """/* Whether x stands behind y in ascending or descending order; nan counts as largest. */
static bool behind(double x, double y, bool down)
{
    return down ? y > x || (y != y && x == x) : x > y || (x != x && y == y);
}""",
    "order_of": """/* The places of n entries, step apart, in their order; equal ones stay. from and to: n places. */
static void order_of(ptrdiff_t n, ptrdiff_t step, const double *x, bool down, int64_t *order, int64_t *from,
                     int64_t *to)
{
    for (ptrdiff_t k = 0; k < n; k++) from[k] = k;
    for (ptrdiff_t width = 1; width < n; width *= 2) {
        for (ptrdiff_t low = 0; low < n; low += 2 * width) {
            ptrdiff_t middle = low + width < n ? low + width : n, high = middle + width < n ? middle + width : n;
            for (ptrdiff_t i = low, j = middle, k = low; k < high; k++) {
                bool first = i < middle && (j == high || !behind(x[from[i] * step], x[from[j] * step], down));
                to[k] = first ? from[i++] : from[j++];
            }
        }
        int64_t *other = from;
        from = to;
        to = other;
    }
    for (ptrdiff_t k = 0; k < n; k++) order[k * step] = from[k];
}""",
    "eigen": """/* Ascending eigenvalues of a symmetric a (n, n), read up to its diagonal; vectors are columns of v. */
static void eigen(ptrdiff_t n, double *a, double *v, double *values)
{
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t j = 0; j < n; j++) {
            if (j > i) a[i * n + j] = a[j * n + i];
            v[i * n + j] = i == j;
        }
    for (int sweep = 0; sweep < 60; sweep++) { /* of Jacobi's rotations; the rest falls quadratically */
        double rest = 0, all = 0;
        for (ptrdiff_t i = 0; i < n; i++)
            for (ptrdiff_t j = 0; j < n; j++) {
                all += a[i * n + j] * a[i * n + j];
                if (i != j) rest += a[i * n + j] * a[i * n + j];
            }
        if (rest <= 1e-36 * all) break;
        for (ptrdiff_t p = 0; p < n; p++)
            for (ptrdiff_t q = p + 1; q < n; q++) {
                if (a[p * n + q] == 0) continue;
                double half = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
                double t = (half < 0 ? -1 : 1) / (fabs(half) + sqrt(half * half + 1));
                double c = 1 / sqrt(t * t + 1), s = t * c;
                for (ptrdiff_t k = 0; k < n; k++) {
                    double x = a[k * n + p], y = a[k * n + q];
                    a[k * n + p] = c * x - s * y;
                    a[k * n + q] = s * x + c * y;
                }
                for (ptrdiff_t k = 0; k < n; k++) {
                    double x = a[p * n + k], y = a[q * n + k];
                    a[p * n + k] = c * x - s * y;
                    a[q * n + k] = s * x + c * y;
                    x = v[k * n + p], y = v[k * n + q];
                    v[k * n + p] = c * x - s * y;
                    v[k * n + q] = s * x + c * y;
                }
            }
    }
    for (ptrdiff_t i = 0; i < n; i++) values[i] = a[i * n + i];
    for (ptrdiff_t i = 0; i < n; i++) {
        ptrdiff_t least = i;
        for (ptrdiff_t j = i + 1; j < n; j++)
            if (values[j] < values[least]) least = j;
        double value = values[i];
        values[i] = values[least];
        values[least] = value;
        for (ptrdiff_t k = 0; k < n; k++) {
            double x = v[k * n + i];
            v[k * n + i] = v[k * n + least];
            v[k * n + least] = x;
        }
    }
}""",
    "cholesky": """/* a (n, n), read up to its diagonal, becomes its factor; 4 where it is not positive definite. */
static int cholesky(ptrdiff_t n, double *a)
{
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t j = 0; j < n; j++) {
            if (j > i) {
                a[i * n + j] = 0;
                continue;
            }
            double rest = a[i * n + j];
            for (ptrdiff_t k = 0; k < j; k++) rest -= a[i * n + k] * a[j * n + k];
            if (i == j && !(rest > 0)) return 4;
            a[i * n + j] = i == j ? sqrt(rest) : rest / a[j * n + j];
        }
    return 0;
}""",
}
"""The text of every function by its name; one that calls another stands after it."""

WHOLE = {
    "fabs": "whole_abs",
    **{name: f"whole_{name}" for name in ("maximum", "minimum", "floor_divide", "floor_mod")},
}
"""What functions are called for whole numbers, which double precision does not hold beyond 2^53."""
