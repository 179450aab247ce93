"""Records: flat structures that compiled code reads and writes by field.

A record type is declared once, as a class whose annotations are types and memory layout both::

    class Point(Record):
        x: Int32
        tiles: Annotated[Int8s, 4, 34]  # an array field and its shape
        origin: Origin  # another record inside
        marks: Annotated[Sequence[Mark], 3]  # an array of records inside

Its instances are ``numpy.void`` of :attr:`Record.dtype`, never of the class, which exists for
type checkers and readers: ``r.field`` in compiled code is ``r["field"]`` in Python.
"""

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, cast, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from mjbot.runtime.compiler.mode import IS_INTERPRETED

Int8 = Annotated[int, np.int8]
Int16 = Annotated[int, np.int16]
Int32 = Annotated[int, np.int32]
Int64 = Annotated[int, np.int64]
UInt8 = Annotated[int, np.uint8]
Float64 = Annotated[float, np.float64]

Int8s = NDArray[np.int8]
Int16s = NDArray[np.int16]
Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
UInt8s = NDArray[np.uint8]
UInt64s = NDArray[np.uint64]
Float32s = NDArray[np.float32]
Float64s = NDArray[np.float64]


class Record:
    """Base of all record types; see the module."""

    dtype: ClassVar[np.dtype[Any]]
    """The layout; aligned unless the class says ``align=False``."""

    def __init_subclass__(cls, align: bool = True) -> None:
        hints = get_type_hints(cls, include_extras=True)
        fields = [_field(name, hint) for name, hint in hints.items() if name != "dtype"]
        layout: np.dtype[Any] = np.dtype(fields, align=align)
        # Interpreted code reads attributes, too, which only numpy.record has.
        cls.dtype = np.dtype((np.record, layout)) if IS_INTERPRETED else layout

    @classmethod
    def new(cls) -> Self:
        """Return one record of zeros."""
        return cast(Self, np.zeros(1, cls.dtype)[0])

    if TYPE_CHECKING:

        def __getitem__(self, field: str) -> Any: ...
        def __setitem__(self, field: str, value: Any) -> None: ...


def _field(name: str, hint: Any) -> tuple[Any, ...]:
    """Return what numpy calls a field: name, type and shape."""
    if get_origin(hint) is not Annotated:
        return (name, hint.dtype)
    inner, extra = hint.__origin__, hint.__metadata__
    if inner in (int, float):
        return (name, extra[0])
    element = inner.__args__[-1]  # of Sequence[R], ndarray[..., dtype[T]], and NDArray[T] as such
    if get_origin(element) is np.dtype:  # what NDArray[T] stands for, before numpy 2.5
        (element,) = element.__args__
    return (name, element.dtype if issubclass(element, Record) else element, extra)
