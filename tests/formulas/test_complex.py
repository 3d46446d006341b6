"""Complex numbers in formulas: conjugates, the imaginary unit, and both Wirtinger derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.canonical.simplify import canonical
from symgrad.formula.reading.text import from_latex
from symgrad.formula.term import evaluate

Z = np.array([1 + 2j, 0.5 - 1j])
X = np.array([0.3, -1.2])
A = np.array([[1 + 2j, 0.5 - 1j], [1j, 2.0]])
VALUES = {"z": Z, "x": X, "A": A}


def leaves():
    return [sg.tensor(VALUES[name], requires_grad=True, name=name) for name in ("z", "x", "A")]


EXPRESSIONS = {
    "conj(iz)": (lambda z, x, A: sg.conj(1j * z), r"-\mathrm{i} \overline{z}"),
    "conj((2+3i)z)": (lambda z, x, A: sg.conj((2 + 3j) * z), r"\left(2 - 3 \mathrm{i}\right) \overline{z}"),
    "conj(real·complex)": (lambda z, x, A: (x * (2 + 1j) * (1 - 1j)).conj(), None),
    "i·i·z": (lambda z, x, A: (1j * z) * 1j, "-z"),
    "1/(iz)": (lambda z, x, A: 1 / (1j * z), r"-\frac{\mathrm{i}}{z}"),
    "|iz|²": (lambda z, x, A: (1j * z).conj() * (1j * z), r"\left|z\right|^{\odot 2}"),
    "conj(e^(ix))": (lambda z, x, A: sg.exp(1j * x).conj(), None),
    "conj(1/(1+ix))": (lambda z, x, A: (1 / (1 + 1j * x)).conj(), None),
    "conj((1+2i)/(3-i) z)": (lambda z, x, A: (z * (1 + 2j) / (3 - 1j)).conj(), None),
    "Im(ix)": (lambda z, x, A: (1j * x).imag, "x"),
    "Re((2+3i)x)": (lambda z, x, A: ((2 + 3j) * x).real, "2 x"),
    "Re(x+iz)": (lambda z, x, A: (x + 1j * z).real, None),
    "Im(x+ix+z)": (lambda z, x, A: (x + 1j * x + z).imag, None),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_the_imaginary_unit_in_formulas(name):
    function, shown = EXPRESSIONS[name]
    out = function(*leaves())
    np.testing.assert_allclose(evaluate(canonical(out.term), VALUES), out.detach(), rtol=1e-12)
    if shown is not None:
        assert out.latex() == shown


FUNCTIONS = {
    "|z|²": (lambda z, A: (z.abs() ** 2).sum(), r"\overline{z}", "z"),
    "Σz²": (lambda z, A: (z * z).sum(), "2 z", "0"),
    "z̄z²": (
        lambda z, A: z.conj() * z * z,
        r"2 \operatorname{diag}\left(\left|z\right|^{\odot 2}\right)",
        r"\operatorname{diag}\left(z^{\odot 2}\right)",
    ),
    "Re e^z": (lambda z, A: sg.exp(z).real, None, None),
    "z*Az": (lambda z, A: z.conj() @ (A @ z), r"A^{\top} \overline{z}", "A z"),
    "sin Az": (lambda z, A: sg.sin(A @ z), r"\operatorname{diag}\left(\cos\left(A z\right)\right) A", "0"),
    "z̄/z": (lambda z, A: z.conj() / z, None, r"\operatorname{diag}\left(\frac{1}{z}\right)"),
    "|z|": (lambda z, A: z.abs(), None, None),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_both_wirtinger_derivatives(name):
    function, shown, shown_conjugate = FUNCTIONS[name]
    z, _, matrix = leaves()
    out = function(z, matrix)
    dz, dzbar = sg.autograd.wirtinger(out, z)
    step = 1e-6
    value = lambda at: function(sg.tensor(at), sg.tensor(A)).numpy()  # noqa: E731
    for k in range(2):
        e = np.eye(2)[k]
        by_x = (value(Z + step * e) - value(Z - step * e)) / (2 * step)
        by_y = (value(Z + 1j * step * e) - value(Z - 1j * step * e)) / (2 * step)
        np.testing.assert_allclose(dz.numpy()[..., k], (by_x - 1j * by_y) / 2, atol=1e-7)
        np.testing.assert_allclose(dzbar.numpy()[..., k], (by_x + 1j * by_y) / 2, atol=1e-7)
    for derivative, text in ((dz, shown), (dzbar, shown_conjugate)):
        np.testing.assert_allclose(
            evaluate(canonical(derivative.term), VALUES, {"n": 2}), derivative.numpy(), atol=1e-12
        )
        assert text is None or derivative.latex() == text


def test_wirtinger_derivatives_do_not_depend_on_the_convention():
    z, _, _ = leaves()
    with sg.conventions("jax"):
        dz, dzbar = sg.autograd.wirtinger((z.abs() ** 2).sum(), z)
    np.testing.assert_allclose(dz, Z.conj())
    np.testing.assert_allclose(dzbar, Z)
    _, x, _ = leaves()
    total = (x * x).sum()
    with pytest.raises(RuntimeError, match=r"x has dtype .*ask autograd\.jacobian"):
        sg.autograd.wirtinger(total, x)


MOVING = {
    "norm": lambda a: a.norm(), "std": lambda a: a.std(), "var": lambda a: a.var(0), "prod": lambda a: a.prod(),
    "cumprod": lambda a: a.cumprod(0), "det": sg.linalg.det, "logdet": sg.logdet, "inv": sg.linalg.inv,
    "svdvals": sg.linalg.svdvals, "pinv": sg.linalg.pinv, "acosh": sg.acosh, "sgn": sg.sgn,
    "eigvalsh": lambda a: sg.linalg.eigvalsh(a + a.mH), "lstsq": lambda a: sg.linalg.lstsq(a, a.sin())[0],
    "renorm": lambda a: a.renorm(2, 0, 1.0), "logsumexp": lambda a: sg.logsumexp(a, 0),
    "qr": lambda a: sg.linalg.qr(a)[1].abs(), "normalize": sg.nn.functional.normalize,
}  # fmt: skip


@pytest.mark.parametrize("name", MOVING)
def test_forward_mode_agrees_with_reverse_mode(name):
    """Re ⟨gradient, tangent⟩ is the tangent of a real result, and so are the gradients of the two."""
    rng = np.random.default_rng(3)
    z, t, w = rng.normal(size=(3, 3, 3)) + 1j * rng.normal(size=(3, 3, 3))

    def weighed(a):
        out = MOVING[name](a)
        weights = sg.tensor(w.ravel()[: out.numel()].reshape(tuple(out.shape)))
        return (out * weights).sum().real

    def along(a):
        return sg.func.jvp(weighed, (a,), (sg.tensor(t),))[1]

    def product(a):
        return (sg.func.grad(weighed)(a).conj() * sg.tensor(t)).sum().real

    point = sg.tensor(z)
    assert along(point).item() == pytest.approx(product(point).item(), rel=1e-9)
    np.testing.assert_allclose(
        sg.func.grad(along)(point).numpy(), sg.func.grad(product)(point).numpy(), rtol=1e-7, atol=1e-9
    )


@pytest.mark.parametrize(
    "function",
    [
        lambda z: (1j * z * z).real.sum(),
        lambda z: ((2 + 1j) ** z).abs().sum() + sg.sin(z / 1j).imag.sum(),
        lambda z: sg.exp(-1j * z).imag.sum() + (z ** (1.5 + 0.5j)).real.sum(),
    ],
    ids=["product", "base", "exponent"],
)
def test_second_derivatives_conjugate_complex_constants_each_time(function):
    """The conjugate of i counted as real, as it has no dtype, and was not conjugated back."""
    second = sg.func.grad(lambda z: (sg.func.grad(function)(z) * (1 - 2j)).real.sum())
    np.testing.assert_allclose(sg.compile(second, Z)(Z), second(sg.tensor(Z)).numpy(), rtol=1e-12)


def test_the_second_derivative_by_one_complex_entry_has_a_formula():
    """A number stood for an array of one entry, and the search for lowest terms took its axes for those of a matrix."""
    z = np.array([1 + 0.5j])
    first = sg.func.grad(lambda z: (z.abs() ** 3).sum() + (z * z).real.sum())
    program = sg.compile(sg.func.grad(lambda z: (first(z) * (1 - 2j)).real.sum()), z).program
    assert "z" in program.formula
    np.testing.assert_allclose(evaluate(canonical(program.terms[0]), {"z": z}), program(z).item(), rtol=1e-12)


Z_OF = {
    "of a complex argument": (lambda z: z.abs().sum(), Z),
    "holomorphic": (lambda z: z.sin(), Z),
    "of a real argument": (lambda x: x * (1 + 1j), Z.real),
}


@pytest.mark.parametrize(("function", "at"), Z_OF.values(), ids=Z_OF)
@pytest.mark.parametrize("transform", [sg.func.jacobian, sg.func.jacrev, sg.func.jacfwd, sg.func.hessian])
def test_complex_functions_have_no_one_jacobian(function, at, transform):
    """Rows of reverse mode gave the conjugate of it, and of a real argument the real part alone."""
    with pytest.raises(RuntimeError, match=r"to be real but received complex.*wirtinger"):
        transform(function)(sg.tensor(at))
    with pytest.raises(RuntimeError, match=r"to be real but received complex.*wirtinger"):
        sg.compile(transform(function), at)


@pytest.mark.parametrize(("function", "at"), [Z_OF["holomorphic"], Z_OF["of a real argument"]])
def test_rows_of_complex_results_are_refused(function, at):
    with pytest.raises(RuntimeError, match=r"to be real but received complex.*wirtinger"):
        sg.autograd.functional.jacobian(function, sg.tensor(at))
    x = sg.tensor(at, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"to be real but received complex.*wirtinger"):
        sg.autograd.jacobian(function(x), x)


@pytest.mark.parametrize(("function", "at"), [Z_OF["holomorphic"], Z_OF["of a real argument"]])
def test_gradients_of_complex_results_are_refused_in_programs_and_formulas_too(function, at):
    """Programs and formulas gave the real part, or the conjugate."""
    first = sg.func.grad(lambda z: function(z).sum())
    for ask in (
        lambda: sg.compile(first, at),
        lambda: sg.latex(first, at),
        lambda: sg.latex(first.__wrapped__, at, wrt=0),
        lambda: sg.compile(sg.func.value_and_grad(lambda z: function(z).sum()), at),
    ):
        with pytest.raises(RuntimeError, match="only for real scalar outputs"):
            ask()
    with pytest.raises(RuntimeError, match=r"to be real but received complex.*wirtinger"):
        sg.latex(sg.func.jacrev(function), at)


def test_a_product_with_its_conjugate_is_the_square_of_a_modulus():
    def fidelity(psi, phi):
        overlap = phi.conj() @ psi
        return (overlap * overlap.conj()).real / (psi.conj() @ psi).real

    rng = np.random.default_rng(4)
    psi, phi = (rng.normal(size=3) + 1j * rng.normal(size=3) for _ in range(2))
    found = sg.formula(fidelity, psi, phi, wrt="psi")
    assert found.latex() == (
        r"\frac{2}{\lVert \psi \rVert^{2}} \left(\left(\phi^{H} \psi\right) \phi - "
        r"\frac{\left|\phi^{H} \psi\right|^{2}}{\lVert \psi \rVert^{2}} \psi\right)"
    )
    read = from_latex(found.latex(), found.symbols, shape=found.term.shape)
    want = sg.func.grad(fidelity)(sg.tensor(psi), sg.tensor(phi)).numpy()
    np.testing.assert_allclose(evaluate(read, {"psi": psi, "phi": phi}), want)


def test_a_conjugate_sign_over_a_modulus_is_a_reciprocal():
    def output(w, R, d):
        return (w.conj() @ R @ w).real / abs(w.conj() @ d) ** 2

    rng = np.random.default_rng(5)
    w, R, d = (rng.normal(size=s) + 1j * rng.normal(size=s) for s in ((3,), (3, 3), (3,)))
    found = sg.formula(output, w, R, d, wrt="w")
    assert found.latex() == (
        r"\frac{1}{\left|w^{H} d\right|^{2}} \left(\left(R + R^{H}\right) w - \frac{2 \operatorname{Re}\left(w^{H} R w"
        r"\right)}{w^{H} d} d\right)"
    )
    read = from_latex(found.latex(), found.symbols, shape=found.term.shape)
    want = sg.func.grad(output)(sg.tensor(w), sg.tensor(R), sg.tensor(d)).numpy()
    np.testing.assert_allclose(evaluate(read, {"w": w, "R": R, "d": d}), want)


TRANSFORMS = {
    "there and back": (lambda x, h: sg.fft.ifft(sg.fft.fft(x)), False, "x"),
    "of other norms": (lambda x, h: sg.fft.fft(sg.fft.ifft(x, norm="ortho")), False, r"\sqrt{n} x"),
    "energy": (lambda x, h: (abs(sg.fft.fft(x)) ** 2).sum(), True, "2 n x"),
    "unitary": (lambda x, h: (abs(sg.fft.fft(x, norm="ortho")) ** 2).sum(), True, "2 x"),
}
FILTER = (
    r"2 \operatorname{Re}\left(\mathcal{F}^{-1}\left(\mathcal{F}\left(\operatorname{Re}\left(\mathcal{F}^{-1}\left("
    r"h \odot \mathcal{F}\left(x\right)\right)\right)\right) \odot \overline{h}\right)\right)"
)
TRANSFORMS["a filter"] = (lambda x, h: (sg.fft.ifft(sg.fft.fft(x) * h).real ** 2).sum(), True, FILTER)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_fourier_transforms_undo_each_other(name):
    """The gradient of Σ|𝓕x|² was 2 Re(𝓕*(𝓕(x))), and adjoints of inverses stood in those of filters."""
    f, derived, text = TRANSFORMS[name]
    rng = np.random.default_rng(6)
    values = {"x": rng.normal(size=5), "h": rng.normal(size=5) + 1j * rng.normal(size=5)}
    leaves = {n: sg.tensor(v, requires_grad=True, name=n) for n, v in values.items()}
    out = f(*leaves.values())
    found = sg.autograd.grad(out, [leaves["x"]], create_graph=True)[0] if derived else out
    assert found.latex() == text
    symbols = sg.formula(found).symbols
    read = from_latex(found.latex(), symbols, shape=sg.formula(found).term.shape)
    np.testing.assert_allclose(evaluate(read, values), found.numpy(force=True), rtol=1e-10, atol=1e-14)
