"""Sizes and numbers that programs keep in objects, containers and names of other functions, and compute with later."""

import importlib.util

import numpy as np
import pytest

import symgrad as sg

WAYS = {
    "a method": "class M:\n    def c(self, x):\n        return {c}\ndef f(x):\n    return x * (0.1 * M().c(x))\n",
    "a property": (
        "class M:\n    def __init__(self, x):\n        self.x = x\n    @property\n"
        "    def c(self):\n        x = self.x\n"
        "        return {c}\ndef f(x):\n    return x * (0.1 * M(x).c)\n"
    ),
    "an attribute": (
        "class M:\n    def __init__(self, x):\n        self.c = {c}\ndef f(x):\n    m = M(x)\n"
        "    return x * (0.1 * m.c)\n"
    ),
    "an object that is called": (
        "class M:\n    def __call__(self, x):\n        return {c}\n"
        "def f(x):\n    m = M()\n    return x * (0.1 * m(x))\n"
    ),
    "an argument of a method": (
        "class M:\n    def run(self, x, c):\n        return x * (0.1 * c)\ndef f(x):\n    return M().run(x, {c})\n"
    ),
    "a field": (
        "import typing\nclass M(typing.NamedTuple):\n    c: float\ndef f(x):\n    m = M({c})\n"
        "    return x * (0.1 * m.c)\n"
    ),
    "setattr": "class M: ...\ndef f(x):\n    setattr(M, 'c', {c})\n    return x * (0.1 * M.c)\n",
    "a factor in an attribute": (
        "class M:\n    def __init__(self):\n        self.rate = 0.1\n"
        "def f(x):\n    m = M()\n    c = m.rate * {c}\n    return c * x\n"
    ),
    "a sum in an attribute": (
        "class M:\n    c = 0.0\ndef f(x):\n    m = M()\n    m.c += {c}\n    return x * (0.1 * m.c)\n"
    ),
    "a sum in a name": "def f(x):\n    c = 0.0\n    c += {c}\n    return x * (0.1 * c)\n",
    "a function inside": "def f(x):\n    g = lambda: {c}\n    return x * (0.1 * g())\n",
    "a generator": "def g(x):\n    yield {c}\ndef f(x):\n    for c in g(x):\n        return x * (0.1 * c)\n",
    "several results": "def g(x):\n    return {c}, 3\ndef f(x):\n    c, d = g(x)\n    return x * (0.1 * c)\n",
    "a default": "def f(x):\n    def g(c={c}):\n        return x * (0.1 * c)\n    return g()\n",
    "a global name": (
        "C = 0\ndef g(x):\n    return x * (0.1 * C)\ndef f(x):\n    global C\n    C = {c}\n    return g(x)\n"
    ),
    "a name of the function around": (
        "def f(x):\n    c = 0\n    def g():\n        nonlocal c\n        c = {c}\n    g()\n    return x * (0.1 * c)\n"
    ),
    "options": "def g(x, **options):\n    return x * (0.1 * options['c'])\ndef f(x):\n    return g(x, c={c})\n",
    "a row of arguments": "def g(x, *row):\n    return x * (0.1 * row[0])\ndef f(x):\n    return g(x, {c})\n",
    "arguments in a row": "def g(x, c):\n    return x * (0.1 * c)\ndef f(x):\n    row = (x, {c})\n    return g(*row)\n",
    "a list": "def f(x):\n    row = []\n    row.append({c})\n    return x * (0.1 * row[0])\n",
    "a table": "def f(x):\n    table = {{}}\n    table['c'] = {c}\n    return x * (0.1 * table['c'])\n",
    "a table that is asked": (
        "def f(x):\n    table = dict(b=1)\n    table.update(c={c})\n    return x * (0.1 * table.get('c'))\n"
    ),
}


def function_of(text, path):
    """The function f of a file with this text."""
    path.write_text(f"import numpy as np\nimport symgrad as sg\n{text}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


@pytest.mark.parametrize("taken", ["x.shape[0]", "x.max().item()"])
@pytest.mark.parametrize("way", WAYS)
def test_what_goes_another_way_than_by_names_is_told(way, taken, tmp_path):
    """The number of the run stood in the program for every size, or value, silently."""
    f = function_of(WAYS[way].format(c=taken), tmp_path / "m.py")
    rng = np.random.default_rng(0)
    example = rng.random((3, 4))
    program = sg.compile(f(sg.tensor(example, requires_grad=True, name="x")), ["x"])
    assert np.allclose(program(example), f(sg.tensor(example)).numpy())
    for shape, scale in (((5, 4), 1), ((3, 4), 9)):
        values = scale * rng.random(shape)
        try:
            found = program(values)
        except ValueError:
            assert "item" in taken or shape != (3, 4)
        else:
            assert np.allclose(found, f(sg.tensor(values)).numpy())


OPEN = {
    "averages in attributes": (
        "class M:\n    def __init__(self):\n        self.sum, self.count = 0.0, 0\n"
        "    def update(self, value, n=1):\n        self.sum += value * n\n        self.count += n\n"
        "    @property\n    def mean(self):\n        return self.sum / self.count\n"
        "def f(x):\n    m = M()\n    m.update(x.sum().item(), 2)\n    print(m.mean)\n    return x * 3\n"
    ),
    "sizes in an attribute": (
        "class M:\n    def __init__(self, x):\n        self.n = x.shape[0]\ndef f(x):\n    m = M(x)\n"
        "    return x * (m.n * 0.5)\n"
    ),
    "sizes of a method": (
        "class M:\n    def n(self, x):\n        return x.shape[0]\ndef f(x):\n    return x / M().n(x)\n"
    ),
    "losses that are shown": (
        "class M:\n    def __init__(self):\n        self.losses = []\n    def log(self, loss):\n        print(loss)\n"
        "        self.losses.append(loss)\n    def run(self, x):\n        self.log(x.sum().item())\n"
        "        print(sum(self.losses) / len(self.losses))\n        return x * 3\ndef f(x):\n    return M().run(x)\n"
    ),
}


@pytest.mark.parametrize("way", OPEN)
def test_what_stays_a_size_or_is_only_shown_leaves_programs_open(way, tmp_path):
    f = function_of(OPEN[way], tmp_path / "m.py")
    rng = np.random.default_rng(0)
    program = sg.compile(f(sg.tensor(rng.random((3, 4)), requires_grad=True, name="x")), ["x"])
    for shape in ((3, 4), (5, 4), (6, 2)):
        values = rng.random(shape)
        assert np.allclose(program(values), f(sg.tensor(values)).numpy())
