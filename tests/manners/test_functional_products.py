"""torch.autograd.functional, first part: the products vjp, jvp, vhp and hvp."""

from __future__ import annotations

import numpy as np
import pytest

from tests.leaves import values


def make(t, *shape, start=1.0, requires_grad=False):
    size = int(np.prod(shape))
    array = (np.arange(size) + start).reshape(shape) / 8
    return t.tensor(array, requires_grad=requires_grad)


def checked_arguments(call, f, x, v):
    """Errors for things that are no tensors and for a wrong ``v``; on success the result for the right one."""
    with pytest.raises(TypeError, match="The inputs given to .* must be either a Tensor"):
        call(f, (x, 2), v)
    with pytest.raises(TypeError, match="The outputs of the user-provided function given to .* must be"):
        call(lambda x: "nonsense", x, v)
    with pytest.raises(TypeError, match="The outputs of the user-provided function given to .* must be"):
        call(lambda x: (f(x), "nonsense"), x, v)
    with pytest.raises(RuntimeError, match="The vector v can only be None if"):
        call(f, x)
    with pytest.raises(RuntimeError, match="v has invalid size: should be"):
        call(f, x, v[:1])
    with pytest.raises(RuntimeError, match="v is a tuple of invalid length: should be|should contain a single Tensor"):
        call(f, x, (v, v))
    with pytest.raises(TypeError, match="The v given to"):
        call(f, x, (v, 3.0))
    return call(f, x, v)[1]


def refuses(call, f, x, v, words, **options):
    """Strict mode refuses ``f`` in these words; otherwise the product is zero."""
    with pytest.raises(RuntimeError, match=words):
        call(f, x, v, strict=True, **options)
    found = call(f, x, v, strict=False, **options)[1]
    assert np.abs(found.detach().numpy()).max() == 0.0


def without_grad(t, call, f, x, v):
    """Under ``no_grad`` the product is there all the same; it requires grad when a graph was asked for."""
    with t.no_grad():
        out, found = call(f, x, v)
        assert not out.requires_grad
        assert not found.requires_grad
        assert np.abs(found.numpy()).max() > 0
        again = call(f, x, v, create_graph=True)[1]
        assert again.requires_grad
        assert values(again) == values(found)


def differentiable(t, call, f, inputs, v):
    """The product is a function of inputs and ``v`` with right first and second derivatives."""
    inputs = tuple(x.detach().requires_grad_() for x in inputs)
    v = tuple(x.detach().requires_grad_() for x in v)
    count = len(inputs)

    def product(*all_):
        row, vectors = all_[:count], all_[count:]
        pick = (lambda r: r) if count > 1 else (lambda r: r[0])
        found = call(f, pick(row), vectors if len(vectors) > 1 else vectors[0], create_graph=True)[1]
        return found

    assert t.autograd.gradcheck(product, (*inputs, *v))
    assert t.autograd.gradgradcheck(product, (*inputs, *v))


def rows(x):
    return (x * x).sum(1)


def cubes(x):
    return (x**3).sum()


# ------------------------------------------------------------------------------------------ vjp


def test_vjp_err_check(t):
    """What is no tensor is refused, and a ``v`` unlike the output."""
    found = checked_arguments(t.autograd.functional.vjp, rows, make(t, 3, 3), make(t, 3))
    assert found.shape == (3, 3)


def test_vjp_err_check_strict(t):
    """Strict mode refuses an output without history, one that ignores the input, and a constant Jacobian to derive."""
    vjp, x, v = t.autograd.functional.vjp, make(t, 3), make(t, 3)
    refuses(vjp, lambda x: x.detach(), x, v, "Output 0 of the user-provided function does not require gradients")
    other = make(t, 3, requires_grad=True)
    refuses(vjp, lambda x: other * 2, x, v, "The output of the user-provided function is independent of input 0")
    with pytest.raises(RuntimeError, match="jacobian of the user-provided function is independent of input 0"):
        vjp(lambda x: x.clone(), x, v, create_graph=True, strict=True)
    assert values(vjp(lambda x: x.clone(), x, v, strict=True)[1]) == values(v)


