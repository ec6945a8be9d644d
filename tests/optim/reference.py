"""Optimizers in plain NumPy, one step of one parameter each: what the tests compare with.

Each function takes the weights, their gradient, a dictionary that it keeps its state in, the number
of the step from 1 on and the options, and gives the new weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any


def kept(state: dict[str, Array], name: str, like: Array, start: float = 0.0) -> Array:
    return state.setdefault(name, np.full_like(like, start))


def stored(number: float) -> float:
    """A number as it is kept between steps: in float32, whatever the parameter is."""
    return float(np.float32(number))


def penalised(w: Array, g: Array, weight_decay: float, maximize: bool) -> Array:
    return (-g if maximize else g) + weight_decay * w


def sgd(
    w, g, state, t, *, lr=1e-3, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False,
    maximize=False,
):  # fmt: skip
    g = penalised(w, g, weight_decay, maximize)
    if momentum:
        first = "momentum_buffer" not in state
        old = kept(state, "momentum_buffer", w)
        state["momentum_buffer"] = g if first else momentum * old + (1 - dampening) * g
        g = g + momentum * state["momentum_buffer"] if nesterov else state["momentum_buffer"]
    return w - lr * g


def averages(w, g, state, beta1, beta2):
    m = state["exp_avg"] = beta1 * kept(state, "exp_avg", w) + (1 - beta1) * g
    v = state["exp_avg_sq"] = beta2 * kept(state, "exp_avg_sq", w) + (1 - beta2) * g * g
    return m, v


def adam(
    w, g, state, t, *, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, amsgrad=False,
    maximize=False, decoupled_weight_decay=False,
):  # fmt: skip
    g = penalised(w, g, 0.0 if decoupled_weight_decay else weight_decay, maximize)
    if decoupled_weight_decay:
        w = w * (1 - lr * weight_decay)
    m, v = averages(w, g, state, *betas)
    if amsgrad:
        v = state["max_exp_avg_sq"] = np.maximum(kept(state, "max_exp_avg_sq", w), v)
    return w - lr * (m / (1 - betas[0] ** t)) / (np.sqrt(v / (1 - betas[1] ** t)) + eps)


def adamw(w, g, state, t, *, weight_decay=1e-2, **options):
    return adam(w, g, state, t, weight_decay=weight_decay, decoupled_weight_decay=True, **options)


def nadam(
    w, g, state, t, *, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0,
    momentum_decay=4e-3, decoupled_weight_decay=False, maximize=False,
):  # fmt: skip
    g = penalised(w, g, 0.0 if decoupled_weight_decay else weight_decay, maximize)
    if decoupled_weight_decay:
        w = w * (1 - lr * weight_decay)
    mu, following = (betas[0] * (1 - 0.5 * 0.96 ** (step * momentum_decay)) for step in (t, t + 1))
    product = state.get("mu_product", 1.0) * mu
    state["mu_product"] = stored(product)
    m, v = averages(w, g, state, *betas)
    direction = (1 - mu) / (1 - product) * g + following / (1 - product * following) * m
    return w - lr * direction / (np.sqrt(v / (1 - betas[1] ** t)) + eps)


def radam(
    w, g, state, t, *, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0,
    decoupled_weight_decay=False, maximize=False,
):  # fmt: skip
    g = penalised(w, g, 0.0 if decoupled_weight_decay else weight_decay, maximize)
    if decoupled_weight_decay:
        w = w * (1 - lr * weight_decay)
    m, v = averages(w, g, state, *betas)
    end = 2 / (1 - betas[1]) - 1
    now = end - 2 * t * betas[1] ** t / (1 - betas[1] ** t)
    step = lr * m / (1 - betas[0] ** t)
    if now > 5:
        r = np.sqrt((now - 4) * (now - 2) * end / ((end - 4) * (end - 2) * now))
        step = step * r * np.sqrt(1 - betas[1] ** t) / (np.sqrt(v) + eps)
    return w - step


def adamax(
    w, g, state, t, *, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, maximize=False
):
    g = penalised(w, g, weight_decay, maximize)
    m = state["exp_avg"] = betas[0] * kept(state, "exp_avg", w) + (1 - betas[0]) * g
    u = state["exp_inf"] = np.maximum(betas[1] * kept(state, "exp_inf", w), abs(g) + eps)
    return w - lr * m / ((1 - betas[0] ** t) * u)


def adadelta(w, g, state, t, *, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0.0, maximize=False):
    g = penalised(w, g, weight_decay, maximize)
    v = state["square_avg"] = rho * kept(state, "square_avg", w) + (1 - rho) * g * g
    u = kept(state, "acc_delta", w)
    step = np.sqrt(u + eps) / np.sqrt(v + eps) * g
    state["acc_delta"] = rho * u + (1 - rho) * step * step
    return w - lr * step


def adagrad(
    w, g, state, t, *, lr=1e-2, lr_decay=0.0, weight_decay=0.0, initial_accumulator_value=0.0,
    eps=1e-10, maximize=False,
):  # fmt: skip
    g = penalised(w, g, weight_decay, maximize)
    s = state["sum"] = kept(state, "sum", w, initial_accumulator_value) + g * g
    return w - lr / (1 + (t - 1) * lr_decay) * g / (np.sqrt(s) + eps)


def rmsprop(
    w, g, state, t, *, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0.0, momentum=0.0,
    centered=False, maximize=False,
):  # fmt: skip
    g = penalised(w, g, weight_decay, maximize)
    v = state["square_avg"] = alpha * kept(state, "square_avg", w) + (1 - alpha) * g * g
    if centered:
        mean = state["grad_avg"] = alpha * kept(state, "grad_avg", w) + (1 - alpha) * g
        v = v - mean * mean
    step = g / (np.sqrt(v) + eps)
    if momentum:
        old = kept(state, "momentum_buffer", w)
        step = state["momentum_buffer"] = momentum * old + step
    return w - lr * step


def rprop(w, g, state, t, *, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), maximize=False):
    g = -g if maximize else g
    product = g * kept(state, "prev", w)
    factor = np.select([product > 0, product < 0], [etas[1], etas[0]], 1.0)
    size = state["step_size"] = np.clip(kept(state, "step_size", w, lr) * factor, *step_sizes)
    g = state["prev"] = np.where(product < 0, 0.0, g)
    return w - np.sign(g) * size


def asgd(
    w, g, state, t, *, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0.0, maximize=False
):
    g = penalised(w, g, weight_decay, maximize)
    eta, mu = state.get("eta", stored(lr)), state.get("mu", 1.0)
    w = w * (1 - lambd * eta) - eta * g
    average = kept(state, "ax", w)
    state["ax"] = w if mu == 1 else average + mu * (w - average)
    state["eta"] = stored(lr / (1 + lambd * lr * t) ** alpha)
    state["mu"] = stored(1 / max(1, t - t0))
    return w


def lion(w, g, state, t, *, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0, maximize=False):
    g = -g if maximize else g
    m = kept(state, "exp_avg", w)
    state["exp_avg"] = betas[1] * m + (1 - betas[1]) * g
    return w - lr * (np.sign(betas[0] * m + (1 - betas[0]) * g) + weight_decay * w)


def adan(
    w, g, state, t, *, lr=1e-3, betas=(0.98, 0.92, 0.99), eps=1e-8, weight_decay=0.0,
    no_prox=False, maximize=False,
):  # fmt: skip
    g = -g if maximize else g
    change = g - state.get("previous_grad", g)
    state["previous_grad"] = g
    b1, b2, b3 = betas
    m = state["exp_avg"] = b1 * kept(state, "exp_avg", w) + (1 - b1) * g
    d = state["exp_avg_diff"] = b2 * kept(state, "exp_avg_diff", w) + (1 - b2) * change
    both = g + b2 * change
    n = state["exp_avg_sq"] = b3 * kept(state, "exp_avg_sq", w) + (1 - b3) * both * both
    direction = m / (1 - b1**t) + b2 * d / (1 - b2**t)
    step = lr * direction / (np.sqrt(n / (1 - b3**t)) + eps)
    if no_prox:
        return w * (1 - lr * weight_decay) - step
    return (w - step) / (1 + lr * weight_decay)


def lamb(
    w, g, state, t, *, lr=1e-3, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.0, maximize=False
):
    m, v = averages(w, -g if maximize else g, state, *betas)
    u = (m / (1 - betas[0] ** t)) / (np.sqrt(v / (1 - betas[1] ** t)) + eps) + weight_decay * w
    size, length = np.linalg.norm(w.ravel()), np.linalg.norm(u.ravel())
    trust = size / length if size > 0 and length > 0 else 1.0
    return w - lr * trust * u


def adafactor(
    w, g, state, t, *, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0,
    maximize=False,
):  # fmt: skip
    g = -g if maximize else g
    smallest = np.finfo(w.dtype).eps if eps[0] is None else eps[0]
    share = t**beta2_decay
    length = min(lr, t**-0.5) * max(eps[1], np.sqrt((w * w).mean()))
    w = w * (1 - lr * weight_decay)
    if w.ndim < 2:
        old = kept(state, "variance", w)
        variance = state["variance"] = old + share * (g * g - old)
    else:
        for name, axis in (("row_var", -1), ("col_var", -2)):
            mean = (g * g).mean(axis, keepdims=True)
            old = kept(state, name, mean)
            state[name] = old + share * (mean - old)
        rows = state["row_var"]
        scale = np.maximum(rows.mean(-2, keepdims=True), smallest)
        variance = rows * state["col_var"] / scale
    u = g / np.sqrt(np.maximum(variance, smallest * smallest))
    return w - length * u / max(1.0, np.sqrt((u * u).mean()) / d)
