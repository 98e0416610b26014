"""A slow net in float64, with derivatives by finite differences, to compare the engine with."""

from dataclasses import dataclass

import numpy as np

FIRST, SECOND, LEAST_ROOT = 0.9, 0.999, 1e-8


@dataclass(eq=False)
class SlowNet:
    """Sizes of a net as `_core.NetShape` has them, and its rows as the table codes them."""

    features: list
    knots: np.ndarray
    n_units: int
    n_layers: int
    n_members: int
    n_outputs: int

    def parts(self, parameters):
        """Cut the parameters into arrays, in the order of src/core/net/net_shape.hpp."""
        units, members = self.n_units, self.n_members
        shapes = [("table", (len(self.knots), units))]
        shapes += [("scales", (members, units)), ("shifts", (members, units))]
        for layer in range(self.n_layers):
            shapes.append((f"weights{layer}", (units, units)))
            shapes += [(f"{name}{layer}", (members, units)) for name in ("in", "out", "add")]
        shapes += [("heads", (members, self.n_outputs, units)), ("ends", (members, self.n_outputs))]
        parts, begin = {}, 0
        for name, shape in shapes:
            size = int(np.prod(shape))
            parts[name] = parameters[begin : begin + size].reshape(shape)
            begin += size
        assert begin == len(parameters)
        return parts

    def decays(self, n_parameters, weight_decay, table_decay):
        """Return the decay of each parameter."""
        decays = np.zeros(n_parameters)
        parts = self.parts(decays)  # views
        parts["table"][:] = table_decay
        parts["heads"][:] = weight_decay
        for layer in range(self.n_layers):
            parts[f"weights{layer}"][:] = weight_decay
        return decays

    def outputs(self, parameters, codes, fractions):
        """Return the outputs of all members: n_rows x n_members x n_outputs."""
        parts = self.parts(parameters)
        sums = np.zeros((len(codes), self.n_units))
        first = 0
        for k, (n_knots, n_rows) in enumerate(self.features):
            own = parts["table"][first : first + n_rows]
            for row, (code, fraction) in enumerate(zip(codes[:, k], fractions[:, k], strict=True)):
                if code != 2**32 - 1:
                    sums[row] += self._value(own, n_knots, first, int(code) - first, fraction)
            first += n_rows
        layer_of = [np.maximum(sums[:, None] * parts["scales"] + parts["shifts"], 0)]
        for layer in range(self.n_layers):
            product = (layer_of[-1] * parts[f"in{layer}"]) @ parts[f"weights{layer}"]
            layer_of.append(np.maximum(product * parts[f"out{layer}"] + parts[f"add{layer}"], 0))
        return np.einsum("rmu,mku->rmk", layer_of[-1], parts["heads"]) + parts["ends"]

    def _value(self, own, n_knots, first, place, fraction):
        """Return what a feature adds to all units."""
        if place >= n_knots:  # a level, or a missing value
            return own[place]
        knots = self.knots[first : first + n_knots]
        bends = np.vstack([np.zeros(self.n_units), np.cumsum(own[1:n_knots], axis=0)])
        at_knots = own[0] * knots[:, None] + bends
        after = at_knots[place + 1] if fraction > 0 else 0.0
        return (1 - fraction) * at_knots[place] + fraction * after

    def shares(self, outputs):
        raised = np.exp(outputs - outputs.max(axis=2, keepdims=True))
        return raised / raised.sum(axis=2, keepdims=True)

    def predict(self, parameters, codes, fractions, *, is_class):
        outputs = self.outputs(parameters, codes, fractions)
        return (self.shares(outputs) if is_class else outputs).mean(axis=1)

    def loss(self, parameters, codes, fractions, *, classes=None, reals=None, weights=None):
        """Return the mean over rows of the sum of the losses of members."""
        outputs = self.outputs(parameters, codes, fractions)
        if classes is not None:
            own = self.shares(outputs)[np.arange(len(codes)), :, classes]
            losses = -np.log(own).sum(axis=1)
        else:
            losses = 0.5 * ((outputs - reals[:, None]) ** 2).sum(axis=(1, 2))
        return np.mean(losses if weights is None else losses * weights)

    def gradient(self, parameters, codes, fractions, **target):
        """Return derivatives of the loss by central differences."""
        gradient = np.empty_like(parameters)
        for k in range(len(parameters)):
            moved = parameters.copy()
            moved[k] += 1e-6
            above = self.loss(moved, codes, fractions, **target)
            moved[k] -= 2e-6
            gradient[k] = (above - self.loss(moved, codes, fractions, **target)) / 2e-6
        return gradient


@dataclass(eq=False)
class SlowAdam:
    """Adam with decay apart from the gradient, and a running mean of the parameters."""

    parameters: np.ndarray
    decays: np.ndarray
    averaging: float

    def __post_init__(self):
        self.first = np.zeros_like(self.parameters)
        self.second = np.zeros_like(self.parameters)
        self.average = self.parameters.copy()
        self.n_steps = 0

    def step(self, gradient, rate):
        self.n_steps += 1
        n = self.n_steps
        self.first = FIRST * self.first + (1 - FIRST) * gradient
        self.second = SECOND * self.second + (1 - SECOND) * gradient**2
        root = np.sqrt(self.second / (1 - SECOND**n)) + LEAST_ROOT
        move = self.first / (1 - FIRST**n) / root + self.decays * self.parameters
        self.parameters = self.parameters - rate * move
        kept = min(self.averaging, n / (10 + n))
        self.average = kept * self.average + (1 - kept) * self.parameters