def test_vjp_no_grad(t):
    """``no_grad`` outside does not keep it from computing."""
    without_grad(t, t.autograd.functional.vjp, rows, make(t, 3, 3), make(t, 3))


def test_vjp_output(t):
    """The results have the structure of outputs and inputs and no history."""
    vjp, x, y = t.autograd.functional.vjp, make(t, 2, 2), make(t, 2)
    out, found = vjp(rows, x, y)
    assert found.shape == (2, 2)
    assert found.grad_fn is None
    assert out.grad_fn is None
    out, found = vjp(lambda x, y: rows(x) * y, (x, y), y)
    assert isinstance(found, tuple)
    assert [tuple(g.shape) for g in found] == [(2, 2), (2,)]
    assert np.allclose(found[1].numpy(), rows(x).numpy() * y.numpy())
    out, found = vjp(lambda x: (rows(x), x * 2), x, (y, x))
    assert isinstance(out, tuple)
    assert np.allclose(found.numpy(), 2 * x.numpy() * y.numpy()[:, None] + 2 * x.numpy())
    tracked = make(t, 2, 2, requires_grad=True)
    assert not vjp(rows, tracked, y)[1].requires_grad


def test_vjp_scalar(t):
    """A single number needs no ``v``."""
    vjp, x = t.autograd.functional.vjp, make(t, 2, 2)
    assert values(vjp(lambda x: x.sum(), x)[1]) == [[1.0, 1.0]] * 2
    assert values(vjp(lambda x: x.sum(), x, t.tensor(3.0, dtype=t.float64))[1]) == [[3.0, 3.0]] * 2
    assert values(vjp(lambda x: x.sum().reshape(1), x)[1]) == [[1.0, 1.0]] * 2
    found = vjp(lambda s: s * x, t.tensor(2.0, dtype=t.float64), t.ones_like(x))[1]
    assert found.shape == ()
    assert found.item() == x.sum().item()


def test_vjp_create_graph(t):
    """With a graph the product can be derived, by ``v`` and by the inputs, twice."""
    vjp = t.autograd.functional.vjp
    differentiable(t, vjp, rows, (make(t, 2, 2),), (make(t, 2),))
    differentiable(t, vjp, lambda x, y: (x * y.exp()).sum(1), (make(t, 2, 2), make(t, 2)), (make(t, 2),))


# ------------------------------------------------------------------------------------------ jvp


def test_jvp_err_check(t):
    """What is no tensor is refused, and a ``v`` unlike the input."""
    found = checked_arguments(t.autograd.functional.jvp, lambda x: rows(x), make(t, 3, 3), make(t, 3, 3))
    assert found.shape == (3,)


def test_jvp_err_check_strict(t):
    """As for vjp; a constant Jacobian only matters to a graph."""
    jvp, x, v = t.autograd.functional.jvp, make(t, 3), make(t, 3)
    refuses(jvp, lambda x: x.detach(), x, v, "Output 0 of the user-provided function does not require gradients")
    other = make(t, 3, requires_grad=True)
    refuses(jvp, lambda x: other * 2, x, v, "The output of the user-provided function is independent of input 0")
    with pytest.raises(RuntimeError, match="jacobian of the user-provided function is independent of input 0"):
        jvp(lambda x: x.clone(), x, v, create_graph=True, strict=True)


def test_jvp_no_grad(t):
    """``no_grad`` outside does not keep it from computing."""
    without_grad(t, t.autograd.functional.jvp, rows, make(t, 3, 3), make(t, 3, 3))


def test_jvp_output(t):
    """The product has the structure of the outputs and no history."""
    jvp, x, y = t.autograd.functional.jvp, make(t, 2, 2), make(t, 2)
    out, found = jvp(rows, x, t.ones_like(x))
    assert found.shape == out.shape == (2,)
    assert found.grad_fn is None
    assert out.grad_fn is None
    assert np.allclose(found.numpy(), 2 * x.numpy().sum(1))
    out, found = jvp(lambda x, y: (rows(x), y * 3), (x, y), (x, y))
    assert isinstance(found, tuple)
    assert np.allclose(found[1].numpy(), 3 * y.numpy())
    assert len(out) == 2


