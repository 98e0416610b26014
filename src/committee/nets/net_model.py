"""What nets for classes and nets for numbers share: parameters, fitting, and predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats, Rows
from committee.base.params import (
    Estimator,
    check_bool,
    check_int,
    check_real,
    check_seed,
    check_verbose,
)
from committee.base.sampling import SeedUse, parameter_seed
from committee.base.work import FitLog, Progress, resolve_threads, running_fit
from committee.files.parts import Part, array, instance, whole
from committee.nets.cost import affordable_knots, automatic_batch
from committee.nets.epochs import EpochChoice, EpochSearch, NetRun, UnseenRows
from committee.nets.fitted_net import FittedNet, NetSizes
from committee.nets.task import NetTask
from committee.nets.training_rows import NetTable, TrainingRows, columns_of
from committee.tables.native_table import AnyTable
from committee.tables.table import TableSchema
from committee.tables.target import check_same_length, read_weights

# Decay of the running mean of the parameters.
_AVERAGING = 0.98
# With fewer rows none is held out, and training makes this many passes.
_LEAST_ROWS, _FEW_ROWS_EPOCHS = 20, 40


class NetModel(Estimator):
    """Base class of nets: several small ones that share most of their weights."""

    _fitted_attribute = "_net"
    _reads_tables = True  # also those that were opened before

    _stored_parts: ClassVar[dict[str, Part]] = {
        "_net": instance(FittedNet),
        "schema_": instance(TableSchema),
        "n_features_in_": whole(1, size="features"),
        "n_epochs_": whole(0),
        "validation_losses_": array("f8", None),
    }

    n_units: int
    n_layers: int
    n_members: int
    learning_rate: float
    max_epochs: int
    batch_size: int | str
    weight_decay: float
    dropout: float
    n_knots: int
    early_stopping: bool
    patience: int
    validation_fraction: float
    categorical_features: Any
    numeric_text: str
    random_state: Any
    n_jobs: int | None
    verbose: int

    # Fitted attributes.
    _net: FittedNet
    schema_: TableSchema
    n_epochs_: int
    validation_losses_: Floats

    _task: ClassVar[NetTask]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    # ---- fitting ----

    def fit(self, X: Any, y: Any, sample_weight: Any = None, eval_set: Any = None) -> Self:
        """Fit the net.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            A NumPy array, a pandas, polars or pyarrow table, a SciPy sparse matrix or a list.
        y : array-like of shape (n_rows,)
            Class labels, or finite numbers.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weights of the rows. A row of weight zero is absent, and a row of weight two is the row
            twice, as long as weights are whole and have a mean of at most eight; other weights
            multiply gradients.
        eval_set : tuple (X, y) or (X, y, sample_weight), or None, default=None
            Rows to stop early by, instead of rows held out.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        with FitLog(type(self).__name__):
            settings = NetSettings.of(self)
            fit = NetFit(settings, self._task, X, y, sample_weight)
            running_fit().begin(fit.table.table.n_rows, fit.table.schema.n_features)
            self._replace_fitted(fit.run(fit.part(eval_set)))
            running_fit().end("%d epochs of %d", self.n_epochs_, len(self.validation_losses_))
        return self

    # ---- predictions ----

    def _predict_values(self, X: Any) -> Floats:
        self._check_fitted()
        schema = self.schema_
        table = AnyTable.of_batch(X, schema.names, schema.n_features, type(self).__name__)
        columns = columns_of(table.opened(), schema)
        return self._net.predict(columns, table.n_rows, resolve_threads(self.n_jobs))

    def _validate_loaded(self) -> None:
        if not hasattr(self, "_net"):
            return
        self.schema_.check_model(self)
        self._net.encoder.check_schema(self.schema_)


