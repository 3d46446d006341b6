"""A network that is written for torch: its gradients by their formulas, and a fit to a differential equation.

The class below is torch's manners throughout.  The slope of the network by its input is in the loss, so that training
differentiates it once more; beside every number stands what it is the value of.
"""

import math

import symgrad as torch
from symgrad import nn


class Wave(nn.Module):
    """u(t) = v · tanh(w t + b)."""

    def __init__(self, width):
        super().__init__()
        self.w = nn.Parameter(torch.randn(width))
        self.b = nn.Parameter(torch.randn(width))
        self.v = nn.Parameter(torch.zeros(width))

    def forward(self, t):
        return torch.tanh(self.w * t + self.b) @ self.v


torch.manual_seed(0)
net = Wave(12).double()
t = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)

u = net(t)
(slope,) = torch.autograd.grad(u, t, create_graph=True)
(curvature,) = torch.autograd.grad(slope, t, create_graph=True)
print("u   =", u.expr)
print("u'  =", slope.expr)
print("u'' =", curvature.expr)
print("d u' / d b in LaTeX:", torch.autograd.grad(slope, net.b, retain_graph=True)[0].latex())

# u' = -u with u(0) = 1, at all times at once: the weights v that solve it best follow from a linear system, which is
# one step of Newton's method, as the loss is quadratic in v.
times = torch.linspace(0, 2, 41, dtype=torch.float64)


def loss(v):
    values, slopes = torch.func.jvp(
        lambda t: torch.tanh(torch.outer(t, net.w.detach()) + net.b.detach()) @ v, (times,), (torch.ones_like(times),)
    )
    return ((slopes + values) ** 2).mean() + (values[0] - 1) ** 2


gradient, curvatures = torch.func.grad(loss)(net.v), torch.func.hessian(loss)(net.v)
with torch.no_grad():
    net.v -= torch.linalg.lstsq(curvatures, gradient[:, None]).solution[:, 0]
error = max(abs(net(time).item() - math.exp(-time.item())) for time in times)
print(f"largest error of u(t) = exp(-t) between 0 and 2: {error:.1e}")
print("parameters:", {name: tuple(p.shape) for name, p in net.named_parameters()})