def test_jvp_scalar(t):
    """A single number as input needs no ``v``; the output may be one, too."""
    jvp, x = t.autograd.functional.jvp, make(t, 2, 2)
    two = t.tensor(2.0, dtype=t.float64)
    assert np.allclose(jvp(lambda s: s * s * x, two)[1].numpy(), 4 * x.numpy())
    assert jvp(lambda s: s**3, two)[1].item() == 12.0
    assert jvp(lambda s: (s**3).sum(), two.reshape(1))[1].item() == 12.0
    assert jvp(lambda x: x.sum(), x, x)[1].item() == x.sum().item()


def test_jvp_create_graph(t):
    """With a graph the product can be derived twice."""
    jvp = t.autograd.functional.jvp
    differentiable(t, jvp, rows, (make(t, 2, 2),), (make(t, 2, 2),))
    differentiable(t, jvp, lambda x, y: (x * y.exp()).sum(1), (make(t, 2, 2), make(t, 2)), (make(t, 2, 2), make(t, 2)))


# ------------------------------------------------------------------------------------------ vhp


def checked_second(t, call):
    found = checked_arguments(call, cubes, make(t, 3, 3), make(t, 3, 3))
    assert found.shape == (3, 3)
    with pytest.raises(RuntimeError, match="should contain a single element"):
        call(rows, make(t, 2, 2), make(t, 2, 2))
    with pytest.raises(RuntimeError, match="should return a single Tensor"):
        call(lambda x: (cubes(x), cubes(x)), make(t, 2, 2), make(t, 2, 2))


def strict_second(t, call):
    x, v = make(t, 3), make(t, 3)
    refuses(call, lambda x: x.detach().sum(), x, v, "Output 0 of the user-provided function does not require grad")
    other = make(t, 3, requires_grad=True)
    refuses(call, lambda x: (other * 2).sum(), x, v, "The output of the user-provided function is independent of input")
    refuses(call, lambda x: (x * 2).sum(), x, v, "jacobian of the user-provided function with respect to input 0 is")
    with pytest.raises(RuntimeError, match="hessian of the user-provided function"):
        call(lambda x: (x * x).sum(), x, v, create_graph=True, strict=True)


def structured_second(t, call):
    x, y = make(t, 2, 2), make(t, 2)
    out, found = call(cubes, x, t.ones_like(x))
    assert found.shape == (2, 2)
    assert found.grad_fn is None
    assert out.grad_fn is None
    assert np.allclose(found.numpy(), 6 * x.numpy())
    out, found = call(lambda x, y: cubes(x) + (y * y).sum(), (x, y), (x, y))
    assert isinstance(found, tuple)
    assert np.allclose(found[0].numpy(), 6 * x.numpy() ** 2)
    assert np.allclose(found[1].numpy(), 2 * y.numpy())


def scalar_second(t, call):
    s = t.tensor(2.0, dtype=t.float64)
    assert call(lambda s: s**3, s)[1].item() == 12.0
    assert call(lambda s: (s**3).reshape(1), s, s)[1].item() == 24.0
    assert call(lambda s: (s**3).sum(), s.reshape(1))[1].shape == (1,)


def test_vhp_err_check(t):
    """As for vjp, and the output must be one number."""
    checked_second(t, t.autograd.functional.vhp)


def test_vhp_err_check_strict(t):
    """Strict mode refuses constant outputs, constant gradients, and constant Hessians when a graph is wanted."""
    strict_second(t, t.autograd.functional.vhp)


def test_vhp_no_grad(t):
    """``no_grad`` outside does not keep it from computing."""
    without_grad(t, t.autograd.functional.vhp, cubes, make(t, 3, 3), make(t, 3, 3))


def test_vhp_output(t):
    """The product has the structure of the inputs and no history."""
    structured_second(t, t.autograd.functional.vhp)


def test_vhp_scalar(t):
    """A single number as input needs no ``v``."""
    scalar_second(t, t.autograd.functional.vhp)


def test_vhp_create_graph(t):
    """With a graph the product can be derived twice."""
    vhp = t.autograd.functional.vhp
    differentiable(t, vhp, cubes, (make(t, 2, 2),), (make(t, 2, 2),))
    both = lambda x, y: (x**3 * y.exp()).sum()  # noqa: E731
    differentiable(t, vhp, both, (make(t, 2, 2), make(t, 2)), (make(t, 2, 2), make(t, 2)))


