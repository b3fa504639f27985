"""Immutable values, as `dataclass(frozen=True, kw_only=True)`, without its import cost.

A dataclass takes 0.4 ms when its module is imported, since it generates and compiles its methods. Every command
imports some forty of them: 17 ms of the 45 ms that startup may take (docs/adr/0005-values.md). A `Value` takes a few
microseconds.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Self, dataclass_transform

EMPTY_MAPPING: Mapping[Any, Any] = MappingProxyType({})


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Value:
    """Base of all values. The annotations of a class are its fields; two values are equal if all fields are."""

    _fields: frozenset[str] = frozenset()
    _required: frozenset[str] = frozenset()

    def __init_subclass__(cls) -> None:
        # Own annotations only. Not `cls.__dict__["__annotations__"]`, which Python 3.14 fills on first access.
        own = cls.__annotations__
        cls._fields = cls._fields | own.keys()
        cls._required = frozenset(name for name in cls._fields if not hasattr(cls, name))

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
        return type(other) is type(self) and other._key() == self._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self._key())
        return f"{type(self).__name__}({fields})"

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed."""
        return type(self)(**{**self.__dict__, **changes})

    def _key(self) -> tuple[tuple[str, Any], ...]:
        return tuple((name, getattr(self, name)) for name in sorted(self._fields))
