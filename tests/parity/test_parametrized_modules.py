"""Weights that are computed of others, beside torch's: names, texts, values, gradients and states."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch")


def symmetric(library: Any) -> Any:
    class Symmetric(library.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, x: Any) -> Any:
            return x.triu() + x.triu(1).T

        def right_inverse(self, x: Any) -> Any:
            return x.triu()

    return Symmetric()


def scaled(library: Any) -> Any:
    class Scaled(library.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.scale = library.nn.Parameter(library.tensor(2.0, dtype=library.float64))

        def forward(self, x: Any) -> Any:
            return x * self.scale

    return Scaled()


def standardised(library: Any) -> Any:
    class Standardised(library.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, w: Any) -> Any:
            return (w - w.mean(1, keepdim=True)) / (w.std(1, keepdim=True) + 1e-5)

    return Standardised()


def split(library: Any) -> Any:
    class Split(library.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, a: Any, b: Any) -> Any:
            return a @ b

        def right_inverse(self, x: Any) -> Any:
            return x, library.eye(x.shape[1], dtype=x.dtype)

    return Split()


WAYS = {
    "symmetric": lambda t, m: t.nn.utils.parametrize.register_parametrization(m, "weight", symmetric(t)),
    "two": lambda t, m: t.nn.utils.parametrize.register_parametrization(
        t.nn.utils.parametrize.register_parametrization(m, "weight", symmetric(t)), "weight", scaled(t)
    ),
    "standardised": lambda t, m: t.nn.utils.parametrize.register_parametrization(m, "weight", standardised(t)),
    "split": lambda t, m: t.nn.utils.parametrize.register_parametrization(m, "weight", split(t)),
    "both": lambda t, m: t.nn.utils.parametrize.register_parametrization(
        t.nn.utils.parametrizations.weight_norm(m), "bias", scaled(t)
    ),
    "weight norm": lambda t, m: t.nn.utils.parametrizations.weight_norm(m),
    "weight norm of columns": lambda t, m: t.nn.utils.parametrizations.weight_norm(m, dim=1),
    "weight norm of all": lambda t, m: t.nn.utils.parametrizations.weight_norm(m, dim=None),
    "spectral norm": lambda t, m: t.nn.utils.parametrizations.spectral_norm(m),
    "spectral norm of a vector": lambda t, m: t.nn.utils.parametrizations.spectral_norm(m, "bias"),
    "spectral norm, twice": lambda t, m: t.nn.utils.parametrizations.spectral_norm(m, n_power_iterations=2, dim=1),
    "old weight norm": lambda t, m: t.nn.utils.weight_norm(m),
    "old weight norm of all": lambda t, m: t.nn.utils.weight_norm(m, dim=None),
    "old spectral norm": lambda t, m: t.nn.utils.spectral_norm(m),
    "old spectral norm, twice": lambda t, m: t.nn.utils.spectral_norm(m, n_power_iterations=2, dim=1),
    **{
        f"orthogonal by {how}, {own}": lambda t, m, how=how, own=own: t.nn.utils.parametrizations.orthogonal(
            m, orthogonal_map=how, use_trivialization=own
        )
        for how in (None, "matrix_exp", "cayley", "householder")
        for own in (True, False)
    },
}


def _run(library: Any, way: str, shape: tuple[int, int]) -> tuple[list[Any], list[Any]]:
    library.manual_seed(3)
    layer = library.nn.Linear(*shape).double()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        layer = WAYS[way](library, layer)
    words = [repr(layer), list(layer.state_dict()), [name for name, _ in layer.named_parameters()]]
    numbers = []
    x = library.tensor(np.linspace(-1, 2, 2 * shape[0]).reshape(2, -1))
    for training in (True, False):
        out = layer.train(training)(x)
        (out * (out + 1)).sum().backward()
        numbers += [out, *(p.grad for p in layer.parameters()), *layer.state_dict().values()]
        layer.zero_grad()
    return words, [n.detach().numpy().copy() for n in numbers]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shape", [(3, 3), (3, 2), (2, 4)], ids=str)
def test_weights_that_are_computed(way: str, shape: tuple[int, int]) -> None:
    if shape != (3, 3) and way in ("symmetric", "two"):
        with pytest.raises(ValueError, match="may not change the|same|shape"):
            _run(sg, way, shape)
        return
    (words, numbers), (words_there, numbers_there) = (_run(library, way, shape) for library in (sg, torch))
    assert words == words_there
    for a, b in zip(numbers, numbers_there, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("way", [w for w in WAYS if "False" not in w])
def test_values_are_assigned_and_parametrizations_removed(way: str) -> None:
    found = []
    for library in (sg, torch):
        library.manual_seed(3)
        layer = library.nn.Linear(3, 3).double()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            layer = WAYS[way](library, layer)
        utils, row = library.nn.utils, []
        if way.startswith("old"):
            (utils.remove_weight_norm if "weight" in way else utils.remove_spectral_norm)(layer)
        else:
            name = "bias" if "vector" in way else "weight"
            if way not in ("two", "standardised"):
                shape = (3, 3) if name == "weight" else (3,)
                setattr(layer, name, library.tensor(np.arange(9.0)[: 3 ** len(shape)].reshape(shape)))
                row.append(getattr(layer, name))
            for name in list(layer.parametrizations):
                utils.parametrize.remove_parametrizations(layer, name)
        found.append((repr(layer), list(layer.state_dict()), [*row, *layer.state_dict().values()]))
    assert found[0][:2] == found[1][:2]
    for a, b in zip(found[0][2], found[1][2], strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-7, atol=1e-10)


def test_parameters_keep_their_place_in_formulas() -> None:
    net = sg.nn.Sequential(sg.nn.Linear(2, 2), sg.nn.Linear(2, 2))
    for layer in net:
        sg.nn.utils.parametrizations.weight_norm(layer)
    assert [p.name for p in net.parameters()] == [
        "bias_0", "weight_original0_0", "weight_original1_0", "bias_1", "weight_original0_1", "weight_original1_1",
    ]  # fmt: skip
    outer = sg.nn.ModuleDict({"net": net})
    assert [p.name for p in outer.parameters()][1] == "net_0_weight_original0"
    sg.nn.utils.parametrize.remove_parametrizations(net[0], "weight")
    assert net[0].weight.name == "net_0_weight"


def test_copies_and_files_are_apart_from_the_first() -> None:
    layer = sg.nn.utils.parametrizations.weight_norm(sg.nn.Linear(2, 2))
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert sg.equal(other.weight, layer.weight)
        assert other.parametrizations.weight.original0 is not layer.parametrizations.weight.original0
        sg.nn.utils.parametrize.remove_parametrizations(other, "weight")
        assert type(other) is sg.nn.Linear
        assert type(layer).__name__ == "ParametrizedLinear"
        assert layer.weight.shape == (2, 2)


def test_states_of_the_older_weight_norm_are_loaded() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        old = sg.nn.utils.weight_norm(sg.nn.Linear(3, 2))
    new = sg.nn.utils.parametrizations.weight_norm(sg.nn.Linear(3, 2))
    new.load_state_dict(old.state_dict())
    x = sg.randn(4, 3)
    assert sg.allclose(new(x), old(x))


def test_what_torch_refuses_is_refused() -> None:
    for t in (sg, torch):
        utils = t.nn.utils
        for call in (
            lambda utils=utils, t=t: utils.parametrize.register_parametrization(t.nn.Linear(2, 2), "w", t.nn.ReLU()),
            lambda utils=utils, t=t: utils.parametrize.register_parametrization(
                t.nn.Linear(2, 2), "weight", t.nn.Flatten(0)
            ),
            lambda utils=utils, t=t: utils.parametrize.remove_parametrizations(t.nn.Linear(2, 2), "weight"),
            lambda utils=utils, t=t: utils.parametrize.remove_parametrizations(
                utils.parametrizations.weight_norm(t.nn.Linear(2, 2)), "weight", leave_parametrized=False
            ),
            lambda utils=utils, t=t: utils.parametrizations.orthogonal(t.nn.Linear(2, 2), "bias"),
            lambda utils=utils, t=t: utils.parametrizations.orthogonal(t.nn.Linear(2, 2), orthogonal_map="polar"),
            lambda utils=utils, t=t: utils.parametrizations.spectral_norm(t.nn.Linear(2, 2), n_power_iterations=0),
            lambda utils=utils, t=t: utils.spectral_norm(t.nn.Linear(2, 2), n_power_iterations=0),
            lambda utils=utils, t=t: utils.remove_spectral_norm(t.nn.Linear(2, 2)),
            lambda utils=utils, t=t: utils.remove_weight_norm(t.nn.Linear(2, 2)),
        ):
            with pytest.raises(ValueError):  # noqa: PT011  (the words are torch's, and others)
                call()
        with pytest.raises(RuntimeError, match="does not implement right_inverse"):
            utils.parametrize.register_parametrization(t.nn.Linear(2, 2), "weight", t.nn.ReLU()).weight = t.ones(2, 2)
        with pytest.raises(RuntimeError, match="Cannot register two spectral_norm hooks"):
            utils.spectral_norm(utils.spectral_norm(t.nn.Linear(2, 2)))
        with pytest.raises(RuntimeError):
            utils.skip_init(int)