# ------------------------------------------------------------------------------------------ hvp


def test_hvp_err_check(t):
    """As for vhp."""
    checked_second(t, t.autograd.functional.hvp)


def test_hvp_err_check_strict(t):
    """As for vhp."""
    strict_second(t, t.autograd.functional.hvp)


def test_hvp_no_grad(t):
    """``no_grad`` outside does not keep it from computing."""
    without_grad(t, t.autograd.functional.hvp, cubes, make(t, 3, 3), make(t, 3, 3))


def test_hvp_output(t):
    """The product has the structure of the inputs and no history."""
    structured_second(t, t.autograd.functional.hvp)


def test_hvp_scalar(t):
    """A single number as input needs no ``v``."""
    scalar_second(t, t.autograd.functional.hvp)


def test_hvp_create_graph(t):
    """With a graph the product can be derived twice."""
    hvp = t.autograd.functional.hvp
    differentiable(t, hvp, cubes, (make(t, 2, 2),), (make(t, 2, 2),))
    both = lambda x, y: (x**3 * y.exp()).sum()  # noqa: E731
    differentiable(t, hvp, both, (make(t, 2, 2), make(t, 2)), (make(t, 2, 2), make(t, 2)))


@pytest.mark.parametrize("name", ["jvp", "vhp", "hvp"])
def test_vector_is_looked_at_first(t, name):
    """What is wrong with ``v`` is said before the function runs."""

    def fails(x):
        raise AssertionError("the function ran")

    call, x = getattr(t.autograd.functional, name), make(t, 2)
    with pytest.raises(RuntimeError, match="The vector v can only be None if"):
        call(fails, x)
    with pytest.raises(RuntimeError, match="v has invalid size: should be"):
        call(fails, x, make(t, 3))


@pytest.mark.parametrize("name", ["vhp", "hvp"])
def test_output_of_one_entry_keeps_its_shape(t, name):
    """A function may give its number as an array of one entry, which comes back as it is, with its node."""
    call, x = getattr(t.autograd.functional, name), make(t, 2)
    out, found = call(lambda x: (x**3)[:1], x, make(t, 2), create_graph=True)
    assert tuple(out.shape) == (1,)
    assert out.grad_fn.name() == "SliceBackward0"
    assert found.requires_grad
    with pytest.raises(RuntimeError, match=f"The function given to {name} should return a single Tensor"):
        call(lambda x: (x.sum(),), x, make(t, 2))


INSIDE = {
    "vjp": lambda F, x: F.vjp(sum_of_cubes, x)[1],
    "jvp": lambda F, x: F.jvp(lambda x: x**3, x, x.detach())[1],
    "hvp": lambda F, x: F.hvp(sum_of_cubes, x, x.detach())[1],
    "vhp": lambda F, x: F.vhp(sum_of_cubes, x, x.detach())[1],
    "jacobian": lambda F, x: F.jacobian(sum_of_cubes, x),
    "hessian": lambda F, x: F.hessian(sum_of_cubes, x),
}


def sum_of_cubes(x):
    return (x**3).sum()


@pytest.mark.filterwarnings("ignore:.*torch.jit.script")
@pytest.mark.parametrize("how", ["grad", "jacrev", "jacfwd", "jvp", "hessian"])
@pytest.mark.parametrize("name", INSIDE)
def test_inside_of_a_function_that_is_differentiated_they_are_refused(t, name, how):
    """Their inputs are leaves of their own, where the derivative ended: it was 0, silently."""
    x = t.tensor([1.0, 2.0])

    def function(x):
        return INSIDE[name](t.autograd.functional, x).sum()

    with pytest.raises(RuntimeError, match=r"attempting to call Tensor.requires_grad_\(\)"):
        t.func.jvp(function, (x,), (x,)) if how == "jvp" else getattr(t.func, how)(function)(x)


def test_with_a_graph_they_can_be_differentiated(t):
    x = t.tensor([1.0, 2.0])
    found = t.func.grad(lambda x: t.autograd.functional.vjp(sum_of_cubes, x, create_graph=True)[1].sum())(x)
    assert found.tolist() == [6, 12]
