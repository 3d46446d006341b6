"""Programs with loops: a function, its arguments (numbers and shapes), and how many steps it takes."""

from __future__ import annotations

from typing import Any

import symgrad as sg


def descent(A: Any, b: Any, x: Any, eta: Any) -> Any:
    for _ in range(5):
        x = x - eta * (A.T @ (A @ x - b))
    return ((A @ x - b) ** 2).sum()


def momentum(A: Any, b: Any, x: Any, eta: Any, mu: Any) -> Any:
    v = 0 * x
    for _ in range(5):
        v = mu * v - eta * (A.T @ (A @ x - b))
        x = x + v
    return ((A @ x - b) ** 2).sum()


def logistic_growth(y: Any, theta: Any) -> Any:
    for _ in range(6):
        y = y + 0.1 * (theta * y * (1 - y))
    return y


def runge_kutta(y: Any, theta: Any) -> Any:
    h = 0.1
    for _ in range(4):
        k1 = -theta * y * y
        k2 = -theta * (y + h / 2 * k1) ** 2
        k3 = -theta * (y + h / 2 * k2) ** 2
        k4 = -theta * (y + h * k3) ** 2
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


def heat(u: Any, L: Any, alpha: Any) -> Any:
    for _ in range(5):
        u = u + alpha * (L @ u)
    return (u**2).sum()


def network(W: Any, U: Any, X: Any, h: Any) -> Any:
    for k in range(5):
        h = sg.tanh(W @ h + U @ X[k])
    return (h**2).sum()


def layers(W1: Any, W2: Any, W3: Any, W4: Any, x: Any, b: Any) -> Any:
    for W in (W1, W2, W3, W4):
        x = sg.tanh(W @ x + b)
    return x.sum()


def newton(a: Any, x: Any) -> Any:
    for _ in range(5):
        x = (x + a / x) / 2
    return x


def epidemic(beta: Any, gamma: Any, S: Any, I: Any) -> Any:  # noqa: E741
    total = 0
    for k in range(6):
        new, gone = beta * S * I * 0.1, gamma * I * 0.1
        S, I = S - new, I + new - gone  # noqa: E741
        total = total + (I - 0.1 * k) ** 2
    return total


def power_iteration(A: Any, v: Any) -> Any:
    for _ in range(5):
        w = A @ v
        v = w / sg.linalg.vector_norm(w)
    return v @ A @ v


def neumann(A: Any, b: Any) -> Any:
    x = b
    for _ in range(12):
        x = b + A @ x
    return x.sum()


def horner(c: Any, x: Any) -> Any:
    value = c[7]
    for k in range(6, -1, -1):
        value = value * x + c[k]
    return value


def fixed_point(w: Any, x: Any) -> Any:
    for _ in range(5):
        x = sg.cos(w * x)
    return x


def kalman(q: Any, r: Any, x: Any, P: Any, y: Any) -> Any:
    loss = 0
    for k in range(5):
        P = P + q
        s = P + r
        gain, e = P / s, y[k] - x
        loss = loss + e * e / s + sg.log(s)
        x, P = x + gain * e, (1 - gain) * P
    return loss


def decaying(A: Any, b: Any, x: Any) -> Any:
    for k in range(6):
        x = x - 0.5 / (1 + k) * (A.T @ sg.tanh(A @ x - b))
    return (x * x).sum()


def discounted(a: Any, s: Any) -> Any:
    total = 0
    for k in range(7):
        s = sg.tanh(a * s)
        total = total + 0.9**k * s * s
    return total


def scheduled(w: Any, x: Any) -> Any:
    for c in (0.3, 0.1, 0.5, 0.2, 0.7):
        x = sg.sin(c * x) + w * x
    return x


def branching(y: Any) -> Any:
    for k in range(8):
        y = y + 0.1 * (k + 1) * sg.where(y > 0.4, sg.sin(y), -y * y)
    return y.sum()


def matrix_steps(X: Any, A: Any) -> Any:
    for _ in range(4):
        X = 2 * X - X @ A @ X
    return sg.trace(X)


def annealed(t: Any, k: Any) -> Any:
    for j in range(5):
        t = sg.exp(-k * t) + (j + 1) * t
    return t


def rows(W: Any, U: Any, D: Any, h: Any) -> Any:
    for x in D:
        h = sg.tanh(W @ h + U @ x)
    return h @ h


def least_squares(theta: Any, y: Any, d: Any) -> Any:
    found = [y]
    for _ in range(5):
        y = y + 0.1 * theta * sg.sin(y)
        found.append(y)
    return ((sg.stack(found) - d) ** 2).mean()


