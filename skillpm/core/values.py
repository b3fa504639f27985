"""Immutable values, as `dataclass(frozen=True, kw_only=True)`, without its import cost.

A dataclass takes 0.4 ms when its module is imported, since it generates and compiles its methods. Every command
imports some 45 of them: 18 of the 45 to 70 ms that a command takes (ADR 5). A `Value` takes a few microseconds.
"""

from collections.abc import Callable, Mapping
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Self, dataclass_transform

EMPTY_MAPPING: Mapping[Any, Any] = MappingProxyType({})


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Value:
    """Base of all values. The annotations of a class are its fields; two values are equal if all fields are."""

    _fields: frozenset[str] = frozenset()
    _required: frozenset[str] = frozenset()
    # Returns the values of all fields: in C, since the resolver compares and hashes thousands of requirements.
    _read: Callable[[Any], object] = attrgetter("_fields")

    def __init_subclass__(cls) -> None:
        # Own annotations only. Not `cls.__dict__["__annotations__"]`, which Python 3.14 fills on first access.
        own = cls.__annotations__
        cls._fields = cls._fields | own.keys()
        cls._required = frozenset(name for name in cls._fields if not hasattr(cls, name))
        cls._read = attrgetter(*sorted(cls._fields) or ["_fields"])

    def __init__(self, **values: Any) -> None:
        given = values.keys()
        if given != self._fields and not (given <= self._fields and self._required <= given):
            wrong = sorted((given - self._fields) | (self._required - given))
            raise TypeError(f"{type(self).__name__}: missing or unknown fields: {', '.join(wrong)}")
        self.__dict__.update(values)

    def __setattr__(self, name: str, _: object) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} is immutable; use `replace`")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} is immutable")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._read(other) == self._read(self)

    def __hash__(self) -> int:
        return hash(self._read(self))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in sorted(self._fields))
        return f"{type(self).__name__}({fields})"

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed."""
        return type(self)(**{**self.__dict__, **changes})
