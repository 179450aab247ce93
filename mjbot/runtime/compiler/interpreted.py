"""Compiled functions as the Python that they are, with the arithmetic of compiled code.

Compiled code computes with 64 bits whatever an array holds, wraps around at 2**64 without a warning
and divides by zero as numpy's arrays do.  Interpreted, an ``int8`` read from an array would stay
one and overflow at 128.  So with ``NUMBA_DISABLE_JIT=1`` each function sees its arrays and
records through views that give out plain integers and floats.
"""

import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])


class _Within(threading.local):
    compiled = False


_within = _Within()


def interpreted(function: Function) -> Function:
    """Return the function, run by Python and computing as when compiled."""

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        args = tuple([widened(arg) for arg in args])
        if named:
            named = {name: widened(arg) for name, arg in named.items()}
        if _within.compiled:  # once per call from outside: it takes longer than most functions
            return function(*args, **named)
        _within.compiled = True
        try:
            with np.errstate(all="ignore"):
                return function(*args, **named)
        finally:
            _within.compiled = False

    return call  # type: ignore[return-value]


def widened(value: Any) -> Any:
    """Return a view of an array or record that gives out wide numbers; of a number a wide one."""
    kind = type(value)
    if kind is int or kind is _Array or kind is _Record:
        return value
    if isinstance(value, np.ndarray):
        return value.view(_Array)
    if isinstance(value, np.void):
        return _Record(value)
    if isinstance(value, np.integer) and not isinstance(value, np.uint64):
        return int(value)
    return float(value) if isinstance(value, np.floating) else value


class _Array(np.ndarray[Any, Any]):
    """Gives out its items widened."""

    def __getitem__(self, place: Any) -> Any:
        return widened(super().__getitem__(place))

    def __setitem__(self, place: Any, value: Any) -> None:
        super().__setitem__(place, _bare(value))

    def __iter__(self) -> Iterator[Any]:
        return map(self.__getitem__, range(len(self)))


class _Record:
    """Gives out a record's fields widened, as attributes and items."""

    __slots__ = ("_record",)

    def __init__(self, record: np.void) -> None:
        object.__setattr__(self, "_record", record)

    def __getattr__(self, name: str) -> Any:
        return widened(self._record[name])

    def __setattr__(self, name: str, value: Any) -> None:
        self._record[name] = _bare(value)

    def __getitem__(self, name: str) -> Any:
        return widened(self._record[name])

    def __setitem__(self, name: str, value: Any) -> None:
        self._record[name] = _bare(value)


def _bare(value: Any) -> Any:
    return value._record if isinstance(value, _Record) else value
