"""Names in model files: tags of classes, parameters and fields that were renamed."""

import sys
from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar

import pytest
from codec_tools import through
from sklearn.base import BaseEstimator

import committee
from committee.files import codec_classes as _codec_classes
from committee.files.codec import decode, encode, register
from committee.files.parts import ANYTHING, declared_parts, maybe
from committee.losses import Loss
from committee.tables.table import Kind


@register("Crate")
class Box(BaseEstimator):
    """An estimator that was renamed with its parts."""

    _stored_parts: ClassVar = {"_content": maybe(ANYTHING)}
    _stored_names: ClassVar = {"_content": "_stuff", "old_": "new_", "new_": "old_"}


@register("Crates")
class Boxes(Box):
    _stored_names: ClassVar = {"total_": "sum_"}


@register("Range")
@dataclass(frozen=True)
class Span:
    begin: float
    end: float = 1.0
    step: float = 0.5

    _stored_names: ClassVar = {"begin": "low", "end": "high"}
    _later_fields: ClassVar = ("end",)


@register("colour")
class Color(IntEnum):
    RED = 1


def test_a_tag_is_registered_for_one_class_only():
    class Other:
        _stored_fields = ()

    with pytest.raises(ValueError, match=r"tag Crate is taken by .*\.Box"):
        register("Crate")(Other)
    with pytest.raises(TypeError, match="needs get_params"):
        register("int")(int)


def test_files_keep_their_names_when_a_class_and_its_parts_are_renamed():
    box = Box()
    box._content, box.old_, box.new_ = 1, 2, 3
    value, _ = encode(box)
    attributes = {"_stuff": 1, "new_": 2, "old_": 3}
    assert value == {"estimator": {"class": "Crate", "params": {}, "attributes": attributes}}
    assert list(value["estimator"]["attributes"]) == list(attributes)
    loaded = decode(value, [])
    assert type(loaded) is Box
    assert vars(loaded) == vars(box)
    for name in ["Box", "Span"]:
        with pytest.raises(ValueError, match="does not know"):
            decode({"estimator": {"class": name, "params": {}, "attributes": {}}}, [])
    with pytest.raises(ValueError, match="it sets '_content' of Crate"):
        decode({"estimator": {"class": "Crate", "params": {}, "attributes": {"_content": 1}}}, [])


@register("Label")
class Sticker(BaseEstimator):
    _stored_names: ClassVar = {"words": "text"}

    def __init__(self, words="", size=1):
        self.words = words
        self.size = size


def test_parameters_keep_their_names_in_files():
    value, _ = encode(Sticker("fragile", 2))
    assert value["estimator"] == {
        "class": "Label",
        "params": {"size": 2, "text": "fragile"},
        "attributes": {},
    }
    assert decode(value, []).get_params() == {"words": "fragile", "size": 2}
    value["estimator"]["params"] = {"words": "fragile"}
    with pytest.raises(ValueError, match="parameters that Label does not have: words"):
        decode(value, [])


def test_names_in_files_are_inherited():
    boxes = Boxes()
    boxes._content, boxes.total_ = 1, 5
    value, _ = encode(boxes)
    assert value["estimator"]["attributes"] == {"_stuff": 1, "sum_": 5}
    assert vars(decode(value, [])) == vars(boxes)
    boxes.sum_ = 6
    with pytest.raises(TypeError, match="same stored name"):
        encode(boxes)


def test_fields_of_a_record_keep_their_names_in_files():
    value, _ = encode(Span(0.25, 0.75))
    fields = {"low": 0.25, "high": 0.75, "step": 0.5}
    assert value == {"record": {"class": "Range", "fields": fields}}
    assert decode(value, []) == Span(0.25, 0.75)
    value["record"]["fields"] = fields
    del fields["high"]
    assert decode(value, []) == Span(0.25, 1.0)
    fields["begin"] = fields.pop("low")
    with pytest.raises(ValueError, match="other fields than low, high, step"):
        decode(value, [])


def test_an_enum_is_stored_by_its_tag():
    assert encode(Color.RED)[0] == {"colour": 1}
    assert through(Color.RED) is Color.RED
    for payload in [2, True, "1"]:
        with pytest.raises(ValueError, match=r"^it "):
            decode({"colour": payload}, [])

    class Color2(IntEnum):
        BLUE = 1

    with pytest.raises(ValueError, match="tag colour is taken"):
        register("colour")(Color2)
    with pytest.raises(TypeError, match="cannot be stored"):
        encode(Color2.BLUE)


TAGS = """
AbsoluteError BinaryLogLoss BoostingStart ConvexClassifier ConvexRegressor Exponential FeatureInfo
FoldMean Gamma Huber LeakReport LearnerSum MultinomialLogLoss Neighborhood NominalCodes OobCurve
Poisson PruningPath Quantile RoundChoice RoundLog RowEncoder RowSampler Selection SquaredError
TableSchema TargetStatistics TrainingLog TrainingRecord TreeMembers TreeSum Tweedie Voice VoteRule
"""


def test_the_tags_of_files_do_not_change():
    for name in committee.__all__:
        getattr(committee, name)
    own = {tag for tag, cls in _codec_classes._classes.items() if cls.__module__ != __name__}
    assert set(TAGS.split()) <= own
    for tag in TAGS.split():
        assert _codec_classes.tag_of(_codec_classes.storable_class(tag)) == tag
    assert _codec_classes.enum_class("kind") is Kind


def test_every_record_declares_what_its_fields_are():
    for name in committee.__all__:
        getattr(committee, name)
    # A class of a docstring's example is registered too, if that ran before in this process.
    own = [
        cls
        for cls in _codec_classes._classes.values()
        if getattr(sys.modules.get(cls.__module__), cls.__name__, None) is cls
        and cls.__module__ != __name__
    ]
    records = [cls for cls in own if _codec_classes.field_names(cls) is not None]
    # Losses are checked by their constructors.
    undeclared = {
        cls.__name__: missing
        for cls in records
        if cls.__module__.startswith("committee.") and not issubclass(cls, Loss)
        if (missing := set(_codec_classes.field_names(cls)) - set(declared_parts(cls)))
    }
    assert len(records) > 20
    assert undeclared == {}
