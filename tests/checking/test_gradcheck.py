"""gradcheck and gradgradcheck: right derivatives pass, every kind of wrong one is named."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.autograd import Function, gradcheck, gradgradcheck
from symgrad.autograd.gradcheck import GradcheckError
from symgrad.errors import ArgumentError


def leaf(values, dtype=None, **kwargs):
    return sg.tensor(np.asarray(values), dtype=dtype or sg.double, requires_grad=True, **kwargs)


class Wrong(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 3


RIGHT = {
    "product": (lambda x, y: x * y.sin(), ([1.0, 2.0], [0.5, -1.0])),
    "matmul": (lambda a, b: a @ b, ([[1.0, 2.0], [0.5, -1.0]], [[2.0, 0.0], [1.0, 3.0]])),
    "two outputs": (lambda x: (x.exp(), x.sum()), ([0.3, -0.2],)),
    "number": (lambda x: x**3, (1.5,)),
}


@pytest.mark.parametrize("fast_mode", [False, True])
@pytest.mark.parametrize("case", RIGHT)
def test_right_derivatives_pass(case, fast_mode):
    f, values = RIGHT[case]
    inputs = tuple(leaf(v) for v in values)
    flags = {"check_forward_ad": True, "check_batched_grad": True, "check_batched_forward_grad": True}
    assert gradcheck(f, inputs, fast_mode=fast_mode, check_grad_dtypes=True, **flags)
    assert gradgradcheck(f, inputs, fast_mode=fast_mode, check_fwd_over_rev=True, gen_non_contig_grad_outputs=True)


@pytest.mark.parametrize("fast_mode", [False, True])
@pytest.mark.parametrize(
    "f",
    [lambda z: z * z.conj(), lambda z: (z * z).abs(), lambda z: z.exp(), lambda z: (z.real * z.imag).sum()],
    ids=["square", "abs", "exp", "parts"],
)
def test_complex(f, fast_mode):
    z = leaf([1 + 2j, 0.5 - 1j], sg.complex128)
    assert gradcheck(f, (z,), fast_mode=fast_mode, check_forward_ad=True)
    assert gradgradcheck(f, (z,), fast_mode=fast_mode)


def test_a_wrong_complex_gradient_is_found():
    class Unconjugated(Function):
        @staticmethod
        def forward(ctx, z):
            return z * 1j

        @staticmethod
        def backward(ctx, g):
            return g * 1j

    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0"):
        gradcheck(Unconjugated.apply, (leaf([1 + 2j], sg.complex128),))


def test_message_has_torchs_words_entry_ratio_and_formula():
    x = leaf([1.0, 2.0], name="x")
    with pytest.raises(GradcheckError) as caught:
        gradcheck(Wrong.apply, (x,))
    text = str(caught.value)
    assert text.startswith("Jacobian mismatch for output 0 with respect to input 0,\nnumerical:tensor([[2.0000")
    assert "output 0[0] by input 0 (x)[0]: analytical 3.0, numerical " in text
    assert "ratio 1.5" in text
    assert "formula of the output: 2*x" in text
    assert "for the cotangent v: 3*v" in text
    assert isinstance(caught.value, RuntimeError)


def test_no_exception_on_request():
    assert gradcheck(Wrong.apply, (leaf([1.0]),), raise_exception=False) is False


def test_fast_mode_repeats_the_message_of_the_slow_mode():
    with pytest.raises(GradcheckError, match="computed in fast mode") as caught:
        gradcheck(Wrong.apply, (leaf([1.0, 2.0]),), fast_mode=True)
    assert "ratio 1.5" in str(caught.value)


def test_gradgradcheck_finds_a_wrong_second_derivative():
    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 3 * x * x.detach()

    assert gradcheck(Cube.apply, (leaf([1.0, 2.0]),))
    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        gradgradcheck(Cube.apply, (leaf([1.0, 2.0]),))


def test_leaving_the_graph_is_found():
    with pytest.raises(GradcheckError, match="Numerical gradient for function expected to be zero"):
        gradcheck(lambda x: x.detach() * 2, (leaf([1.0]),))
    assert gradcheck(lambda x: sg.ones(2), (leaf([1.0]),))


@pytest.mark.filterwarnings("ignore:Backwards compatibility")
def test_undefined_gradients():
    class Needs(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x.clone(), x * 2

        @staticmethod
        def backward(ctx, a, b):
            if a is None and not b.numpy().any():
                raise TypeError("no gradient for the first output")
            return (0 if a is None else a) + (0 if b is None else b * 2)

    with pytest.raises(GradcheckError, match="Expected backward function to handle undefined output grads"):
        gradcheck(Needs.apply, (leaf([1.0]),))
    assert gradcheck(Needs.apply, (leaf([1.0]),), check_undefined_grad=False)


def test_backward_that_does_not_repeat_itself():
    calls = []

    class Drifting(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            calls.append(1)
            return g * (2 + 1e-7 * (len(calls) % 2))

    with pytest.raises(GradcheckError, match="Backward is not reentrant"):
        gradcheck(Drifting.apply, (leaf([1.0]),))
    assert gradcheck(Drifting.apply, (leaf([1.0]),), nondet_tol=1e-5, check_undefined_grad=False)


def test_bad_calls():
    with pytest.raises(ValueError, match="expects at least one input tensor to require gradient"):
        gradcheck(lambda x: x, (sg.tensor([1.0]),))
    with pytest.raises(ValueError, match="Expected at least one of check_forward_ad or check_backward_ad"):
        gradcheck(lambda x: x, (leaf([1.0]),), check_backward_ad=False)
    with pytest.warns(UserWarning, match="not a double precision"):
        gradcheck(lambda x: x * 2, (sg.tensor([1.0], requires_grad=True),), atol=0.2)


@pytest.mark.peer
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_same_words_as_torch():
    torch = pytest.importorskip("torch")

    class Theirs(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 3

    with pytest.raises(RuntimeError) as theirs:
        torch.autograd.gradcheck(Theirs.apply, (torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True),))
    with pytest.raises(RuntimeError) as ours:
        gradcheck(Wrong.apply, (leaf([1.0, 2.0]),))
    assert str(ours.value).splitlines()[0] == str(theirs.value).splitlines()[0]
    assert str(ours.value).splitlines()[1] == str(theirs.value).splitlines()[1]


class _NearlySine(Function):
    """A backward that is off by a factor, as given."""

    factor = 1.0

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0].cos() * _NearlySine.factor


@pytest.mark.parametrize("fast_mode", [False, True])
@pytest.mark.parametrize("method", ["complex-step", "exact", "mp"])
def test_methods_without_an_error_of_their_own(monkeypatch, method, fast_mode):
    x = sg.tensor([0.5, 2.0, -1.0], dtype=sg.double, requires_grad=True)
    assert gradcheck(_NearlySine.apply, (x,), method=method, fast_mode=fast_mode)
    assert gradcheck(lambda x: (x.exp() * x, x.sum() ** 3), (x,), method=method, fast_mode=fast_mode)
    assert gradgradcheck(lambda x: x.exp() * x, (x,), method="fd")
    monkeypatch.setattr(_NearlySine, "factor", 1.0005)
    assert gradcheck(_NearlySine.apply, (x,))  # as torch: differences and their tolerance let it pass
    with pytest.raises(GradcheckError, match="ratio 1.0005"):
        gradcheck(_NearlySine.apply, (x,), method=method, fast_mode=fast_mode)
    monkeypatch.setattr(_NearlySine, "factor", 1 + 1e-7)
    assert not gradcheck(_NearlySine.apply, (x,), method=method, fast_mode=fast_mode, raise_exception=False)
    assert gradcheck(_NearlySine.apply, (x,), method=method, fast_mode=fast_mode, rtol=1e-6)


def test_exact_derivatives_of_complex_functions():
    z = sg.tensor([0.5 + 1j, 2 - 0.3j], dtype=sg.cdouble, requires_grad=True)
    for f in (lambda z: z * z.conj(), lambda z: z.abs() ** 2, lambda z: (z**3).real, lambda z: z.exp()):
        assert gradcheck(f, (z,), method="exact")
        assert gradcheck(f, (z,), method="exact", fast_mode=True)
    assert gradgradcheck(lambda x: x.sin() * x, (leaf([0.4]),), method="exact")


def test_methods_that_do_not_fit_are_refused():
    x = sg.tensor([0.5, 2.0], dtype=sg.double, requires_grad=True)
    with pytest.raises(ArgumentError, match="none of 'fd', 'complex-step', 'exact'"):
        gradcheck(lambda x: x * x, (x,), method="magic")
    with pytest.raises(ArgumentError, match="output 0 is no analytic function of input 0"):
        gradcheck(lambda x: x.abs() * 3, (x,), method="complex-step")
    with pytest.raises(ArgumentError, match="does not take complex numbers"):
        gradcheck(lambda x: x.clamp(0, 1), (x,), method="complex-step")
    with pytest.raises(ArgumentError, match="needs real inputs"):
        gradcheck(lambda z: z * z, (x.detach().to(sg.cdouble).requires_grad_(),), method="complex-step")


def test_second_derivatives_have_no_complex_step():
    x = sg.tensor([0.5, 2.0], dtype=sg.double, requires_grad=True)
    with pytest.raises(ArgumentError, match="gradgradcheck.* has no method='complex-step'"):
        sg.autograd.gradgradcheck(lambda x: x.sin() * x, (x,), method="complex-step")


def test_half_precision_fails_without_warnings_of_its_own():
    """Differences of float16 values are 0 at the default step; the message has no ratio to a zero."""
    x = sg.tensor([[0.1, -0.4], [0.7, 1.3]], dtype=sg.float16, requires_grad=True)
    with (
        pytest.warns(UserWarning, match="not a double precision"),
        pytest.raises(GradcheckError, match="mismatch") as error,
    ):
        gradcheck(lambda x: sg.tanh(x) * sg.exp(x), (x,))
    assert "ratio inf" not in str(error.value)
