"""Large functions are compiled once: their callers call them by symbol.

numba copies the code of every callee, and of all that the callee calls, into the caller, and LLVM
optimises each copy again.  That pays for small functions, which LLVM inlines.  Callers only declare
a function of more than :data:`MOST_INLINED` LLVM instructions, and the engine resolves the symbol.

A symbol must mean the same code in every process, because callers are kept on disk: where numba
counts functions, :func:`name_by_content` puts a digest of all sources that the code depends on.
Code that is loaded from disk first has the functions loaded that it calls, and compiled where they
are missing.  Hence no caller is ever bound to a stale or a missing function.
"""

import hashlib
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, Final, NamedTuple

from llvmlite import binding as _binding
from numba.core import bytecode as _bytecode
from numba.core import codegen as _codegen
from numba.core import runtime as _runtime
from numba.core import types as _types

from mjbot.runtime.compiler.numba_parts import IS_TRIED

binding: Final[Any] = _binding  # no type hints
bytecode: Final[Any] = _bytecode
codegen: Final[Any] = _codegen
types: Final[Any] = _types

MOST_INLINED: Final = 150
"""LLVM instructions of a function, optimised and with what was inlined into it.

LLVM inlines what costs at most 275, 5 for most instructions, less for arguments that are known.
At 60 `strongest` takes 7% longer to decide than with all code copied, at 150 2%; compiling it takes
hardly less (16 alternating tonpu games)."""


class Callee(NamedTuple):
    """A compiled function for the types of its arguments, as callers on disk name it."""

    module: str
    qualname: str
    line: int
    arguments: tuple[Any, ...]
    symbol: str


_dispatchers: Final[dict[tuple[str, str, int], Any]] = {}
_unique_ids: Final[dict[Any, int]] = {}


def _parts_are_known() -> bool:
    return (
        IS_TRIED
        and hasattr(getattr(bytecode, "FunctionIdentity", None), "from_function")
        and hasattr(getattr(codegen, "CPUCodeLibrary", None), "add_linking_library")
        and hasattr(_runtime, "rtsys")
    )


CAN_LINK: Final = _parts_are_known()
"""Whether this numba has the known internal structure; else all code is copied into callers."""


def name_by_content(dispatcher: Any, function: Callable[..., Any], digest: str) -> None:
    """Let callers call the function by a symbol that ``digest`` is part of.

    ``digest`` stands for all sources that its code depends on.  A function that another one makes
    is left out: several have the same name.
    """
    code = function.__code__
    key = (function.__module__, function.__qualname__, code.co_firstlineno)
    if not CAN_LINK or function.__closure__ or "<" in function.__qualname__:
        return
    _dispatchers[key] = dispatcher
    content = f"{digest} {code.co_firstlineno}"
    _unique_ids[function] = _number_of(content)


def mark_if_large(function: Callable[..., Any], result: Any) -> None:
    """Mark what was just compiled, if it is large, as called by symbol instead of copied."""
    if function not in _unique_ids:
        return
    code = function.__code__
    symbol, arguments = result.fndesc.llvm_func_name, result.signature.args
    if _is_large(result.library.get_function(symbol)) and all(map(_is_named_by_content, arguments)):
        place = function.__module__, function.__qualname__, code.co_firstlineno
        result.library.callee = Callee(*place, arguments, symbol)


def _is_named_by_content(argument: Any) -> bool:
    """Whether a type has the same name in every process; that of a function has an address."""
    if isinstance(argument, types.BaseTuple):
        return all(map(_is_named_by_content, argument.types))
    if isinstance(argument, types.Array):
        return _is_named_by_content(argument.dtype)
    return isinstance(argument, (types.Number, types.Boolean, types.Record, types.NoneType))


def _name_record(record: Any) -> tuple[str, tuple[int]]:
    """Return what symbols call a record type by: numba counts them as they come up."""
    return "Record", (_number_of(record.name),)


@cache
def _number_of(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest()[:15], 16)


def _is_large(function: Any) -> bool:
    count = 0
    for block in function.blocks:
        for _ in block.instructions:
            count += 1
            if count > MOST_INLINED:
                return True
    return False


def reduce_result(result: Any) -> tuple[Any, ...]:
    """Return what is kept of a compiled function; the code's own form only where it is copied."""
    library = result.library
    callee, needed = getattr(library, "callee", None), getattr(library, "needed", {})
    (name, kind, (machine_code, bitcode)), *rest = result._reduce()
    if callee is not None:
        bitcode = _stand_in(library).as_bitcode()
    return callee, tuple(needed), (name, kind, (machine_code, bitcode)), *rest


def _stand_in(library: Any) -> Any:
    """Return a module that defines the same symbols and holds no code."""
    module = library._final_module
    lines = [f'target triple = "{module.triple}"']
    for function in module.functions:
        if not function.is_declaration:
            lines.append(f'define void @"{function.name}"() {{ ret void }}')
    for variable in module.global_variables:
        if not variable.is_declaration and variable.linkage.name not in ("internal", "private"):
            lines.append(f'@"{variable.name}" = common global i64 0')
    return binding.parse_assembly("\n".join(lines))


def rebuild_result(result_class: Any, context: Any, payload: tuple[Any, ...]) -> Any:
    """Return the compiled function that was kept; loads first the functions that it calls."""
    callee, needed, *kept = payload
    libraries = {other: _load(other) for other in needed}
    result = result_class._rebuild(context, *kept)
    result.library.needed = libraries
    if callee is not None:
        result.library.callee = callee
    return result


def _load(callee: Callee) -> Any:
    """Load, or compile, a function that the code to be loaded calls; return its library.

    Raises ``LookupError`` if there is none of that symbol: the engine would end the process.
    """
    if callee.module not in sys.modules:
        import_module(callee.module)
    dispatcher = _dispatchers[callee[:3]]
    dispatcher.compile(callee.arguments)
    result = dispatcher.overloads[callee.arguments]
    if result.fndesc.llvm_func_name != callee.symbol:
        raise LookupError(callee.symbol)
    return result.library


def _declare_large() -> None:
    """Have large functions declared from now on where numba links their code in."""
    link_code = codegen.CPUCodeLibrary.add_linking_library

    def add_linking_library(self: Any, library: Any) -> None:
        needed = self.__dict__.setdefault("needed", {})
        callee = getattr(library, "callee", None)
        if callee is not None:
            needed[callee] = library
            return
        link_code(self, library)
        needed.update(getattr(library, "needed", {}))

    codegen.CPUCodeLibrary.add_linking_library = add_linking_library

    identify = bytecode.FunctionIdentity.from_function.__func__

    def from_function(cls: Any, function: Any) -> Any:
        identity = identify(cls, function)
        if identity.func in _unique_ids:
            identity.unique_id = _unique_ids[identity.func]
            identity.unique_name = f"{identity.func_qualname}${identity.unique_id}"
        return identity

    bytecode.FunctionIdentity.from_function = classmethod(from_function)
    types.Record.mangling_args = property(_name_record)


if CAN_LINK:
    _declare_large()
