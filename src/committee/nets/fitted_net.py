"""A fitted net: how columns become its input, its sizes and its parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from committee import _core
from committee.base.arrays import Floats
from committee.files.codec_classes import register
from committee.files.parts import FLAG, Part, array, instance, whole
from committee.nets.encoder import NetEncoder
from committee.tables.column import Column


@register("nets.NetSizes")
@dataclass(frozen=True)
class NetSizes:
    """The sizes of a net besides those of its input.

    Attributes
    ----------
    n_units : int
        Units of each layer, a multiple of 16.
    n_layers : int
        Hidden layers.
    n_members : int
        Nets that share most of their weights.
    n_outputs : int
        Number of classes; 1 for numbers.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "n_units": whole(16, 4096),
        "n_layers": whole(1, 17),
        "n_members": whole(1, 256),
        "n_outputs": whole(1, 2**16),
    }

    n_units: int
    n_layers: int
    n_members: int
    n_outputs: int

    def shape(self, encoder: NetEncoder) -> _core.NetShape:
        """Return the sizes of a net on such an input."""
        return _core.NetShape(
            encoder.features,
            encoder.knots,
            n_units=self.n_units,
            n_layers=self.n_layers - 1,  # the first one is the table
            n_members=self.n_members,
            n_outputs=self.n_outputs,
        )


@register("nets.FittedNet")
@dataclass(frozen=True, eq=False)
class FittedNet:
    """A net that predicts.

    Attributes
    ----------
    encoder : NetEncoder
        Turns columns into its input.
    sizes : NetSizes
        Its sizes.
    parameters : ndarray of float32
        In the order of src/core/net/net_shape.hpp.
    is_class : bool
        Whether it predicts probabilities.
    """

    _stored_parts: ClassVar[dict[str, Part]] = {
        "encoder": instance(NetEncoder),
        "sizes": instance(NetSizes),
        "parameters": array("f4", "parameters", finite=True),
        "is_class": FLAG,
    }

    encoder: NetEncoder
    sizes: NetSizes
    parameters: NDArray[np.float32]
    is_class: bool

    @cached_property
    def net(self) -> _core.Net:
        """The net of the engine."""
        return _core.Net(self.sizes.shape(self.encoder), self.parameters)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "net"}

    def predict(self, columns: Sequence[Column], n_rows: int, n_threads: int) -> Floats:
        """Return probabilities, or one number, for each row."""
        codes, fractions = self.encoder.apply(columns, n_rows)
        return self.net.predict(codes, fractions, is_class=self.is_class, n_threads=n_threads)

    def _validate_loaded(self) -> None:
        assert self.net is not None  # the engine compares the number of parameters
