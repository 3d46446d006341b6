"""torch.autograd.functional, second part: whole Jacobians and Hessians, alone, vectorised, and against the products."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from tests.leaves import values


def make(t, *shape, start=1.0, dtype=None, requires_grad=False):
    size = int(np.prod(shape))
    array = (np.arange(size) + start).reshape(shape) / 8
    return t.tensor(array, dtype=dtype or t.float64, requires_grad=requires_grad)


pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit")  # how torch vectorises


def rows(x):
    return (x * x).sum(1)


def cubes(x):
    return (x**3).sum()


# ------------------------------------------------------------------------------------------ jacobian


def test_jacobian_err_check(t):
    """What is no tensor is refused; the shape is that of the output, then that of the input."""
    jacobian, x = t.autograd.functional.jacobian, make(t, 3, 2)
    with pytest.raises(TypeError, match="The inputs given to jacobian must be either a Tensor"):
        jacobian(rows, (x, 1))
    with pytest.raises(TypeError, match="The outputs of the user-provided function given to jacobian must be"):
        jacobian(lambda x: "nonsense", x)
    with pytest.raises(TypeError, match="The outputs of the user-provided function given to jacobian must be"):
        jacobian(lambda x: (rows(x), "nonsense"), x)
    assert jacobian(rows, x).shape == (3, 3, 2)
    first, second = jacobian(lambda x, y: rows(x) * y, (x, make(t, 3)))
    assert (first.shape, second.shape) == ((3, 3, 2), (3, 3))


def test_jacobian_err_check_strict(t):
    """Strict mode refuses outputs that lead nowhere or elsewhere, and for a graph also constant Jacobians."""
    jacobian, x = t.autograd.functional.jacobian, make(t, 3)
    with pytest.raises(RuntimeError, match="Output 0 of the user-provided function does not require gradients"):
        jacobian(lambda x: x.detach(), x, strict=True)
    assert values(jacobian(lambda x: x.detach(), x)) == [[0.0] * 3] * 3
    other = make(t, 3, requires_grad=True)
    with pytest.raises(RuntimeError, match="Output 0 of the user-provided function is independent of input 0"):
        jacobian(lambda x: other * 2, x, strict=True)
    assert values(jacobian(lambda x: other * 2, x)) == [[0.0] * 3] * 3
    assert values(jacobian(lambda x: x * 2, x, strict=True)) == [[2.0, 0, 0], [0, 2.0, 0], [0, 0, 2.0]]
    with pytest.raises(RuntimeError, match="jacobian of the user-provided function is independent of input 0"):
        jacobian(lambda x: x * 2, x, strict=True, create_graph=True)


def test_jacobian_no_grad(t):
    """``no_grad`` outside does not keep it from computing, nor from making a graph that is asked for."""
    with t.no_grad():
        found = t.autograd.functional.jacobian(rows, make(t, 2, 2))
        assert not found.requires_grad
        assert np.abs(found.numpy()).max() > 0
        assert t.autograd.functional.jacobian(rows, make(t, 2, 2), create_graph=True).requires_grad


def test_jacobian_of_a_view_cut_out_under_no_grad(t):
    """It requires grad as its base does, and its entries do not depend on anything."""

    def turned(x):
        with t.no_grad():
            return x.t()

    assert not t.autograd.functional.jacobian(turned, make(t, 2, 2)).numpy().any()


def test_jacobian_output(t):
    """One matrix, a tuple per input, a tuple per output of tuples per input; none has a history."""
    jacobian, x, y = t.autograd.functional.jacobian, make(t, 2, 2), make(t, 2)
    found = jacobian(rows, x)
    assert found.grad_fn is None
    by_hand = np.zeros((2, 2, 2))
    for k in range(2):
        by_hand[k, k] = 2 * x.numpy()[k]
    assert np.allclose(found.numpy(), by_hand)
    found = jacobian(lambda x, y: rows(x) + 5 * y, (x, y))
    assert isinstance(found, tuple)
    assert values(found[1]) == [[5.0, 0.0], [0.0, 5.0]]
    found = jacobian(lambda x, y: (rows(x), x.sum() * y), (x, y))
    assert [[tuple(b.shape) for b in row] for row in found] == [[(2, 2, 2), (2, 2)], [(2, 2, 2), (2, 2)]]
    assert values(found[0][1]) == [[0.0, 0.0], [0.0, 0.0]]


def test_jacobian_scalar(t):
    """Numbers as input and output take no axes."""
    jacobian, x, s = t.autograd.functional.jacobian, make(t, 2, 2), t.tensor(2.0, dtype=t.float64)
    assert jacobian(lambda x: x.sum(), x).shape == (2, 2)
    assert jacobian(lambda s: s * x, s).shape == (2, 2)
    assert jacobian(lambda s: s**3, s).item() == 12.0
    assert jacobian(lambda s: s**3, s).shape == ()


def test_jacobian_create_graph(t):
    """With a graph the Jacobian is a function of the inputs with right derivatives."""
    x, y = make(t, 2, 2, requires_grad=True), make(t, 2, requires_grad=True)
    assert t.autograd.functional.jacobian(rows, x, create_graph=True).requires_grad

    def function(x, y):
        return t.autograd.functional.jacobian(lambda x, y: (x * y.exp()).sum(1), (x, y), create_graph=True)

    assert t.autograd.gradcheck(function, (x, y))
    assert t.autograd.gradgradcheck(function, (x, y))


# ------------------------------------------------------------------------------------------ hessian


def test_hessian_err_check(t):
    """What is no tensor is refused, and an output that is not one number."""
    hessian, x = t.autograd.functional.hessian, make(t, 2, 2)
    with pytest.raises(TypeError, match="The inputs given to hessian must be either a Tensor"):
        hessian(cubes, (x, 1))
    with pytest.raises(TypeError, match="The outputs of the user-provided function given to hessian must be"):
        hessian(lambda x: "nonsense", x)
    with pytest.raises(RuntimeError, match="returned by the function given to hessian should contain a single"):
        hessian(rows, x)
    with pytest.raises(RuntimeError, match="The function given to hessian should return a single Tensor"):
        hessian(lambda x: (cubes(x), cubes(x)), x)
    assert hessian(cubes, x).shape == (2, 2, 2, 2)


def test_hessian_err_check_strict(t):
    """Strict mode tells a gradient that does not depend on the input from a Hessian that does not."""
    hessian, x = t.autograd.functional.hessian, make(t, 3)
    other = make(t, 3, requires_grad=True)
    for constant, words in (
        (lambda x: x.detach().sum(), "Output 0 of the user-provided function does not require gradients"),
        (lambda x: (other * 2).sum(), "jacobian of the user-provided function with respect to input 0 is independent"),
        (lambda x: (x * 2).sum(), "jacobian of the user-provided function with respect to input 0 is independent"),
    ):
        with pytest.raises(RuntimeError, match=words):
            hessian(constant, x, strict=True)
        assert np.abs(hessian(constant, x).numpy()).max() == 0.0
    assert values(hessian(lambda x: (x * x).sum(), x, strict=True))[0] == [2.0, 0.0, 0.0]
    with pytest.raises(RuntimeError, match="jacobian of the user-provided function is independent of input 0"):
        hessian(lambda x: (x * x).sum(), x, strict=True, create_graph=True)


def test_hessian_no_grad(t):
    """``no_grad`` outside does not keep it from computing, nor from making a graph that is asked for."""
    with t.no_grad():
        found = t.autograd.functional.hessian(cubes, make(t, 2, 2))
        assert not found.requires_grad
        assert np.abs(found.numpy()).max() > 0
        assert t.autograd.functional.hessian(cubes, make(t, 2, 2), create_graph=True).requires_grad


def test_hessian_output(t):
    """One block, or a tuple per input of tuples per input; none has a history."""
    hessian, x, y = t.autograd.functional.hessian, make(t, 2), make(t, 2, start=3.0)
    found = hessian(cubes, x)
    assert found.grad_fn is None
    assert np.allclose(found.numpy(), np.diag(6 * x.numpy()))
    blocks = hessian(lambda x, y: (x * y * y).sum(), (x, y))
    assert isinstance(blocks, tuple)
    assert np.allclose(blocks[0][0].numpy(), 0.0)
    assert np.allclose(blocks[0][1].numpy(), np.diag(2 * y.numpy()))
    assert np.allclose(blocks[1][1].numpy(), np.diag(2 * x.numpy()))


def test_hessian_scalar(t):
    """A number as input takes no axes; an output of shape (1, 1) is one number as well."""
    hessian, s = t.autograd.functional.hessian, t.tensor(2.0, dtype=t.float64)
    assert hessian(lambda s: s**3, s).item() == 12.0
    assert hessian(lambda s: s**3, s).shape == ()
    assert hessian(lambda x: (x**3).sum().reshape(1, 1), make(t, 2)).shape == (2, 2)


def test_hessian_create_graph(t):
    """With a graph the Hessian is a function of the inputs with right derivatives."""
    x, y = make(t, 2, requires_grad=True), make(t, 2, requires_grad=True)

    def function(x, y):
        first, second = t.autograd.functional.hessian(lambda x, y: (x**3 * y.exp()).sum(), (x, y), create_graph=True)
        return first + second

    assert t.autograd.gradcheck(function, (x, y))
    assert t.autograd.gradgradcheck(function, (x, y))


# ------------------------------------------------------------------------------------------ agreement


def test_jacobian_match_vjp_jvp(t):
    """The Jacobian times a vector, from either side, is what the products say."""
    functional, x = t.autograd.functional, make(t, 3)
    f = lambda x: x**3 + x.sum()  # noqa: E731
    J, v = functional.jacobian(f, x), make(t, 3, start=-2.0)
    assert np.allclose(functional.vjp(f, x, v)[1].numpy(), v.numpy() @ J.numpy())
    assert np.allclose(functional.jvp(f, x, v)[1].numpy(), J.numpy() @ v.numpy())


def test_hessian_match_vhp_hvp(t):
    """The Hessian times a vector, from either side, is what the products say."""
    functional, x = t.autograd.functional, make(t, 3)
    f = lambda x: (x**3).sum() * x.prod()  # noqa: E731
    H, v = functional.hessian(f, x), make(t, 3, start=-2.0)
    assert np.allclose(functional.vhp(f, x, v)[1].numpy(), v.numpy() @ H.numpy())
    assert np.allclose(functional.hvp(f, x, v)[1].numpy(), H.numpy() @ v.numpy())


# ------------------------------------------------------------------------------------------ vectorised


def same_blocks(a, b, dtypes=True):
    if isinstance(a, (tuple, list)):  # torch gives lists in forward mode
        assert isinstance(b, tuple)
        for x, y in zip(a, b, strict=True):
            same_blocks(x, y, dtypes)
    else:
        assert a.dtype == b.dtype or not dtypes
        assert a.shape == b.shape
        assert np.allclose(a.detach().numpy(), b.detach().numpy())


def like_the_loop(t, function, inputs, name="jacobian"):
    call = getattr(t.autograd.functional, name)
    expected = call(function, inputs)
    same_blocks(call(function, inputs, vectorize=True), expected)
    strategy = {"jacobian": "strategy", "hessian": "outer_jacobian_strategy"}[name]
    same_blocks(call(function, inputs, vectorize=True, **{strategy: "forward-mode"}), expected, dtypes=False)


def quiet(t, call, function, x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call(function, x, vectorize=True)


def test_jacobian_err_check_strict_vectorize(t):
    """Strict mode is not to be had together with vectorisation."""
    with pytest.raises(RuntimeError, match="not supported together"):
        t.autograd.functional.jacobian(rows, make(t, 2, 2), strict=True, vectorize=True)


def test_jacobian_vectorize_raises_no_warnings(t):
    """It does not warn."""
    quiet(t, t.autograd.functional.jacobian, rows, make(t, 2, 2))


def test_jacobian_vectorize_correctness_simple(t):
    """It gives what the loop gives."""
    like_the_loop(t, lambda x: x.pow(3).sum(1) * 2 + x[0, 0], make(t, 3, 3))


def test_jacobian_vectorize_correctness_multi_input(t):
    """So with several inputs."""
    like_the_loop(t, lambda x, y: (x.cos() * x) @ y.sin(), (make(t, 2, 3), make(t, 3, 2)))


def test_jacobian_vectorize_correctness_multi_input_multi_output(t):
    """And several outputs."""
    like_the_loop(
        t,
        lambda x, y, z: ((x * x) @ y, x @ (x.sum(1) * y), y.sum() * z),
        (make(t, 2, 2), make(t, 2), make(t, 3)),
    )


def test_jacobian_vectorize_correctness_unrelated_outputs(t):
    """Outputs that ignore an input have a block of zeros there."""
    like_the_loop(t, lambda x, y: (x, y, x.sum(), y * x.sum()), (make(t, 2), make(t, 3)))


def test_jacobian_vectorize_correctness_zero_dim(t):
    """Numbers among inputs and outputs take no axes."""
    like_the_loop(t, lambda x, y: (x.sum(), y * y, x * y), (make(t, 3), make(t)))
    like_the_loop(t, lambda x: x.sin(), make(t))


def test_jacobian_vectorize_correctness_different_dtype(t):
    """Each block has the dtype it has without."""
    like_the_loop(t, lambda x, y: (x * y, (y * x.double())), (make(t, 2, dtype=t.float32), make(t, 2)))


def test_hessian_err_check_strict_vectorize(t):
    """Strict mode is not to be had together with vectorisation."""
    with pytest.raises(RuntimeError, match="not supported together"):
        t.autograd.functional.hessian(cubes, make(t, 2), strict=True, vectorize=True)


def test_hessian_vectorize_raises_no_warnings(t):
    """It does not warn."""
    quiet(t, t.autograd.functional.hessian, cubes, make(t, 2, 2))


def test_hessian_vectorize_correctness_simple(t):
    """It gives what the loop gives."""
    like_the_loop(t, lambda x: (3 * x**4).sum(), make(t, 2, 3), "hessian")


def test_hessian_vectorize_correctness_multi_input(t):
    """So with several inputs."""
    like_the_loop(t, lambda x, y: (x * x @ y).sum() * y.sum(), (make(t, 2, 3), make(t, 3)), "hessian")


def test_hessian_vectorize_correctness_unrelated_outputs(t):
    """Inputs that do not meet have a block of zeros."""
    like_the_loop(t, lambda x, y: (x**2).sum(), (make(t, 2), make(t, 3)), "hessian")
    like_the_loop(t, lambda x, y: (x**2).sum() + (y**3).sum(), (make(t, 2), make(t, 3)), "hessian")


@pytest.mark.parametrize("size", [None, 2])
def test_recorded_jacobians_and_hessians_end_in_a_view(t, size):
    """Whatever the last step of the derivation was: jacobians are views of stacked rows."""
    x, y = make(t, 3, requires_grad=True), make(t, 3, start=2.0, requires_grad=True)

    def names(found):
        return {b.grad_fn.name() for row in found for b in (row if isinstance(row, tuple) else (row,))}

    def product(x, y):
        return (x * y).sin()

    def summed(x, y):
        return product(x, y).sum()

    functional, func = t.autograd.functional, t.func
    assert names(functional.jacobian(product, (x, y), create_graph=True)) == {"ViewBackward0"}
    assert names(functional.hessian(summed, (x, y), create_graph=True)) == {"ViewBackward0"}
    assert names(func.jacrev(product, (0, 1), chunk_size=size)(x, y)) == {"ViewBackward0"}
    assert names(func.hessian(summed, (0, 1))(x, y)) == {"ViewBackward0"}


def test_strict_jacobian_names_what_is_met_first(t):
    """A derivative without history is named when it is met, before an input that nothing depends on."""
    x, y = t.ones(2), t.ones(2)
    words = "The jacobian of the user-provided function is independent of input 1"
    with pytest.raises(RuntimeError, match=words):
        t.autograd.functional.jacobian(lambda x, y: (x * y, x.sum()), (x, y), strict=True, create_graph=True)
    with pytest.raises(RuntimeError, match="Output 1 of the user-provided function is independent of input 1"):
        t.autograd.functional.jacobian(lambda x, y: (x * y, x.sum()), (x, y), strict=True)


def test_ways_that_do_not_go_together(t):
    """torch's words for flags that exclude each other, said after what is wrong with the function."""
    jacobian, x = t.autograd.functional.jacobian, t.ones(2)
    with pytest.raises(RuntimeError, match="`strict=True` and `vectorized=True` are not supported together"):
        jacobian(lambda x: x * 2, x, strict=True, vectorize=True)
    with pytest.raises(RuntimeError, match="Output 0 of the user-provided function does not require gradients"):
        jacobian(lambda x: x.detach(), x, strict=True, vectorize=True)
    with pytest.raises(AssertionError, match='Expected strategy to be either "forward-mode" or "reverse-mode"'):
        jacobian(lambda x: x * 2, x, strategy="sideways")