def readout(W: Any, C: Any, h: Any, D: Any) -> Any:
    seen, kept = [], []
    for k in range(4):
        kept.append(h)
        h = sg.tanh(W @ h)
        seen.append(C @ h - D[k])
    return (sg.stack(seen) ** 2).sum() + sg.stack(kept).sum() ** 2 + h.sum()


def pendulum(u: Any, v: Any, c: Any) -> Any:
    for _ in range(6):
        u, v = v, 2 * v - u - c * sg.sin(v)
    return v * v


def verlet(x: Any, v: Any, h: Any) -> Any:
    path, before = [], x - h * v
    for _ in range(5):
        x, before = 2 * x - before - h * h * sg.sin(x), x
        path.append(x)
    return sg.stack(path).sum()


def third_order(a: Any, b: Any, x: Any, y: Any, z: Any) -> Any:
    for _ in range(7):
        x, y, z = y, z, a * sg.sin(x) + b * y * z
    return z * z


def skipping(a: Any, x: Any, y: Any, z: Any) -> Any:
    for _ in range(7):
        x, y, z = y, z, a * sg.sin(x) + z
    return z


def columns(W: Any, U: Any, X: Any, h: Any, Y: Any) -> Any:
    found = []
    for k in range(4):
        h = sg.tanh(W @ h + U @ X[:, k])
        found.append(h)
    return ((sg.stack(found, dim=1) - Y) ** 2).sum()


def batches(W: Any, X: Any, h: Any) -> Any:
    found = []
    for k in range(4):
        h = sg.tanh(h @ W + X[:, k])
        found.append(h)
    return (sg.stack(found, dim=1) ** 2).sum()


def smoothed(a: Any, x: Any) -> Any:
    level, loss = x[0], 0
    for k in range(1, 6):
        loss = loss + (x[k] - level) ** 2
        level = a * level + (1 - a) * x[k]
    return loss


def innovations(q: Any, r: Any, y: Any) -> Any:
    x, P, loss = 0.0, 1.0, 0.0
    for k in range(5):
        P = P + q
        S, e = P + r, y[k] - x
        loss = loss + e * e / S + sg.log(S)
        x, P = x + P / S * e, (1 - P / S) * P
    return loss


def swinging(th: Any, w: Any, g: Any) -> Any:
    for _ in range(5):
        th, w = th + 0.1 * w, w - 0.1 * g * sg.sin(th)
    return th


def nesterov(A: Any, b: Any, x: Any, m: Any) -> Any:
    y = x
    for _ in range(4):
        z = y - 0.1 * (A @ y - b)
        x, y = z, z + m * (z - x)
    return x @ x


LOOPS: dict[Any, tuple[Any, ...]] = {
    descent: ((5, 3), (5,), (3,), 0.1),
    momentum: ((5, 3), (5,), (3,), 0.1, 0.9),
    logistic_growth: (0.3, 0.5),
    runge_kutta: (0.3, 0.5),
    heat: ((4,), (4, 4), 0.1),
    network: ((3, 3), (3, 2), (5, 2), (3,)),
    layers: ((3, 3), (3, 3), (3, 3), (3, 3), (3,), (3,)),
    newton: (2.0, 1.5),
    epidemic: (0.5, 0.2, 0.9, 0.1),
    power_iteration: ((4, 4), (4,)),
    neumann: ((3, 3), (3,)),
    horner: ((8,), 0.5),
    fixed_point: (0.7, 0.5),
    kalman: (0.1, 0.2, 0.0, 1.0, (5,)),
    decaying: ((5, 3), (5,), (3,)),
    discounted: (0.7, 0.5),
    scheduled: (0.7, 0.5),
    branching: ((3,),),
    matrix_steps: ((3, 3), (3, 3)),
    annealed: (0.4, 0.3),
    rows: ((3, 3), (3, 2), (5, 2), (3,)),
    least_squares: (0.3, 0.5, (6,)),
    readout: ((3, 3), (2, 3), (3,), (4, 2)),
    pendulum: (0.5, 0.4, 0.3),
    verlet: (0.5, 0.4, 0.3),
    third_order: (0.5, 0.4, 0.3, 0.2, 0.7),
    skipping: (0.5, 0.4, 0.3, 0.2),
    columns: ((3, 3), (3, 2), (2, 4), (3,), (3, 4)),
    batches: ((3, 3), (2, 4, 3), (2, 3)),
    smoothed: (0.7, (6,)),
    innovations: (0.1, 0.2, (5,)),
    swinging: (0.7, 0.4, 0.3),
    nesterov: ((3, 3), (3,), (3,), 0.4),
}
