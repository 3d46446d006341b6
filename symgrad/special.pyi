"""Special functions under the names of ``torch.special``: views of the op table."""

# Written by ``python -m tests.typed.stubs`` from the functions themselves, which are what to change.

from collections.abc import Sequence
from symgrad.tensor.kinds import DType, Ints, Operand
from symgrad.tensor.tensor import Tensor
from typing import Any, overload

def airy(z: Operand, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Airy's functions with their derivatives, as in SciPy: Ai, Ai', Bi and Bi' of real numbers."""
def airy_ai(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Airy's function Ai(input), the solution of other'' = xy that vanishes far to the right."""
def bdtr(k: Operand, n: Operand, p: Any, *, out: Tensor | None = None) -> Tensor:
    """The distribution function of the binomial distribution: at most ``k`` of ``n``, k < n."""
def bdtrc(k: Operand, n: Operand, p: Any, *, out: Tensor | None = None) -> Tensor:
    """The probability of more than ``k`` of ``n``, 0 <= k < n."""
def bessel_j0(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Bessel function of the first kind, of order 0."""
def bessel_j1(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Bessel function of the first kind, of order 1."""
def bessel_y0(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Bessel function of the second kind, of order 0, of ``input`` > 0."""
def bessel_y1(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Bessel function of the second kind, of order 1, of ``input`` > 0."""
def beta(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Euler's beta function Γ(input) Γ(other)/Γ(input + other)."""
def betainc(*args: Any, out: Tensor | None = None, **params: Operand) -> Tensor:
    """Regularised incomplete beta function I_x(a, b), the distribution function of the beta distribution."""
def betaincc(a: Operand, b: Operand, x: Operand, *, out: Tensor | None = None) -> Tensor:
    """The complement 1 - I_x(a, b) of the regularised incomplete beta function."""
def betaln(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of |B(input, other)|, Euler's beta function."""
def binom(n: Operand, k: Operand, *, out: Tensor | None = None) -> Tensor:
    """The binomial coefficient of real numbers, 1/((n + 1) B(n - k + 1, k + 1))."""
def boxcox(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Box and Cox's transformation (input^λ - 1)/λ of numbers above 0, and log(input) where λ is 0."""
def boxcox1p(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Box and Cox's transformation of 1 + input, with its digits near 0."""
def chdtr(v: Operand, x: Operand, *, out: Tensor | None = None) -> Tensor:
    """The distribution function of chi square with ``v`` degrees of freedom; differentiable by both."""
def chdtrc(v: Operand, x: Operand, *, out: Tensor | None = None) -> Tensor:
    """The probability that chi square with ``v`` degrees of freedom exceeds ``x``."""
def chebyshev_polynomial_t(input: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev polynomial of the first kind, of degree ``n`` (a whole number, or one for every entry); 0 for a negative one."""
def chebyshev_polynomial_u(input: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev polynomial of the second kind, of degree ``n`` (a whole number, or one for every entry); 0 for a negative one."""
def chebyshev_polynomial_v(input: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev polynomial of the third kind, of degree ``n`` (a whole number, or one for every entry); 0 for a negative one."""
def chebyshev_polynomial_w(input: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev polynomial of the fourth kind, of degree ``n`` (a whole number, or one for every entry); 0 for a negative one."""
def cosm1(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """cos(input) - 1, with its digits near 0."""
def dawsn(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Dawson's integral: e^(-input²) times the integral of e^(t²) from 0 to input."""
def digamma(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Derivative of log Γ."""
def ellipe(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """The complete elliptic integral of the second kind E(input), of the parameter input = k² <= 1."""
def ellipeinc(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """The incomplete elliptic integral of the second kind E(input, other), of the amplitude input and parameter other = k²."""
def ellipj(u: Operand, m: Operand, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Jacobi's elliptic functions sn, cn, dn and the amplitude of ``u`` for parameters m from 0 to 1, as in SciPy."""
def ellipk(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """The complete elliptic integral of the first kind K(input), of the parameter input = k² <= 1."""
def ellipkinc(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """The incomplete elliptic integral of the first kind F(input, other), of the amplitude input and parameter other = k²."""
def entr(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """-input log input, 0 at 0, and -inf below."""
def erf(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Error function."""
def erfc(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Complementary error function 1 - erf(input)."""
def erfcinv(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse of the complementary error function, on (0, 2), with its digits near 0."""
def erfcx(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Scaled complementary error function e^(input²) erfc(input)."""
def erfi(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """The imaginary error function erf(ix)/i."""
def erfinv(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse of the error function, on (-1, 1)."""
def exp1(x: Operand, *, out: Tensor | None = None) -> Tensor:
    """The exponential integral E_1(x), the integral of e^(-t)/t from x on, x > 0."""
def exp2(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """2**input."""
def expi(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """The exponential integral Ei(input), the principal value of the integral of e^t/t up to input."""
def expit(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """The logistic function 1/(1 + e^-input)."""
def expm1(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """e**input - 1."""
def expn(n: int, x: Operand, *, out: Tensor | None = None) -> Tensor:
    """The exponential integral E_n(x) of whole order ``n``, as in SciPy."""
def exprel(x: Operand, *, out: Tensor | None = None) -> Tensor:
    """(e^x - 1)/x, and 1 at 0, as in SciPy; derivatives of every order have their digits there, too."""
def factorial(n: Operand, *, out: Tensor | None = None) -> Tensor:
    """n! as a function of real numbers, Γ(n + 1)."""
def fdtr(*args: Any, out: Tensor | None = None, **params: Operand) -> Tensor:
    """The distribution function of F with dfn and dfd degrees of freedom, input >= 0."""
def fdtrc(*args: Any, out: Tensor | None = None, **params: Operand) -> Tensor:
    """The complement of fdtr, with its digits where that is next to 1."""
def fresnel(z: Operand, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, Tensor]:
    """Fresnel's integrals S(z) and C(z), of sin(πt²/2) and cos(πt²/2) from 0."""
def gamma(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Γ(input)."""
def gammainc(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Regularised lower incomplete gamma function P(input, other) of order input, the gamma distribution's probability up to other."""
def gammaincc(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Regularised upper incomplete gamma function Q(input, other) = 1 - P(input, other) of order input."""
def gammaln(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """log|Γ(input)|."""
def gdtr(a: Operand, b: Operand, x: Operand, *, out: Tensor | None = None) -> Tensor:
    """The distribution function of the gamma distribution of rate ``a`` and shape ``b``, as in SciPy."""
def gdtrc(a: Operand, b: Operand, x: Operand, *, out: Tensor | None = None) -> Tensor:
    """The complement of :func:`gdtr`."""
def hermite_polynomial_h(input: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """Hermite polynomial of the physicists, of degree ``n`` (a whole number, or one for every entry); 0 for a negative one."""
def hermite_polynomial_he(input: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """Hermite polynomial of probability theory, of degree ``n`` (a whole number, or one for every entry); 0 for a negative one."""
def i0(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Modified Bessel function of the first kind, of order 0."""
def i0e(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """e^(-|input|) times the modified Bessel function of the first kind, of order 0."""
def i1(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Modified Bessel function of the first kind, of order 1."""
def i1e(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """e^(-|input|) times the modified Bessel function of the first kind, of order 1."""
def inv_boxcox(y: Operand, lmbda: Operand, *, out: Tensor | None = None) -> Tensor:
    """The number of which Box and Cox's transformation is ``y``: (1 + λy)^(1/λ), and e^y where λ is 0."""
def inv_boxcox1p(y: Operand, lmbda: Operand, *, out: Tensor | None = None) -> Tensor:
    """The number x of which ``boxcox1p`` is ``y``: (1 + λy)^(1/λ) - 1, and e^y - 1 where λ is 0."""
def iv(v: Operand, z: Operand, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind I_v(z) of a real number ``v``; differentiable by z."""
def ive(v: Operand, z: Operand, *, out: Tensor | None = None) -> Tensor:
    """e^(-|z|) I_v(z), as :func:`iv`, for z so large that I is infinite."""
def j0(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Bessel function of the first kind, of order 0."""
def j1(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Bessel function of the first kind, of order 1."""
def jv(v: int, z: Operand, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the first kind, of whole order ``v``, as in SciPy."""
def k0(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Modified Bessel function of the second kind, of order 0, of ``input`` > 0."""
def k0e(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """e^input times the modified Bessel function of the second kind, of order 0, of ``input`` > 0."""
def k1(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Modified Bessel function of the second kind, of order 1, of ``input`` > 0."""
def k1e(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """e^input times the modified Bessel function of the second kind, of order 1, of ``input`` > 0."""
def kl_div(x: Operand, y: Operand, *, out: Tensor | None = None) -> Tensor:
    """x log(x/y) - x + y entry by entry, where ``rel_entr`` is finite: 0 where both are equal, above 0 elsewhere."""
def kv(v: Operand, z: Operand, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the second kind K_v(z) of real order, z > 0; differentiable by both."""
def kve(v: Operand, z: Operand, *, out: Tensor | None = None) -> Tensor:
    """e^z K_v(z), as :func:`kv`, for z so large that K is 0."""
def laguerre_polynomial_l(input: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """Laguerre polynomial, of degree ``n`` (a whole number, or one for every entry); 0 for a negative one."""
def lambertw(z: Operand, k: int = 0, *, out: Tensor | None = None) -> Tensor:
    """Lambert's W of real numbers, w e^w = z: the branch 0 for z >= -1/e, or the branch -1 for -1/e <= z < 0."""
def legendre_polynomial_p(input: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """Legendre polynomial, of degree ``n`` (a whole number, or one for every entry); 0 for a negative one."""
def log1p(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """log(1 + input)."""
def log_expit(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """log of the logistic function."""
def log_ndtr(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """log of the standard normal distribution function, accurate far to the left."""
def log_softmax(input: Operand, dim: int, dtype: DType | None = None, *, out: Tensor | None = None) -> Tensor:
    """input - log Σ e^input along the axis ``dim``, without overflow."""
def logit(input: Operand, eps: float | None = None, *, out: Tensor | None = None) -> Tensor:
    """log(input / (1 - input)), with ``input`` limited to [eps, 1 - eps] if given."""
@overload
def logsumexp(input: Operand, dim: int | Ints, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor: ...
@overload
def logsumexp(input: Operand, *, axis: int | Ints, keepdims: bool = ..., keepdim: bool = False, out: Tensor | None = None) -> Tensor:
    """log Σ e^input over the axes ``dim``, without overflow."""
def modified_bessel_i0(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Modified Bessel function of the first kind, of order 0."""
def modified_bessel_i1(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Modified Bessel function of the first kind, of order 1."""
def modified_bessel_k0(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Modified Bessel function of the second kind, of order 0, of ``input`` > 0."""
def modified_bessel_k1(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Modified Bessel function of the second kind, of order 1, of ``input`` > 0."""
def multigammaln(input: Operand, p: int, *, out: Tensor | None = None) -> Tensor:
    """The multivariate log-gamma function of dimension ``p``, for ``input`` > (p - 1)/2."""
def nbdtr(k: Operand, n: Operand, p: Any, *, out: Tensor | None = None) -> Tensor:
    """Negative binomial distribution function: at most ``k`` failures before ``n`` successes."""
def ndtr(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Standard normal distribution function."""
def ndtri(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Standard normal quantile: the inverse of ndtr."""
def owens_t(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Owen's T: the probability of X > input and 0 < Y < other X of two standard normal numbers X and Y."""
def pdtr(k: Operand, m: Operand, *, out: Tensor | None = None) -> Tensor:
    """The distribution function of Poisson's distribution of mean ``m`` at ``k`` >= 0."""
def pdtrc(k: Operand, m: Operand, *, out: Tensor | None = None) -> Tensor:
    """The complement of :func:`pdtr`."""
def poch(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """The rising factorial input (input + 1) … (input + other - 1), as a function of real numbers: Γ(input + other)/Γ(input)."""
def polygamma(n: int, input: Operand, *, out: Tensor | None = None) -> Tensor:
    """The n-th derivative of the digamma function at ``input`` > 0; as a method ``x.polygamma(n)``."""
def powm1(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """input^other - 1, with its digits where the power is next to 1."""
def pseudo_huber(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """input² (√(1 + (other/input)²) - 1), which is other²/2 near other = 0 and grows as input |other| far out."""
def psi(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Derivative of log Γ."""
def rel_entr(x: Operand, y: Operand, *, out: Tensor | None = None) -> Tensor:
    """x log(x/y) entry by entry, 0 where x is 0 and y not below it, and infinite for other numbers below 0 or y = 0."""
def rgamma(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """1/Γ(input), which is 0 at the poles of Γ and has all derivatives there."""
def round(input: Operand, *, decimals: int = 0, out: Tensor | None = None) -> Tensor:
    """The nearest integer, or multiple of 10^-decimals; halves to even, derivative 0."""
def scaled_modified_bessel_k0(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """e^input times the modified Bessel function of the second kind, of order 0, of ``input`` > 0."""
def scaled_modified_bessel_k1(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """e^input times the modified Bessel function of the second kind, of order 1, of ``input`` > 0."""
def shifted_chebyshev_polynomial_t(input: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev polynomial of the first kind, on [0, 1], of degree ``n`` (a whole number, or one for every entry); 0 for a negative one."""
def shifted_chebyshev_polynomial_u(input: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev polynomial of the second kind, on [0, 1], of degree ``n`` (a whole number, or one for every entry); 0 for a negative one."""
def shifted_chebyshev_polynomial_v(input: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev polynomial of the third kind, on [0, 1], of degree ``n`` (a whole number, or one for every entry); 0 for a negative one."""
def shifted_chebyshev_polynomial_w(input: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev polynomial of the fourth kind, on [0, 1], of degree ``n`` (a whole number, or one for every entry); 0 for a negative one."""
def sici(x: Operand, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, Tensor]:
    """The sine and the cosine integral of x."""
def sinc(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """sin(πx)/(πx), and 1 at 0."""
def softmax(input: Operand, dim: int, dtype: DType | None = None, *, out: Tensor | None = None) -> Tensor:
    """e^input / Σ e^input along the axis ``dim``."""
def spence(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Spence's function, the integral of log(t)/(1 - t) from 1 to input: the dilogarithm of 1 - input."""
def spherical_bessel_j0(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """sin(input)/input, and 1 at 0."""
def spherical_jn(n: int, z: Operand, derivative: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The spherical Bessel function j_n(z) of whole order ``n``, or its ``derivative``, as in SciPy."""
def spherical_yn(n: int, z: Operand, derivative: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The spherical Bessel function y_n(z) of whole order ``n``, or its ``derivative``, as in SciPy."""
def stdtr(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Student's distribution function with df degrees of freedom, to 30 last places in its left tail."""
def voigt_profile(x: Operand, sigma: Operand, gamma: Operand, *, out: Tensor | None = None) -> Tensor:
    """The density at ``x`` of the sum of a normal variable of deviation σ and a Cauchy variable of half width γ."""
def wofz(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Faddeeva's function w(z) = e^(-z²) erfc(-iz), complex also for real numbers: e^(-input²) + 2i F(input)/√π of Dawson's F."""
def xlog1py(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """input log(1 + other), and 0 where input is 0 and other a number."""
def xlogy(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """input log other, and 0 where input is 0 and other a number."""
def y0(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Bessel function of the second kind, of order 0, of ``input`` > 0."""
def y1(input: Operand, *, out: Tensor | None = None) -> Tensor:
    """Bessel function of the second kind, of order 1, of ``input`` > 0."""
def yv(v: int, z: Operand, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the second kind, of whole order ``v``, as in SciPy."""
def zeta(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Hurwitz's zeta function, the sum of (other + k)^(-input) over k >= 0, for input > 1."""
