"""`NetRegressor`: a small neural net for numbers."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.base import RegressorMixin

from committee.base.arrays import Floats
from committee.files.codec_classes import register
from committee.files.parts import Part, instance
from committee.nets.net_model import NetModel
from committee.nets.task import NumberTask
from committee.nets.training_rows import Scale


@register("nets.NetRegressor")
class NetRegressor(RegressorMixin, NetModel):
    """A small neural net that predicts a number from rows of a raw table.

    Several nets that share most of their weights learn together, and the mean of their
    predictions is returned. Numbers enter as piecewise linear functions between quantiles,
    categories by a row of weights for each level; missing values and unseen levels are fine.

    Parameters
    ----------
    n_units : int, default=128
        Units of each hidden layer, rounded up to a multiple of 16.
    n_layers : int, default=2
        Hidden layers.
    n_members : int, default=4
        Nets that share weights: each has factors and shifts of units, and an output, of its own.
    learning_rate : float, default=0.002
        Step size of Adam.
    max_epochs : int, default=100
        Passes over the rows, the most of them.
    batch_size : int or "auto", default="auto"
        Rows of a step; "auto" is a 32nd of the rows, from 32 to 256.
    weight_decay : float, default=0.1
        Share by which weights shrink, in units of the learning rate.
    dropout : float, default=0.1
        Share of the hidden units that are left out at random in each step.
    n_knots : int, default=17
        Quantiles of a number between which functions are linear; fewer in very wide tables.
    early_stopping : bool, default=True
        Whether rows that are held out decide when to stop. A table of fewer than 20 rows is passed
        40 times instead.
    patience : int, default=12
        Epochs without a lower loss on these rows that end the fit; the best epoch is kept.
    validation_fraction : float, default=0.15
        Share of the rows that is held out, unless `fit` is given an `eval_set`.
    categorical_features : list of names, positions or booleans, "from_dtype" or None, default=None
        Numeric columns to treat as categories; text and category columns always are.
    numeric_text : {"auto", "number", "category"}, default="auto"
        What numbers written as text are. "auto" makes numbers of them, with a warning, where a
        column of an array or a list holds nothing else, and keeps text of data frames. "number"
        makes numbers of both, and missing values of marks such as "?". "category" keeps text.
    random_state : int, RandomState, Generator or None, default=None
        Seed of first weights, batches, dropout, and rows held out.
    n_jobs : int or None, default=None
        Threads; None uses all cores. The model is the same for any number.
    verbose : int, default=0
        1 prints progress to stderr about ten times, 2 after each epoch.

    Attributes
    ----------
    n_epochs_ : int
        Epochs of the model.
    validation_losses_ : ndarray of float64
        Mean loss on unseen rows after each epoch that was run; NaN where there were none.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Column names; only if the table had names.
    schema_ : TableSchema
        Names, kinds and levels of the features.

    Notes
    -----
    Members are as in BatchEnsemble (Wen et al., 2020) and TabM (Gorishniy et al., 2025), numbers as
    in *On embeddings for numerical features* (Gorishniy et al., 2022), learning by AdamW with a
    running mean of the weights. All arithmetic has a fixed order: the same seed gives the same net
    on any machine.

    Examples
    --------
    >>> import numpy as np
    >>> from committee.nets.regressor import NetRegressor
    >>> X = np.linspace(-1, 1, 200).reshape(-1, 1)
    >>> model = NetRegressor(random_state=0).fit(X, abs(X[:, 0]))
    >>> model.score(X, abs(X[:, 0])) > 0.95
    True
    """

    _task = NumberTask()
    _stored_parts: ClassVar[dict[str, Part]] = {"_scale": instance(Scale)}

    _scale: Scale

    def __init__(
        self,
        *,
        n_units: int = 128,
        n_layers: int = 2,
        n_members: int = 4,
        learning_rate: float = 0.002,
        max_epochs: int = 100,
        batch_size: int | str = "auto",
        weight_decay: float = 0.1,
        dropout: float = 0.1,
        n_knots: int = 17,
        early_stopping: bool = True,
        patience: int = 12,
        validation_fraction: float = 0.15,
        categorical_features: Any = None,
        numeric_text: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_units = n_units
        self.n_layers = n_layers
        self.n_members = n_members
        self.learning_rate = learning_rate
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.weight_decay = weight_decay
        self.dropout = dropout
        self.n_knots = n_knots
        self.early_stopping = early_stopping
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.categorical_features = categorical_features
        self.numeric_text = numeric_text
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def predict(self, X: Any) -> Floats:
        """Return the number of each row.

        Parameters
        ----------
        X : table
            Rows with the columns of `fit`.

        Returns
        -------
        values : ndarray of float64, shape (n_rows,)
            The mean over members.
        """
        predicted = self._predict_values(X)
        return self._scale.from_net(predicted[:, 0])

    def _validate_loaded(self) -> None:
        super()._validate_loaded()
        if hasattr(self, "_net") and (self._net.is_class or self._net.sizes.n_outputs != 1):
            raise ValueError("the net does not predict one number")
