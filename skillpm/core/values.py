"""Immutable values, as `dataclass(frozen=True, kw_only=True)`, without its import cost.

A dataclass takes 0.4 ms when its module is imported, since it generates and compiles its methods. Every command
imports some 45 of them: 18 of the 45 to 70 ms that a command takes (ADR 5). A `Value` takes a few microseconds.
"""

from collections.abc import Callable, Mapping
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Self, dataclass_transform

EMPTY_MAPPING: Mapping[Any, Any] = MappingProxyType({})


class _Signature:
    """`inspect.signature` of a value: its fields with their types, which `help` shows."""

    def __get__(self, _: object, cls: "type[Value]") -> object:
        from inspect import Parameter, Signature, get_annotations  # noqa: PLC0415  (only for `help`)

        types = {name: hint for base in reversed(cls.__mro__) for name, hint in get_annotations(base).items()}
        fields = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=getattr(cls, name, Parameter.empty), annotation=hint)
            for name, hint in types.items()
            if name in cls._field_names
        ]
        return Signature(fields)


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Value:
    """Base of all values. The annotations of a class are its fields; two values are equal if all fields are."""

    _field_names: frozenset[str] = frozenset()
    _required: frozenset[str] = frozenset()
    # Returns the values of all fields: in C, since the resolver compares and hashes thousands of requirements.
    _read: Callable[[Any], object] = attrgetter("_field_names")
    __signature__ = _Signature()

    def __init_subclass__(cls) -> None:
        # Own annotations only. Not `cls.__dict__["__annotations__"]`, which Python 3.14 fills on first access.
        own = cls.__annotations__
        cls._field_names = cls._field_names | own.keys()
        cls._required = frozenset(name for name in cls._field_names if not hasattr(cls, name))
        cls._read = attrgetter(*sorted(cls._field_names) or ["_field_names"])

    def __init__(self, **values: Any) -> None:
        given = values.keys()
        if given != self._field_names and not (given <= self._field_names and self._required <= given):
            wrong = sorted((given - self._field_names) | (self._required - given))
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
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in sorted(self._field_names))
        return f"{type(self).__name__}({fields})"

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed."""
        return type(self)(**{**self.__dict__, **changes})
