"""Programs that import torch, run with this library in its place: each in a process of its own."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

PROGRAM = """
import sys
import torch
import torch.nn.functional as F
from torch import nn, Tensor
from torch.autograd import Function
from torch.autograd.functional import hessian
import torch.jit, torch.distributions as D
from torch.utils.data import DataLoader

class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        return 2 * g * ctx.saved_tensors[0]

class Own(torch.Tensor):
    seen = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.seen.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = (Square.apply(x) * F.softplus(x)).sum()
y.backward()
print(type(x), isinstance(x, Tensor), torch.__version__ >= "2")
print(x.grad.tolist(), x.grad.expr)
print(hessian(lambda t: (t**3).sum(), torch.tensor([2.0])).tolist(), nn.Linear(2, 1)(x).shape, torch.jit.script(len))
torch.sin(torch.ones(2).as_subclass(Own))
print(Own.seen, D.Normal(0.0, 1.0).log_prob(torch.tensor(0.0)).item() < 0, sys.argv[1:])
import symgrad
print(symgrad.jit is torch.jit, symgrad.nn is nn, symgrad.__spec__.name, symgrad.nn.__spec__.name)
"""


def _run(*arguments: str, cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


def test_programs_run_with_this_library_for_torch(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    told = _run("-m", "symgrad", "run", "program.py", "--steps", "3", cwd=tmp_path).splitlines()
    assert told[0] == "<class 'torch.Tensor'> True True"
    assert told[1].endswith("x*(x*sigmoid(x) + 2*softplus(x))")
    assert told[2] == "[[12.0]] torch.Size([1]) <built-in function len>"
    assert told[3] == "['sin'] True ['--steps', '3']"
    assert told[4] == "True True symgrad symgrad.nn"


def test_modules_run_by_name(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import torch\nprint(torch.ones(2).sum().item(), __name__)", encoding="utf-8")
    assert _run("-m", "symgrad", "run", "-m", "mine", cwd=tmp_path).strip() == "2.0 __main__"


def test_what_cannot_be_run_is_refused(tmp_path: Path) -> None:
    assert "there is no file 'nothing.py'" in _run("-m", "symgrad", "run", "nothing.py", cwd=tmp_path)
    assert "a program is missing" in _run("-m", "symgrad", "run", cwd=tmp_path)
    late = "import sys, types, symgrad\nsys.modules['torch'] = types.ModuleType('torch')\nsymgrad.install_as_torch()"
    assert "torch is imported already" in _run("-c", late, cwd=tmp_path)
    twice = "import symgrad; symgrad.install_as_torch(); symgrad.install_as_torch()\nimport torch.nothing"
    assert "No module named 'torch.nothing'" in _run("-c", twice, cwd=tmp_path)


def test_checks_do_not_take_it_for_torch(tmp_path: Path) -> None:
    program = (
        "import numpy as np, symgrad as sg\nsg.install_as_torch()\nimport torch\n"
        "print(sg.check(lambda x: (torch.as_tensor(x) ** 3).sum(), lambda x: 3 * x**2, np.ones(3)))"
    )
    assert "RIGHT" in _run("-c", program, cwd=tmp_path).upper()


@pytest.mark.parametrize("package", ["einops", "opt_einsum"])
def test_packages_of_others_compute_formulas(tmp_path: Path, package: str) -> None:
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    call = {
        "einops": "from einops import reduce\ny = reduce(A * A, 'i j -> ', 'sum')",
        "opt_einsum": "from opt_einsum import contract\ny = contract('ij,ij->', A, A)",
    }[package]
    program = (
        f"import symgrad\nsymgrad.install_as_torch()\nimport torch\nA = torch.ones(2, 3, requires_grad=True)\n{call}"
    )
    assert "2*A" in _run("-c", f"{program}\ny.backward()\nprint(A.grad.expr)", cwd=tmp_path)


def test_solvers_of_scipy_take_gradients_as_tensors() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    import numpy as np

    import symgrad as sg

    def rosenbrock(w: np.ndarray) -> tuple[float, sg.Tensor]:
        w = sg.tensor(w, requires_grad=True)
        loss = ((1 - w[:-1]) ** 2 + 100 * (w[1:] - w[:-1] ** 2) ** 2).sum()
        loss.backward()
        return loss.item(), w.grad

    for method in ("BFGS", "L-BFGS-B", "SLSQP", "CG", "Newton-CG"):
        found = optimize.minimize(rosenbrock, np.array([-1.0, 1.0]), jac=True, method=method, tol=1e-9)
        assert isinstance(found.x, np.ndarray)
        np.testing.assert_allclose(found.x, 1, atol=1e-3)


def test_files_that_are_written_inside_are_read_outside(tmp_path: Path) -> None:
    """A tensor says that its class is torch's, where files do not: torch itself would be asked for it."""
    inside = (
        "import symgrad\nsymgrad.install_as_torch()\nimport pickle, torch\n"
        "things = {'x': torch.ones(2, requires_grad=True), 'layer': torch.nn.Linear(2, 1), 'class': torch.Tensor}\n"
        "torch.save(things, 'things.pt')\ntorch.save({'p': torch.nn.Parameter(torch.ones(1))}, 'state.pt')\n"
        "print(torch.load('state.pt', weights_only=True), pickle.loads(pickle.dumps(torch.Tensor)) is torch.Tensor)"
    )
    assert "Parameter containing" in (told := _run("-c", inside, cwd=tmp_path)), told
    assert told.rstrip().endswith("True")
    outside = (
        "import sys, symgrad as sg\nthings = sg.load('things.pt')\nsg.load('state.pt', weights_only=True)\n"
        "print(things['layer'](things['x']).shape, things['class'] is sg.Tensor, 'torch' in sys.modules)"
    )
    assert _run("-c", outside, cwd=tmp_path).strip() == "torch.Size([1]) True False"


def test_modules_that_run_by_name_have_arguments(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import sys, torch\nprint(sys.argv[1:], torch.__version__)", encoding="utf-8")
    told = _run("-m", "symgrad", "run", "-m", "mine", "-q", "--steps", "3", "-m", cwd=tmp_path)
    assert told.strip() == "['-q', '--steps', '3', '-m'] 2.13.0"


def test_all_names_are_imported_at_once(tmp_path: Path) -> None:
    program = (
        "import symgrad\nsymgrad.install_as_torch()\nfrom torch import *\nprint(tensor([1.0]).sum(), float64.itemsize)"
    )
    assert _run("-c", program, cwd=tmp_path).strip() == "tensor(1.) 8"


def test_new_processes_have_it_as_well(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import multiprocessing, torch\n"
        "def work(line, x):\n    line.put((x * torch.ones(2)).sum().expr)\n"
        "if __name__ == '__main__':\n"
        "    context = multiprocessing.get_context('spawn')\n    line = context.Queue()\n"
        "    process = context.Process(target=work, args=(line, torch.ones(2, requires_grad=True)))\n"
        "    process.start()\n    print(line.get(timeout=60))\n    process.join()\n",
        encoding="utf-8",
    )
    assert _run("-m", "symgrad", "run", "program.py", cwd=tmp_path).strip() == "sum(x1)"
