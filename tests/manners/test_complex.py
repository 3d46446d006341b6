"""Complex numbers: gradients across the border between real and complex, and views of parts."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import symgrad
from tests.leaves import values

SEVERAL = "This view is the output of a function that returns multiple views"


def complex_leaf(t, *shape):
    size = int(np.prod(shape))
    array = np.arange(1.0, 1 + size).reshape(shape)
    return t.tensor(array / 4 + 1j * (array - 2) / 2, requires_grad=True)


def test_complex_scalar_backward(t):
    """A complex result has no gradient of its own: without one given, backward and grad refuse."""
    z = t.tensor(1 + 2j, requires_grad=True)
    words = "grad can be implicitly created only for real scalar outputs but got"
    with pytest.raises(RuntimeError, match=words):
        (z * z).backward()
    with pytest.raises(RuntimeError, match=words):
        t.autograd.grad(z * z, z)
    (z * z).backward(t.tensor(1 + 0j))
    assert z.grad.item() == 2 - 4j
    assert t.autograd.grad((z * z.conj()).real, z)[0].item() == 2 + 4j


def test_pow_real_negative_base_complex_exponent(t):
    """A negative real number to a complex power; both have right derivatives."""
    base = -t.ones(3, dtype=t.float64) * 2
    exponent = complex_leaf(t, 3)
    assert t.autograd.gradcheck(lambda p: t.pow(base, p), (exponent,))
    assert t.autograd.gradcheck(lambda p: t.pow(-2.0, p), (exponent,))


def test_copy_r_to_c(t):
    """Real values copied into complex memory get a real gradient, without a warning."""
    x = t.tensor([1.0, 2.0], dtype=t.float64, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        z = t.zeros(2, dtype=t.complex128)
        z.copy_(x)
        z[1] = x[0] * 3
        (z * (2 - 5j)).backward(t.ones(2, dtype=t.complex128))
    assert x.grad.dtype == t.float64
    assert values(x.grad) == [8.0, 0.0]


def test_to_r_to_c(t):
    """So do real values that are converted."""
    x = t.tensor([1.0, 2.0], dtype=t.float64, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        z = x.to(t.complex128)
        assert z.dtype == t.complex128
        (z * 1j * z).backward(t.tensor([1j, 1j]))
    assert x.grad.dtype == t.float64
    assert values(x.grad) == [2.0, 4.0]


def test_cat_stack_r_to_c(t):
    """Joined with complex ones, real inputs get the real part of their gradient."""
    z = complex_leaf(t, 2, 3)
    x = t.tensor(np.arange(6.0).reshape(2, 3) + 1, requires_grad=True)
    for join in (t.cat, t.stack):
        for order in (lambda a, b: [a, b], lambda a, b: [b, a]):
            assert t.autograd.gradcheck(lambda a, b: join(order(a, b)), (z, x))  # noqa: B023
            assert t.autograd.gradgradcheck(lambda a, b: join(order(a * a, b * b)), (z, x))  # noqa: B023


def test_view_func_for_complex_views(t):
    """A change of one view of a complex tensor reaches the others, whichever of them looks real."""
    z = complex_leaf(t, 2, 2)
    base = z.clone()
    pairs = t.view_as_real(base)
    row = base[0]
    parts = t.view_as_real(row)
    base.mul_(2j)  # pairs, row and parts are taken once more, two of them through another dtype
    (pairs * pairs).sum().backward(retain_graph=True)
    assert np.allclose(z.grad.numpy(), 8 * z.detach().numpy())
    z.grad = None
    parts.mul_(3)
    assert np.allclose(values(base[0]), 6j * z.detach().numpy()[0])
    (base * base.conj()).real.sum().backward()
    assert np.allclose(z.grad.numpy(), z.detach().numpy() * np.array([[72.0], [8.0]]))


@pytest.mark.parametrize("turn", ["z.conj()", "z.mH", "z.conj()[1:]", "z.T.conj().T"])
def test_parts_of_a_conjugate(t, turn):
    """Its imaginary parts lie nowhere in memory: there is nothing to be a view of."""
    z = complex_leaf(t, 2, 2)
    turned = eval(turn, {"z": z})
    with pytest.raises(RuntimeError, match="view_as_real doesn't work on unresolved conjugated tensors"):
        t.view_as_real(turned)
    with pytest.raises(RuntimeError, match="not supported for conjugate view tensors when converting to a different"):
        turned.view(t.float64)
    pairs = t.view_as_real(turned.resolve_conj())
    assert pairs.tolist() == t.view_as_real_copy(turned).tolist()
    (pairs[..., 1] * 3).sum().backward()
    assert z.grad.real.abs().max() == 0
    assert z.grad.imag.abs().max() == 3
    assert t.equal(t.view_as_real(z.conj().conj()), t.view_as_real(z))


def test_view_with_multi_output(t):
    """What ``unbind`` gives of a complex view, or of the real view of one, may not be changed."""
    z = complex_leaf(t, 2, 3).clone()
    for cut in (lambda z: z.unbind(0), lambda z: t.view_as_real(z).unbind(-1), lambda z: z.view(-1).unbind()):
        parts = cut(z)
        with pytest.raises(RuntimeError, match=SEVERAL):
            parts[1].mul_(2)
        with pytest.raises(RuntimeError, match=SEVERAL):
            parts[0].view_as(parts[0]).mul_(2)


INTO_REAL = {
    "an entry": (lambda b, z: b.__setitem__(0, z[0]), [1.0, 5.0, 5.0], [1, 0, 0]),
    "a range": (lambda b, z: b.__setitem__(slice(0, 2), z[1:]), [0.0, 2.0, 5.0], [0, 1, 1]),
    "all": (lambda b, z: b.__setitem__(Ellipsis, z), [1.0, 0.0, 2.0], [1, 1, 1]),
    "one for all": (lambda b, z: b.__setitem__(slice(None), z[0]), [1.0, 1.0, 1.0], [3, 0, 0]),
    "copy_": (lambda b, z: b.copy_(z), [1.0, 0.0, 2.0], [1, 1, 1]),
    "fill_": (lambda b, z: b.fill_(z[0]), [1.0, 1.0, 1.0], [3, 0, 0]),
}


@pytest.mark.filterwarnings("ignore:Casting complex values to real:UserWarning", "error::RuntimeWarning")
@pytest.mark.parametrize("write", INTO_REAL.values(), ids=INTO_REAL)
def test_real_tensors_take_the_real_part(t, write):
    change, values, slopes = write
    z = t.tensor([1 + 2j, 3j, 2], requires_grad=True)
    for tracked in (False, True):
        b = t.full((3,), 5.0)
        change(b, z if tracked else z.detach())
        assert b.tolist() == values
        assert b.requires_grad is tracked
    b.sum().backward()
    assert z.grad.tolist() == slopes


def test_places_take_no_complex_values_where_they_are_real(t):
    z = t.tensor([1 + 2j, 3j, 2])
    b = t.full((3,), 5.0)
    for index, value in ((t.tensor([0]), z[0]), ([0, 1], z[:2]), (t.tensor([True, True, False]), z[:2])):
        with pytest.raises(RuntimeError, match="got Float for the destination and ComplexFloat for the source"):
            b[index] = value
    with pytest.raises(RuntimeError, match="value cannot be converted to type float without overflow"):
        b[t.tensor([True, False, True])] = z[0]
    with pytest.raises(RuntimeError, match="Converting complex Scalar to non-complex type is not supported"):
        b.index_fill_(0, t.tensor([0]), z[2])
    b[t.tensor([True, False, True])] = z[2]
    assert b.tolist() == [2.0, 5.0, 2.0]


def test_the_lost_imaginary_part_is_told_of_once():
    given = []
    for _ in range(2):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            symgrad.set_warn_always(not given)
            symgrad.tensor([1 + 2j]).to(symgrad.float32)
            symgrad.set_warn_always(False)
        given.append([(w.category, str(w.message)) for w in found])
    assert given == [[(UserWarning, "Casting complex values to real discards the imaginary part")], []]


@pytest.mark.parametrize("tracked", [False, True])
def test_conjugates_and_negatives_of_what_memory_holds(t, tracked):
    """A conjugate shows the memory of what it was taken of, also cut and turned; to resolve it is to copy it."""
    z = complex_leaf(t, 2, 2) if tracked else complex_leaf(t, 2, 2).detach()
    shown = {"conj": z.conj(), "cut": z.conj()[0, 1:], "mH": z.mH, "adjoint": z.adjoint()}
    assert all(part.is_conj() and not part.is_neg() for part in shown.values())
    plain = {"z": z, "twice": z.conj().conj(), "product": z.conj() * 1, "physical": t.conj_physical(z), "T": z.mT}
    assert not any(part.is_conj() or part.is_neg() for part in plain.values())
    assert z.conj().imag.is_neg()
    assert not any((z.imag.is_neg(), z.conj().real.is_neg(), z.conj().imag.is_conj()))
    whole, half = z.conj().resolve_conj(), z.conj().imag.resolve_neg()
    assert not any((whole.is_conj(), whole._is_view(), half.is_neg(), half._is_view()))
    assert whole.tolist() == z.conj().tolist()
    assert half.tolist() == (-z.imag).tolist()
    assert z.resolve_conj() is z
    assert z.resolve_neg() is z
    if tracked:
        assert [x.grad_fn.name() for x in (whole, half)] == ["CloneBackward0"] * 2
        (whole * z).real.sum().backward()
        assert values(z.grad) == values(2 * z)
