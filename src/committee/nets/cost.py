"""What training a net costs, in the units of the committee in one line."""

from __future__ import annotations

# Of the first layer: every step passes all of them.
_MOST_WEIGHTS = 2**22

_LEAST_BATCH, _MOST_BATCH, _BATCHES = 32, 256, 32


def automatic_batch(n_rows: int) -> int:
    """Return the rows of a step: a power of two, so that an epoch has some 32 steps or more.

    Examples
    --------
    >>> automatic_batch(100), automatic_batch(3000), automatic_batch(10**6)
    (32, 64, 256)
    """
    wanted = 1 << max(n_rows // _BATCHES, 1).bit_length() - 1
    return min(max(wanted, _LEAST_BATCH), _MOST_BATCH)


def affordable_knots(n_knots: int, n_features: int, n_units: int) -> int:
    """Return the knots of a number: fewer than wanted in wide tables, two at least.

    Examples
    --------
    >>> affordable_knots(17, 100, 128), affordable_knots(17, 5000, 128)
    (17, 5)
    """
    return min(n_knots, max(2, _MOST_WEIGHTS // (n_features * n_units) - 1))


def epoch_cost(
    n_rows: int,
    n_features: int,
    n_outputs: int,
    *,
    n_units: int = 128,
    n_layers: int = 2,
    n_members: int = 4,
    n_knots: int = 17,
) -> float:
    """Return the work of one pass over the training rows.

    Parameters
    ----------
    n_rows, n_features : int
        Size of the table.
    n_outputs : int
        Number of classes; 1 for numbers.
    n_units, n_layers, n_members, n_knots : int
        Parameters of the net.

    Returns
    -------
    units : float
        One is about a second of one core of a server of 2023.

    Examples
    --------
    >>> 0.02 < epoch_cost(10_000, 20, 2) < 0.1
    True
    """
    n_dense = (n_layers - 1) * n_units
    of_row = 3.6e-10 * n_features + n_members * (
        2.9e-11 * n_dense + 6.2e-10 * (n_layers + 0.3 * n_outputs)
    )
    n_own = affordable_knots(n_knots, n_features, n_units) + 1
    n_parameters = n_units * (n_features * n_own + n_dense)
    n_steps = -(-n_rows // automatic_batch(n_rows))
    return n_units * n_rows * of_row + 1.5e-9 * n_parameters * n_steps
