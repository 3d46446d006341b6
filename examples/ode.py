"""Fit the rates of a differential equation to measurements, through the steps of its solver."""

import numpy as np

import symgrad as sg


def prey_and_predators(y, _, rates):
    prey, predators = y
    born, eaten, fed, died = rates
    return sg.stack([born * prey - eaten * prey * predators, fed * prey * predators - died * predators])


def solution(log_rates, times, **options):
    return sg.implicit.odeint(prey_and_predators, np.array([1.0, 0.6]), times, sg.exp(log_rates), **options)


times = np.linspace(0.0, 6.0, 13)
true = np.log([1.1, 0.9, 0.8, 1.2])
rng = np.random.default_rng(0)
measured = solution(sg.tensor(true), times).numpy() * np.exp(0.02 * rng.normal(size=(13, 2)))


def misfit(log_rates):
    return (sg.log(solution(log_rates, times, rtol=1e-4)) - np.log(measured)).reshape(-1)


# Gauss and Newton: the Jacobian of all measurements by the four rates comes from forward mode.
guess = np.zeros(4)
jacobian = sg.func.jacfwd(misfit)
for k in range(5):
    residual = misfit(sg.tensor(guess)).numpy()
    print(f"round {k}: misfit {np.sqrt((residual**2).mean()):.5f}, rates {np.exp(guess).round(4)}")
    step = -np.linalg.lstsq(jacobian(guess).numpy(), residual, rcond=None)[0]
    guess = guess + step * min(1.0, 0.5 / np.abs(step).max())
print("true rates:", np.exp(true).round(4))

# Both gradients of the same misfit: of the steps, and of the equation.
for how in ("discrete", "continuous"):
    x = sg.tensor(np.zeros(4), requires_grad=True)
    ((sg.log(solution(x, times, adjoint=how)) - np.log(measured)) ** 2).sum().backward()
    print(how, x.grad.numpy().round(6))
