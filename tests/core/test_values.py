"""Values: constructed by name, immutable, and equal if all fields are."""

import copy
import pickle
from typing import Any

import pytest

from skillpm.core.values import EMPTY_MAPPING, Value


class Point(Value):
    x: int
    y: int = 0


class Place(Point):
    name: str


class Spot(Value):
    x: int
    y: int = 0


class Bare(Value):
    pass


class Halved(Value):
    whole: int

    @property
    def half(self) -> int:
        return self.whole // 2


def test_fields_are_given_by_name_and_defaults_fill_the_rest() -> None:
    assert (Point(x=1).x, Point(x=1).y, Point(x=1, y=2).y) == (1, 0, 2)


def test_a_subclass_has_the_fields_of_its_parent_and_its_own() -> None:
    place = Place(x=1, name="home")

    assert (place.x, place.y, place.name) == (1, 0, "home")
    assert repr(place) == "Place(name='home', x=1, y=0)"


@pytest.mark.parametrize(
    ("kind", "given", "wrong"),
    [
        (Point, {}, "Point: missing or unknown fields: x"),
        (Point, {"y": 1}, "Point: missing or unknown fields: x"),
        (Point, {"x": 1, "z": 3}, "Point: missing or unknown fields: z"),
        (Point, {"z": 1, "a": 3}, "Point: missing or unknown fields: a, x, z"),
        (Place, {"x": 1}, "Place: missing or unknown fields: name"),
        (Bare, {"x": 1}, "Bare: missing or unknown fields: x"),
        (Halved, {"whole": 2, "half": 1}, "Halved: missing or unknown fields: half"),
    ],
)
def test_a_missing_or_unknown_field_is_named(kind: type[Value], given: dict[str, Any], wrong: str) -> None:
    with pytest.raises(TypeError) as caught:
        kind(**given)
    assert str(caught.value) == wrong


def test_fields_are_not_given_by_position() -> None:
    with pytest.raises(TypeError):
        Point(1, 2)  # type: ignore[call-arg]  # the very thing that is refused


def test_a_value_is_immutable() -> None:
    point = Point(x=1)

    with pytest.raises(AttributeError) as caught:
        point.x = 2  # type: ignore[misc]  # the very thing that is refused
    assert str(caught.value) == "Point.x is immutable; use `replace`"
    with pytest.raises(AttributeError) as caught:
        point.z = 2  # nor does it grow
    assert str(caught.value) == "Point.z is immutable; use `replace`"
    with pytest.raises(AttributeError) as caught:
        del point.x
    assert str(caught.value) == "Point.x is immutable"
    assert point == Point(x=1)


def test_replace_returns_a_copy_and_leaves_the_original_unchanged() -> None:
    point = Point(x=1, y=2)

    assert point.replace(y=3) == Point(x=1, y=3)
    assert point.replace() == point
    assert point == Point(x=1, y=2)
    assert type(Place(x=1, name="home").replace(x=2)) is Place


def test_replace_rejects_unknown_fields() -> None:
    with pytest.raises(TypeError) as caught:
        Point(x=1).replace(z=3)
    assert str(caught.value) == "Point: missing or unknown fields: z"


def test_values_are_equal_when_their_class_and_all_their_fields_are() -> None:
    assert Point(x=1) == Point(x=1, y=0)
    assert hash(Point(x=1)) == hash(Point(x=1, y=0))
    assert Point(x=1) != Point(x=2)
    assert Point(x=1) != Spot(x=1)
    assert Point(x=1) != (1, 0)
    assert len({Point(x=1), Point(x=1, y=0), Point(x=2), Spot(x=1)}) == 3


def test_a_subclass_is_not_equal_to_its_parent() -> None:
    class Same(Point):
        pass

    assert Same(x=1) != Point(x=1)


def test_the_repr_is_the_constructor_call() -> None:
    assert repr(Point(x=1, y=2)) == "Point(x=1, y=2)"
    assert repr(Bare()) == "Bare()"


def test_copies_and_pickles_are_equal() -> None:
    place = Place(x=1, name="home")

    assert [copy.copy(place), copy.deepcopy(place), pickle.loads(pickle.dumps(place))] == [place] * 3  # noqa: S301


def test_the_shared_empty_mapping_is_read_only() -> None:
    assert EMPTY_MAPPING == {}
    with pytest.raises(TypeError):
        EMPTY_MAPPING["x"] = 1  # type: ignore[index]  # the very thing that is refused
