"""Sizes, and values, that a program takes out in arrays, lists and texts: right at others, or refused there."""

import numpy as np
import pytest

import symgrad as sg
from tests.compiling.recorded import in_a_file, module_of, right_or_refused

LOST = [
    "x.stride(0)", "x.stride()[0]", "1.0 / x.stride(0)", "x.T.stride(1)", "x[:, ::2].stride(0)", "x[1:].stride(0)",
    "x.nbytes", "1.0 / x.nbytes", "x.nbytes // x.itemsize", "x.element_size() * x.numel()", "x.numel() // x.ndim",
    "x.untyped_storage().nbytes()", "x.detach().untyped_storage().size()", "x[1:].storage().size()", "len(x.storage())",
    "x.T.storage().nbytes()",
    "len(x.tolist())", "len(x.detach().numpy())", "x.detach().numpy().shape[0]", "x.detach().numpy().size * 2.0",
    "x.numpy(force=True).shape[1]", "np.asarray(x.detach()).nbytes", "np.array(x.tolist()).shape[0]",
    "np.abs(x.detach().numpy()).size", "np.size(x.detach().numpy())", "(x.detach().numpy() + 1).shape[0]",
    "np.zeros(x.detach().numpy().shape).size",
    "float(f'{x.shape[0]}')", "int(str(x.shape[0]))", "float('%d' % x.shape[0])", "float(''.join(map(str, x.shape)))",
    "len('ab' * x.shape[0])", "len(x.shape[0] * 'ab')", "float('{}'.format(x.shape[0]))", "len(bytes(x.shape[0]))",
    "{'w3': 0.5, 'w4': 1.5, 'w5': 2.5, 'w6': 3.5}[f'w{x.shape[0]}']", "len(f'{10 ** x.shape[0]}')",
    "{'3': 0.5, '4': 1.5}.get(str(x.shape[0]), 2.5)", "2.0 if f'{x.shape[0]}'.startswith('3') else 3.0",
    "2.0 if str(x.shape[0]) == '3' else 3.0", "{'w3': 0.5, 'w4': 1.5, 'w5': 2.5, 'w6': 3.5}[f'w{len(x)}']",
]  # fmt: skip


@pytest.mark.parametrize("made", LOST)
def test_programs_are_right_at_other_sizes_or_refuse_them(made, tmp_path):
    """Strides, lengths of lists and texts were the numbers of the recorded run at every size, silently."""
    right_or_refused(made, ["x * c", "x * (0.1 * c)", "x / (1.5 + c)"], tmp_path)


@pytest.mark.parametrize("value", ["x.sum().item()", "x.tolist()", "x.numpy(force=True)", "x.detach().max().item()"])
def test_sizes_that_were_read_before_a_value_was_shown_are_told(value, tmp_path):
    """A look stood between the size and the graph, which began behind it."""
    lines = ["def f(x):", "    n = x.shape[0]", f"    print({value})", "    return (x * (1.0 / n)).sum()"]
    f = module_of("\n".join(lines), tmp_path / "m.py").f
    program = sg.compile(f(sg.tensor(np.ones(3), requires_grad=True, name="x")))
    assert np.isclose(program(np.full(3, 2.0)), 2.0)
    with pytest.raises(ValueError, match="holds where n = 3"):
        program(np.ones(5))


KEPT = ["x.stride(0)", "2 / x.T.stride(1)", "x.nbytes / 2", "x.nbytes // x.itemsize"]


@pytest.mark.parametrize("made", KEPT)
def test_what_stays_a_size_leaves_programs_open(made, tmp_path):
    rng = np.random.default_rng(0)
    f = in_a_file(made, "x * c", tmp_path / "m.py")
    program = sg.compile(f(sg.tensor(rng.random((3, 5)), requires_grad=True, name="x")), ["x"])
    for shape in ((3, 5), (4, 5), (4, 7)):
        values = rng.random(shape)
        assert np.allclose(program(values), f(sg.tensor(values, requires_grad=True)).detach().numpy())


SHOWING = [
    "print(len(x.tolist()), x.detach().numpy().shape)", "print(f'n = {x.shape[0]}', str(x.shape))",
    "print('%d rows' % x.shape[0], '{} rows'.format(len(x)), str(len(x)) + ' rows')",
    "print(x.detach().numpy().mean(), x.numpy(force=True).mean())", "label = f'{x.shape[0]} rows'; print(label)",
    "np.testing.assert_equal(x.detach().numpy().shape, x.numpy(force=True).shape)", "assert len(x.tolist()) == len(x)",
]  # fmt: skip


@pytest.mark.parametrize("line", SHOWING)
def test_what_is_only_shown_leaves_programs_open(line, tmp_path):
    f = module_of(f"import numpy as np\n\ndef f(x):\n    {line}\n    return x * (0.3 * 0.1)\n", tmp_path / "m.py").f
    program = sg.compile(f(sg.tensor(np.ones(3), requires_grad=True, name="x")), ["x"])
    assert np.allclose(program(np.full(5, 2.0)), 0.06)


def test_texts_of_errors_and_labels_leave_programs_open(tmp_path):
    text = (
        "def f(x):\n    label = f'{x.shape[0]} rows'\n    if x.ndim > 2:\n"
        "        raise ValueError(f'{label} of {x.shape}: ' + str(len(x)))\n    print(label)\n"
        "    return (x * 0.3).sum()\n"
    )
    f = module_of(text, tmp_path / "m.py").f
    program = sg.compile(f(sg.tensor(np.ones(3), requires_grad=True, name="x")), ["x"])
    assert np.isclose(program(np.ones(5)), 1.5)


