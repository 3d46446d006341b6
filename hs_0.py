"""hessian_program: NumPy source written by symgrad.

Arguments
    A (n, 2) float64
    x (2,) float64
    b (n,) float64
Results (gradients have the shape of their variable; Jacobians have axes outputs…, inputs…)
    by x: (2, 2) float64
Formula (LaTeX)
    2 A^{\\top} \\operatorname{diag}\\left(\\left(1 - 3 \\tanh^{2}\\left(A x - b\\right)\\right) \\odot \\left(1 - \\tanh^{2}\\left(A x - b\\right)\\right)\\right) A

`python -I <this file> --selftest` compares it with stored values.
"""

from __future__ import annotations

import numpy as np


def hessian_program(A, x, b):
    """A (n, 2), x (2,), b (n,) -> (2, 2) float64."""
    A, x, b = _checked(A=A, x=x, b=b)
    t1 = A.T
    t2 = np.tanh(A @ x - b)
    t3 = 1 - t2 * t2
    t1 = (t1 * (t3 * 2) - t1 * (4 * t2 * t2)) * t3
    return t1 @ A


def _grad_program_value(A, x, b):
    """A (n, 2), x (2,), b (n,) -> (2,) float64."""
    t1 = np.tanh(A @ x - b)
    return (2 * t1 * (1 - t1 * t1)) @ A


# shape and dtype of every argument; a letter is one size everywhere
_LAYOUT = {
    'A': (('n', 2), 'float64'),
    'x': ((2,), 'float64'),
    'b': (('n',), 'float64'),
}


def _checked(**arrays):
    """The arguments as arrays of the dtypes above; an error where one does not fit, or two do not fit each other."""
    sizes = {}
    for name, value in arrays.items():
        shape, dtype = _LAYOUT[name]
        array = np.asarray(value)
        if not np.can_cast(array.dtype, dtype, "same_kind"):
            raise TypeError(f"hessian_program(): {name} has dtype {array.dtype}, which does not go into {dtype}")
        wanted = f"{name} must have shape ({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"
        if shape != (...,) and array.ndim != len(shape):
            raise ValueError(f"hessian_program(): {name} has shape {array.shape} with {array.ndim} axes, but {wanted}")
        for axis, (size, letter) in enumerate(zip(array.shape, shape)):
            known, where = sizes.setdefault(letter, (size, name)) if isinstance(letter, str) else (letter, "")
            if size != known and letter is not ...:
                found = f", and {letter} is {known} in {where}" if where else ""
                raise ValueError(f"hessian_program(): {name} has size {size} in axis {axis}, but {wanted}{found}")
        arrays[name] = array.astype(dtype, copy=False)[()]
    return arrays.values()


_PROGRAM = hessian_program
_ARGUMENTS = [
    np.array([[1.0, 1.793331848361975], [0.795567118378535, 0.25934825413781404], [1.3952906809108865, 1.6387896900987924]], dtype='float64'),
    np.array([1.6731767878463173, 1.3419039041870637], dtype='float64'),
    np.array([1.7274379414605454, 0.5761310872732053, 0.38178840995521024], dtype='float64'),
]
_RESULTS = [
    np.array([[-0.5621348065010352, -0.3874317427429023], [-0.38743174274290226, -0.48842140198992934]], dtype='float64'),
]
_RTOL = 1e-09
_LOOSE = 1e-05
_DERIVATIVES = [(1, 0)]
_BASES = [0]


def _selftest():
    """Compare with stored values and, for derivatives, with central differences; 0 when all agree."""
    failures = 0
    with np.errstate(all="ignore"):
        found = _PROGRAM(*_ARGUMENTS)
    found = found if isinstance(found, tuple) else (found,)
    for k, (value, stored) in enumerate(zip(found, _RESULTS)):
        same_kind = np.shape(value) == stored.shape and np.asarray(value).dtype == stored.dtype
        close = same_kind and np.allclose(value, stored, rtol=_RTOL, atol=_RTOL, equal_nan=True)
        verdict = "as stored" if close else "DIFFERS from the stored value"
        print(f"hessian_program: result {k} of shape {np.shape(value)}: {verdict}")
        failures += not close
    for k, (position, column) in enumerate(_DERIVATIVES):
        step = 6e-6 if _ARGUMENTS[position].dtype == np.float64 else 1e-2
        rng = np.random.default_rng(k)
        direction = rng.standard_normal(_ARGUMENTS[position].shape).astype(_ARGUMENTS[position].dtype)
        turned = np.swapaxes(_ARGUMENTS[position], -1, -2) if direction.ndim > 1 else None
        if turned is not None and np.array_equal(_ARGUMENTS[position], turned):
            direction = direction + np.swapaxes(direction, -1, -2)  # symmetric matrices stay symmetric
        ends = []
        for sign in (1, -1):
            moved = list(_ARGUMENTS)
            moved[position] = moved[position] + moved[position].dtype.type(sign * step) * direction
            with np.errstate(all="ignore"):
                out = _grad_program_value(*moved)
            ends.append(np.asarray(out[_BASES[k]] if isinstance(out, tuple) else out, np.float64))
        numeric = (ends[0] - ends[1]) / (2 * step)
        exact = np.tensordot(np.asarray(found[column], np.float64), np.asarray(direction, np.float64), direction.ndim)
        scale = max(1.0, float(np.max(np.abs(exact), initial=0)))
        close = np.allclose(exact, numeric, rtol=_LOOSE, atol=_LOOSE * scale, equal_nan=True)
        print(f"hessian_program: result {column}: {'agrees with' if close else 'DIFFERS from'} central differences")
        failures += not close
    print("self-test passed" if not failures else f"self-test FAILED: {failures} differences")
    return 1 if failures else 0


if __name__ == "__main__":
    import sys

    if sys.argv[1:] == ["--selftest"]:
        sys.exit(_selftest())
    print(__doc__)
    sys.exit(2 if sys.argv[1:] not in ([], ["-h"], ["--help"]) else 0)
