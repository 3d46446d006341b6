"""Programs of whole numbers: pictures of bytes, masks, labels, sizes that are tensors."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg

NAMES = ["sigmoid", "tanh", "exp", "erf", "sqrt", "sinc", "nn.functional.silu", "special.entr"]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64"])
@pytest.mark.parametrize("name", NAMES)
def test_functions(name: str, dtype: str) -> None:
    function = sg
    for part in name.split("."):
        function = getattr(function, part)
    x = np.array([1, 0, 1]).astype(dtype)
    got, want = sg.compile(lambda t: function(t), x)(x), function(sg.tensor(x)).numpy()
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-6)


def test_sizes_of_a_split_as_a_tensor() -> None:
    v = np.array([1.0, 2.0, 4.0])
    program = sg.compile(lambda v, k: sg.split(v, k)[-1].sum(), v, np.array([2, 1]))
    assert program(v, np.array([1, 2])) == 6