@dataclass(frozen=True)
class NetSettings:
    """The parameters of a net, checked.

    Attributes
    ----------
    name : str
        The class of the estimator, for messages.
    n_units, n_layers, n_members : int
        Sizes.
    batch_rows : int or None
        Rows of a batch; None is by the number of rows.
    max_epochs, patience : int
        When it ends.
    """

    name: str
    n_units: int
    n_layers: int
    n_members: int
    learning_rate: float
    max_epochs: int
    batch_rows: int | None
    weight_decay: float
    dropout: float
    n_knots: int
    early_stopping: bool
    patience: int
    validation_fraction: float
    categorical_features: Any
    numeric_text: str
    seed: int
    n_threads: int
    verbose: int

    @classmethod
    def of(cls, model: NetModel) -> NetSettings:
        """Check the parameters of an estimator."""
        n_units = check_int("n_units", model.n_units, 1, 4096)
        is_auto = isinstance(model.batch_size, str) and model.batch_size == "auto"
        if not is_auto and isinstance(model.batch_size, str):
            raise ValueError(f'batch_size must be "auto" or an int >= 1; got {model.batch_size!r}')
        share = model.validation_fraction
        return cls(
            type(model).__name__,
            -(-n_units // 16) * 16,  # rounded up to a multiple of 16
            check_int("n_layers", model.n_layers, 1, 17),
            check_int("n_members", model.n_members, 1, 256),
            check_real("learning_rate", model.learning_rate, 0.0, 1.0, include_low=False),
            check_int("max_epochs", model.max_epochs, 1),
            None if is_auto else check_int("batch_size", model.batch_size, 1),
            check_real("weight_decay", model.weight_decay, 0.0, 100.0),
            check_real("dropout", model.dropout, 0.0, 1.0, include_high=False),
            check_int("n_knots", model.n_knots, 2, 10_000),
            check_bool("early_stopping", model.early_stopping),
            check_int("patience", model.patience, 1),
            check_real("validation_fraction", share, 0, 1, include_low=False, include_high=False),
            model.categorical_features,
            model.numeric_text,
            check_seed(model.random_state),
            resolve_threads(model.n_jobs),
            check_verbose(model.verbose),
        )

    def sizes(self, n_outputs: int) -> NetSizes:
        """Return the sizes of the net."""
        return NetSizes(self.n_units, self.n_layers, self.n_members, n_outputs)

    def for_engine(self, n_rows: int) -> dict[str, Any]:
        """Return what the trainer needs."""
        return {
            "batch_rows": self.batch_rows or automatic_batch(n_rows),
            "weight_decay": self.weight_decay,
            "table_decay": self.weight_decay,
            "dropout": self.dropout,
            "averaging": _AVERAGING,
            "seed": self.seed,
        }


# Rows to learn from, and rows to stop early by.
FoldRows = tuple[TrainingRows, UnseenRows | None]


class NetFit:
    """One fit, or the fits of several folds, which share the reading of the table.

    Parameters
    ----------
    settings : NetSettings
        The parameters of the estimator.
    task : NetTask
        What differs between classes and numbers.
    X, y, sample_weight
        As in `fit`.
    """

    def __init__(
        self, settings: NetSettings, task: NetTask, X: Any, y: Any, sample_weight: Any
    ) -> None:
        self.settings, self.task = settings, task
        self.table = NetTable.read(X, settings.categorical_features, settings.numeric_text)
        weights = read_weights(sample_weight, self.table.table.n_rows)
        target = task.read_target(y, weights)
        self.rows = self.table.rows(
            target,
            parameter_seed(settings.seed, SeedUse.VALIDATION),
            affordable_knots(settings.n_knots, self.table.schema.n_features, settings.n_units),
            settings.n_threads,
        )

    def part(self, eval_set: Any) -> FoldRows:
        """Return rows to learn from, and rows to stop early by."""
        if not self.settings.early_stopping:
            if eval_set is not None:
                raise ValueError("eval_set must be None with early_stopping=False")
            return self.rows, None
        if eval_set is not None:
            return self.rows, self._given(eval_set)
        if int(self.rows.order.counts.sum()) < _LEAST_ROWS:
            return self.rows, None
        return self.rows.without(self.rows.order.part(self.settings.validation_fraction))

    def _given(self, eval_set: Any) -> UnseenRows:
        if not isinstance(eval_set, tuple) or len(eval_set) not in (2, 3):
            raise TypeError(
                "eval_set must be a tuple (X, y) or (X, y, sample_weight); got "
                f"{type(eval_set).__name__}"
            )
        X, y, *more = eval_set
        schema = self.table.schema
        table = AnyTable.of_batch(X, schema.names, schema.n_features, self.settings.name)
        weights = read_weights(more[0] if more else None, table.n_rows)
        target = self.task.read_eval_target(y, weights, self.rows.target)
        check_same_length(table.n_rows, target.n_rows)
        columns = columns_of(table.opened(), schema)
        codes, fractions = self.rows.encoder.apply(columns, table.n_rows)
        classes = None if target.codes is None else target.codes[:, 0]
        scale = self.rows.scale
        reals = None if scale is None else scale.to_net(target.table)
        return UnseenRows(codes, fractions, classes, reals, weights)

    def split(self, train: Rows, test: Rows) -> FoldRows:
        """Return some rows to learn from, and others to measure on; the rest is absent."""
        return self.rows.only(np.union1d(train, test)).without(self.rows.counts_of(test))

    def search(self, parts: Sequence[FoldRows]) -> EpochSearch:
        """Return the search for the number of epochs of nets that are fitted to each part."""
        settings = self.settings
        shape = self._sizes.shape(self.rows.encoder)
        runs = [
            NetRun(
                shape,
                rows.trainer(shape, settings.for_engine(len(rows.rows))),
                rows.rows,
                unseen,
                settings.learning_rate,
            )
            for rows, unseen in parts
        ]
        n_epochs = settings.max_epochs
        if settings.early_stopping and parts[0][1] is None:
            n_epochs = min(n_epochs, _FEW_ROWS_EPOCHS)
        return EpochSearch(runs, n_epochs, settings.patience, settings.n_threads)

    def run(self, part: FoldRows) -> dict[str, Any]:
        """Fit a net; return its fitted attributes."""
        search = self.search([part])
        settings = self.settings
        progress = Progress(settings.name, "epochs", search.max_epochs, settings.verbose)
        while not search.is_done:
            search.step()
            progress.advance()
        return self.attributes([part], search.choice)[0]

    def attributes(self, parts: Sequence[FoldRows], choice: EpochChoice) -> list[dict[str, Any]]:
        """Return the fitted attributes of a net for each part."""
        if not choice.parameters or not all(np.isfinite(each).all() for each in choice.parameters):
            raise ValueError(
                "the net has not converged: learning_rate must be smaller; got "
                f"{self.settings.learning_rate}"
            )
        return [
            self._attributes(rows, parameters, choice)
            for (rows, _), parameters in zip(parts, choice.parameters, strict=True)
        ]

    @property
    def _sizes(self) -> NetSizes:
        return self.settings.sizes(self.rows.target.n_values)

    def _attributes(
        self,
        rows: TrainingRows,
        parameters: NDArray[np.float32],
        choice: EpochChoice,
    ) -> dict[str, Any]:
        schema = self.table.schema
        attributes = self.task.attributes(rows) | {
            "_net": FittedNet(rows.encoder, self._sizes, parameters, rows.target.codes is not None),
            "schema_": schema,
            "n_features_in_": schema.n_features,
            "n_epochs_": choice.n_epochs,
            "validation_losses_": np.array(choice.losses),
        }
        if schema.names is not None:
            attributes["feature_names_in_"] = np.array(schema.names, dtype=object)
        return attributes
