"""Functions of the C target: what is not in <math.h> and is longer than an expression."""

from __future__ import annotations

from symgrad.compiler.targets.c.matrices import MATRICES
from symgrad.compiler.targets.c.orders import ORDERS

_ENTRIES = {
    "sigmoid": """static double sigmoid(double x)
{
    double e = exp(-fabs(x));
    return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}""",
    "softplus": """static double softplus(double x)
{
    return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
}""",
    "erfcx": """/* e^(x^2) erfc(x); above 25 by its asymptotic series, as either factor is no number there. */
static double erfcx(double x)
{
    double t = 1 / (2 * x * x), series = 1;
    if (x < 25) return exp(x * x) * erfc(x);
    for (int k = 15; k > 0; k -= 2) series = 1 - k * t * series;
    return series / (x * 1.7724538509055160273);
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
    "dsinc": """/* The derivative of sinc, by its series near 0. */
static double dsinc(double x)
{
    double t = 3.141592653589793 * x, whole = rint(x), series = 1, turn = fmod(whole, 2) != 0 ? -1 : 1;
    double angle = 3.141592653589793 * (x - whole);
    if (fabs(t) >= 2) return 3.141592653589793 * turn * (cos(angle) - sin(angle) / t) / t;
    for (int k = 24; k > 0; k -= 2) series = 1 - t * t / (k * (k + 3)) * series;
    return -3.141592653589793 * t / 3 * series;
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
    "complexed": """static double complex complexed(double re, double im)
{
    union { double parts[2]; double complex z; } both;
    both.parts[0] = re;
    both.parts[1] = im;
    return both.z;
}""",
    "phase": """/* The number of absolute value 1 in the direction of z; 0 for 0. */
static double complex phase(double complex z)
{
    double size = cabs(z);
    return size == 0 ? 0 : z / size;
}""",
    "complex_isnan": """static bool complex_isnan(double complex z)
{
    return isnan(creal(z)) || isnan(cimag(z));
}""",
    "complex_power": """/* Powers to small whole numbers by products, as NumPy has them. */
static double complex complex_power(double complex x, double complex y)
{
    double n = creal(y);
    if (y == 0) return 1;
    if (x == 0) return n > 0 && cimag(y) == 0 ? 0 : complexed(NAN, NAN);
    if (cimag(y) != 0 || n != floor(n) || fabs(n) >= 100) return cpow(x, y);
    double complex power = 1;
    for (int k = (int)fabs(n); k; k /= 2, x *= x)
        if (k % 2) power *= x;
    return n < 0 ? 1 / power : power;
}""",
    "complex_log2": """static double complex complex_log2(double complex z)
{
    return clog(z) / log(2.0);
}""",
    "complex_log10": """static double complex complex_log10(double complex z)
{
    return clog(z) / log(10.0);
}""",
    "complex_exp2": """static double complex complex_exp2(double complex z)
{
    return cexp(z * log(2.0));
}""",
    "complex_expm1": """static double complex complex_expm1(double complex z)
{
    double half = sin(cimag(z) / 2), first = expm1(creal(z));
    return complexed(first * cos(cimag(z)) - 2 * half * half, (first + 1) * sin(cimag(z)));
}""",
    "complex_log1p": """static double complex complex_log1p(double complex z)
{
    double x = creal(z), y = cimag(z), size = hypot(1 + x, y);
    double real = size > 0.5 && size < 2 ? log1p(x * (2 + x) + y * y) / 2 : log(size);
    return complexed(real, atan2(y, 1 + x));
}""",
    "complex_sigmoid": """static double complex complex_sigmoid(double complex z)
{
    double complex e = cexp(creal(z) >= 0 ? -z : z);
    return (creal(z) >= 0 ? 1 : e) / (1 + e);
}""",
    "complex_sinc": """static double complex complex_sinc(double complex z)
{
    double whole = rint(creal(z)), pi = 3.141592653589793;
    double complex sine = csin(pi * (z - whole));
    return z == 0 ? 1 : (fmod(whole, 2) != 0 ? -sine : sine) / (pi * z);
}""",
    "complex_dsinc": """static double complex complex_dsinc(double complex z)
{
    double complex t = 3.141592653589793 * z, series = 1;
    if (cabs(t) >= 2) return 3.141592653589793 * (ccos(t) - csin(t) / t) / t;
    for (int k = 24; k > 0; k -= 2) series = 1 - t * t / (k * (k + 3)) * series;
    return -3.141592653589793 * t / 3 * series;
}""",
    "fourier_of_powers": """/* The transform of m entries, a power of 2, in place; sign: that of the exponent. */
static void fourier_of_powers(ptrdiff_t m, double complex *x, double sign)
{
    for (ptrdiff_t i = 1, j = 0; i < m; i++) {
        ptrdiff_t bit = m / 2;
        for (; j & bit; bit /= 2) j ^= bit;
        j ^= bit;
        if (i < j) {
            double complex other = x[i];
            x[i] = x[j];
            x[j] = other;
        }
    }
    for (ptrdiff_t half = 1; half < m; half *= 2)
        for (ptrdiff_t k = 0; k < half; k++) {
            double angle = sign * 3.141592653589793 * (double)k / (double)half, c = cos(angle), s = sin(angle);
            for (ptrdiff_t i = k; i < m; i += 2 * half) {
                double re = creal(x[i + half]), im = cimag(x[i + half]);
                double complex turned = complexed(c * re - s * im, c * im + s * re);
                x[i + half] = x[i] - turned;
                x[i] += turned;
            }
        }
}""",
    "fourier": """\
/* The transform of n entries, step apart, in place; Bluestein's sums where n is no power of 2. 1: no memory. */
static int fourier(ptrdiff_t n, ptrdiff_t step, double complex *x, bool inverse)
{
    double sign = inverse ? 1 : -1;
    ptrdiff_t m = 1, square = 0;
    while (m < n) m *= 2;
    bool power = m == n;
    while (!power && m < 2 * n - 1) m *= 2;
    double complex *a = calloc((size_t)(power ? m : 2 * m + n), sizeof *a), *b = a + (power ? 0 : m), *turns = b + m;
    if (!a) return 1;
    for (ptrdiff_t k = 0; k < n; k++) {
        a[k] = x[k * step];
        if (power) continue;
        double angle = sign * 3.141592653589793 * (double)square / (double)n;
        turns[k] = complexed(cos(angle), sin(angle));
        a[k] *= turns[k];
        b[k] = b[(m - k) % m] = conj(turns[k]);
        square = (square + 2 * k + 1) % (2 * n);
    }
    fourier_of_powers(m, a, power ? sign : -1);
    if (!power) {
        fourier_of_powers(m, b, -1);
        for (ptrdiff_t k = 0; k < m; k++) a[k] *= b[k];
        fourier_of_powers(m, a, 1);
    }
    for (ptrdiff_t k = 0; k < n; k++) x[k * step] = power ? a[k] : a[k] / (double)m * turns[k];
    free(a);
    return 0;
}""",
    "whole": """static int64_t whole(int64_t x)
{
    return x;
}""",
    "whole_power": """/* Products go round at the end of their range; a negative power of what is not 1 or -1 is 0. */
static int64_t whole_power(int64_t x, int64_t y)
{
    uint64_t power = 1, by = (uint64_t)x;
    if (y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
    for (; y; y /= 2, by *= by)
        if (y % 2) power *= by;
    return (int64_t)power;
}""",
    "whole_heaviside": """static int64_t whole_heaviside(int64_t x, int64_t y)
{
    return x == 0 ? y : x > 0;
}""",
    "whole_div_trunc": """static int64_t whole_div_trunc(int64_t x, int64_t y)
{
    return y == 0 ? 0 : y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y;
}""",
    "angle": """/* That of a real number: 0, pi or nan. */
static double angle(double x)
{
    return x != x ? x : x < 0 ? 3.141592653589793 : 0;
}""",
    "bits_and": """static int64_t bits_and(int64_t x, int64_t y)
{
    return x & y;
}""",
    "bits_or": """static int64_t bits_or(int64_t x, int64_t y)
{
    return x | y;
}""",
    "bits_xor": """static int64_t bits_xor(int64_t x, int64_t y)
{
    return x ^ y;
}""",
    "bits_not": """static int64_t bits_not(int64_t x)
{
    return ~x;
}""",
    "bits_up": """static int64_t bits_up(int64_t x, int64_t y)
{
    return y < 0 || y > 63 ? 0 : (int64_t)((uint64_t)x << y);
}""",
    "bits_down": """static int64_t bits_down(int64_t x, int64_t y)
{
    int64_t by = y < 0 || y > 63 ? 63 : y;
    return x < 0 ? ~(~x >> by) : x >> by;
}""",
    "common_divisor": """static int64_t common_divisor(int64_t x, int64_t y)
{
    x = whole_abs(x);
    y = whole_abs(y);
    while (y) {
        int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return x;
}""",
    "common_multiple": """static int64_t common_multiple(int64_t x, int64_t y)
{
    int64_t by = common_divisor(x, y);
    return by ? whole_abs((int64_t)((uint64_t)(x / by) * (uint64_t)y)) : 0;
}""",
    "heaviside": """static double heaviside(double x, double y)
{
    return x == 0 ? y : x > 0 ? 1 : x < 0 ? 0 : x;
}""",
    "div_trunc": """static double div_trunc(double x, double y)
{
    return trunc(x / y);
}""",
    "below_zero": """static bool below_zero(double x)
{
    return signbit(x) != 0;
}""",
    "logaddexp2": """static double logaddexp2(double x, double y)
{
    if (x == y) return x + 1;
    return x > y ? x + log1p(exp2(y - x)) / log(2.0) : x <= y ? y + log1p(exp2(x - y)) / log(2.0) : x + y;
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
}

LIBRARY = {**_ENTRIES, **ORDERS, **MATRICES}
"""The text of every function by its name; one that calls another stands after it."""

WHOLE = {
    "fabs": "whole_abs",
    "pow": "whole_power",
    "trunc": "whole",
    **{name: f"whole_{name}" for name in ("maximum", "minimum", "floor_divide", "floor_mod", "heaviside", "div_trunc")},
}
"""What functions are called for whole numbers, which double precision does not hold beyond 2^53."""

_TWICE = (
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp", "log",
    "sqrt",
)  # fmt: skip
COMPLEX = {
    "fabs": "cabs",
    "pow": "complex_power",
    **{name: f"c{name}" for name in _TWICE},
    **{
        name: f"complex_{name}"
        for name in ("log2", "log10", "exp2", "expm1", "log1p", "sigmoid", "isnan", "sinc", "dsinc")
    },
}
"""What functions are called for complex numbers; those that are not here have no form for these."""