TAKEN = [
    "c.numpy()", "c.numpy().sum()", "np.asarray(c)", "np.array(c)[0]", "np.sort(c.numpy())",
    "(2.0 if c.numpy().sum() > 8 else 3.0)", "int(np.asarray(c).max())",
]  # fmt: skip


def of_two(made, path):
    return module_of(
        f"import numpy as np\n\n\ndef f(x, c):\n    k = {made}\n    return (x * (2 * k)).sum() + c.sum()\n", path
    ).f


@pytest.mark.parametrize("made", TAKEN)
def test_arrays_of_a_constant_that_is_an_argument_are_those_of_the_run(made, tmp_path):
    """Programs that took c as an argument had the entries of the run where Python had gone through ``c.numpy()``."""
    f, x = of_two(made, tmp_path / "m.py"), np.array([0.5, 1.5, 2.0])
    c = sg.tensor([1.0, 2.0, 4.0], dtype=sg.float64, name="c")
    program = sg.compile(f(sg.tensor(x, requires_grad=True, name="x"), c), ["x", "c"])
    assert np.isclose(program(x, c.numpy()), f(sg.tensor(x), c).item())
    with pytest.raises(ValueError, match="holds where"):
        program(x, np.array([9.0, 3.0, 3.0]))


@pytest.mark.parametrize("line", ["print(c.numpy())", "np.testing.assert_equal(c.numpy(), np.asarray(c))"])
def test_arrays_that_are_only_shown_leave_programs_open(line, tmp_path):
    f, x = of_two(f"0.5\n    {line}", tmp_path / "m.py"), np.array([0.5, 1.5, 2.0])
    c = sg.tensor([1.0, 2.0, 4.0], dtype=sg.float64, name="c")
    program = sg.compile(f(sg.tensor(x, requires_grad=True, name="x"), c), ["x", "c"])
    assert np.isclose(program(x, np.ones(3)), 7.0)


def test_sizes_divided_by_an_argument_stay_in_view(tmp_path):
    """Nothing in the file tells what k is."""
    f = module_of("def f(x, k):\n    c = x.shape[0] // k\n    return x * (0.25 * c)\n", tmp_path / "m.py").f
    program = sg.compile(f(sg.tensor(np.ones(6), requires_grad=True, name="x"), 2))
    assert np.allclose(program(np.ones(6)), 0.75)
    with pytest.raises(ValueError, match="holds where n = 6"):
        program(np.ones(8))


def test_an_array_and_a_shape_of_one_place_are_told_apart():
    """The shape that was kept of the array was given to whoever asked the tensor there."""
    x = sg.tensor(np.ones((2, 3)))
    for name in ("numpy", "numel", "stride", "tolist"):
        found = getattr(x, name)()
        assert name != "numel" or found == 6
    assert x.shape.numel() == 6


TOLD = [
    "len('%.1f' % {c})", "len(str({c}))", "(2.0 if '%d' % {c} == '6' else 3.0)", "float('{{:.1f}}'.format({c})) / 7",
    "(2.0 if f'{{{c}}}'.startswith('6') else 3.0)", "{{'6': 2.0}}.get('%d' % {c}, 3.0)", "len('{{c}}'.format(c={c}))",
    "(2.0 if str({c}) in ('6.0', '7.0') else 3.0)", "{{'6.0': 2.0}}[str({c})]",
]  # fmt: skip


@pytest.mark.parametrize("made", TOLD)
def test_what_is_made_of_texts_of_values_is_that_of_the_run(made, tmp_path):
    """Programs had what texts of the recorded values led to, at all values, silently."""
    f = module_of(f"def f(x):\n    return x * (0.25 * {made.format(c='x.sum().item()')})\n", tmp_path / "m.py").f
    here = np.array([1.0, 2.0, 3.0])
    y = f(sg.tensor(here, requires_grad=True, name="x"))
    program = sg.compile(y, ["x"])
    assert np.allclose(program(here), y.detach().numpy())
    with pytest.raises(ValueError, match="holds where"):
        program(1000 * here)


LOGGED = [
    "print('{:.3f}'.format(x.sum().item()), '%.3f' % x.sum().item())", "log = []; log.append(f'loss {x.sum().item()}')",
    "line = 'loss '; line += str(x.sum().item()); print(line.strip())", "log = {}; log[str(x.sum().item())] = 1",
    "text = f'{x.sum().item() * 2:.3f}'; print(' ' * (8 - len(text)) + text)",
]  # fmt: skip


@pytest.mark.parametrize("line", LOGGED)
def test_texts_of_values_that_are_only_shown_leave_programs_open(line, tmp_path):
    f = module_of(f"def f(x):\n    {line}\n    return x * 0.3\n", tmp_path / "m.py").f
    program = sg.compile(f(sg.tensor(np.ones(3), requires_grad=True, name="x")), ["x"])
    assert np.allclose(program(np.full(3, 2.0)), 0.6)


def test_texts_that_are_read_in_a_circle(tmp_path):
    circle = "    for _ in range(2):\n        k = float(f'{k * w:.1f}')\n"
    text = f"def f(x, w):\n    k = x.sum().item()\n{circle}    return x * k\n"
    f = module_of(text, tmp_path / "m.py").f
    program = sg.compile(f(sg.tensor(np.ones(3), requires_grad=True, name="x"), 1.25), ["x"])
    with pytest.raises(ValueError, match="holds where"):
        program(np.full(3, 2.0))
