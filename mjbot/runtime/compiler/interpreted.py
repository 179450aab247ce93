"""Compiled functions as the Python that they are, with the arithmetic of compiled code.

Compiled code computes with 64 bits whatever integers an array holds, in single precision where all
operands are, wraps around at 2**64 without a warning and divides by zero as numpy's arrays do.
Interpreted, an ``int8`` read from an array would stay one and overflow at 128, and 0.5 of a
``float32`` array would keep what it is added to in single precision.  So each function sees its
arrays and records through views that give out numbers as compiled code knows them, and makes new
arrays of the same kind: its ``np`` is :class:`_Numpy`.

Exponentials and logarithms are those of the C library, which compiled code calls: numpy's differ
from them in the last bit.
"""

import ctypes
import functools
import math
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar, cast

import numpy as np

from mjbot.runtime.system import c_library

Function = TypeVar("Function", bound=Callable[..., Any])

_NUMPY: Final = "_numpy_of_interpreted_functions"


class _Within(threading.local):
    compiled = False


_within = _Within()


def interpreted(function: Function) -> Function:
    """Return the function, run by Python and computing as when compiled."""
    run = _with_own_numpy(function)

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        args = tuple([widened(arg) for arg in args])
        if named:
            named = {name: widened(arg) for name, arg in named.items()}
        if _within.compiled:  # once per call from outside: it takes longer than most functions
            return run(*args, **named)
        _within.compiled = True
        try:
            with np.errstate(all="ignore"):
                return _returned(run(*args, **named))
        finally:
            _within.compiled = False

    return cast(Function, call)


def _with_own_numpy(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with :class:`_Numpy` for what its module calls ``np``."""
    code = function.__code__
    if function.__globals__.get("np") is not np or "np" not in code.co_names:
        return function
    names = tuple([_NUMPY if name == "np" else name for name in code.co_names])
    function.__globals__[_NUMPY] = _numpy
    run = types.FunctionType(
        code.replace(co_names=names),
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    run.__kwdefaults__ = function.__kwdefaults__
    return run


def widened(value: Any) -> Any:
    """Return a view of an array or record that gives out wide numbers; of a number a wide one.

    A tuple is one of such views and numbers.
    """
    widen = _WIDENED.get(type(value))
    if widen is not None:
        return widen(value)
    if isinstance(value, tuple):
        items = map(widened, value)
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, np.ndarray) and not isinstance(value, _Array):
        return value.view(_Array)
    return value


def _returned(value: Any) -> Any:
    """Return what a compiled function hands to Python: plain numbers, arrays and records."""
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, (np.integer, Small)):
        return int(value)
    if isinstance(value, np.floating):
        return float(value)
    if isinstance(value, tuple):
        items = map(_returned, value)
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value.view(np.ndarray) if isinstance(value, _Array) else _bare(value)


class _Array(np.ndarray[Any, Any]):
    """Gives out its items widened."""

    def __getitem__(self, place: Any) -> Any:
        value = super().__getitem__(place)
        widen = _ITEMS.get(type(value))
        return value if widen is None else widen(value)

    def __setitem__(self, place: Any, value: Any) -> None:
        try:
            super().__setitem__(place, value._record if type(value) is _Record else value)
        except OverflowError:
            super().__setitem__(place, _wrapped(value, self.dtype))

    def __iter__(self) -> Iterator[Any]:
        return map(self.__getitem__, range(len(self)))


class _Record:
    """Gives out a record's fields widened, as attributes and items."""

    __slots__ = ("_record",)

    def __init__(self, record: np.void) -> None:
        object.__setattr__(self, "_record", record)

    def __getattr__(self, name: str) -> Any:
        value = self._record[name]
        widen = _ITEMS.get(type(value))
        return value if widen is None else widen(value)

    def __setattr__(self, name: str, value: Any) -> None:
        try:
            self._record[name] = _bare(value)
        except OverflowError:
            self._record[name] = _wrapped(value, self._record.dtype[name])

    __getitem__ = __getattr__
    __setitem__ = __setattr__


def _bare(value: Any) -> Any:
    return value._record if isinstance(value, _Record) else value


def _wrapped(value: int, dtype: np.dtype[Any]) -> Any:
    """Return the lowest bits of a number, which is all that compiled code stores."""
    return np.array(value % 2**64, np.uint64).astype(dtype)


class Small(int):
    """An item of 8 or 16 bits: next to a number of single precision the result is another."""

    __slots__ = ()


class Float32(np.float32):
    """A number of single precision that becomes one of double precision next to most others."""

    __slots__ = ()


def _define(name: str) -> None:
    single: Any = getattr(np.float32, name)
    double: Any = getattr(np.float64, name)

    def operate(self: Any, other: Any) -> Any:
        if isinstance(other, np.float32):
            return Float32(single(self, other))
        if isinstance(other, Small):
            return Float32(single(self, np.float32(other)))
        if isinstance(other, (int, float, np.number, np.bool_)):
            return double(np.float64(self), np.float64(other))
        return single(self, other)

    setattr(Float32, name, operate)


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    _define(f"__{_name}__")
    _define(f"__r{_name}__")
for _name in ("neg", "pos", "abs"):
    _single: Any = getattr(np.float32, f"__{_name}__")
    setattr(Float32, f"__{_name}__", lambda self, of=_single: Float32(of(self)))

_WIDENED: Final[dict[type, Callable[[Any], Any]]] = {
    np.ndarray: lambda array: array.view(_Array),
    np.void: _Record,
    np.record: _Record,
    np.float32: Float32,
    float: np.float64,
    Small: int,
    **dict.fromkeys([np.int8, np.int16, np.int32, np.int64], int),
    **dict.fromkeys([np.uint8, np.uint16, np.uint32], int),
}
"""How a function receives its arguments: integers as such of 64 bits, whatever they were."""

_SMALL: Final[list[type]] = [np.int8, np.int16, np.uint8, np.uint16]
_ITEMS: Final[dict[type, Callable[[Any], Any]]] = {**_WIDENED, **dict.fromkeys(_SMALL, Small)}
"""How it receives items of arrays and records."""


class _Numpy:
    """What compiled functions use of numpy, computing as they do."""

    float32 = Float32

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def _array_maker(make: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **named: make(*args, **named).view(_Array)


def _c_function(name: str) -> Callable[[Any], Any]:
    """Return a function of one number, of the C library; of an array numpy's own."""
    of_double, of_any = getattr(math, name), getattr(np, name)
    of_single = _of_single(name, of_any)

    def call(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return of_any(value)
        if isinstance(value, np.float32):
            return Float32(of_single(value))
        try:
            return np.float64(of_double(value))
        except (OverflowError, ValueError):  # infinite, or not a number
            return of_any(np.float64(value))

    return call


def _of_single(name: str, of_any: Any) -> Callable[[Any], Any]:
    """Return a C library's function of single precision; where there is none, it is rounded.

    Rounded, one result in some thousand differs in the last bit.
    """
    try:
        function: Any = c_library()[f"{name}f"]
    except (AttributeError, OSError, TypeError):  # as on Windows
        return lambda value: of_any(np.float64(value))
    function.restype, function.argtypes = ctypes.c_float, [ctypes.c_float]
    return cast(Callable[[Any], Any], function)


for _name in ("array", "empty", "flatnonzero", "full", "ones", "zeros"):
    setattr(_Numpy, _name, staticmethod(_array_maker(getattr(np, _name))))
for _name in ("exp", "log", "sqrt", "tanh"):
    setattr(_Numpy, _name, staticmethod(_c_function(_name)))

_numpy: Final = _Numpy()
