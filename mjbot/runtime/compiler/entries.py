"""What Python calls a compiled function by: made when Python first calls it.

numba compiles such an entry, which unpacks Python's objects and packs the result, with every
function.  Nine in ten of ours are called by compiled code alone.  So functions are compiled without
one, and an entry is a library of its own that calls the function by symbol.
"""

from typing import Any, Final

from numba.core import compiler_lock as _compiler_lock
from numba.core import runtime as _runtime

from mjbot.runtime.compiler.code_cache import prepare_compiling
from mjbot.runtime.compiler.loading import define, parsed_late

compiler_lock: Final[Any] = _compiler_lock  # no type hints
runtime: Final[Any] = _runtime


def make_entries_late(dispatcher: Any) -> None:
    """Let the dispatcher make an entry when Python calls the function, not when it is compiled."""
    compile_for_arguments = dispatcher._compile_for_args
    made: dict[int, Any] = {}

    def add_overload(result: Any) -> None:
        dispatcher.overloads[tuple(result.signature.args)] = result

    def compile_and_enter(*args: Any, **kws: Any) -> Any:
        found = compile_for_arguments(*args, **kws)
        for result in list(dispatcher.overloads.values()):
            if result.entry_point is found:
                with compiler_lock.global_compiler_lock:
                    if id(found) not in made:
                        made[id(found)] = _entry(dispatcher._cache, result)
                        codes = [argument._code for argument in result.signature.args]
                        dispatcher._insert(codes, made[id(found)], result.objectmode)
                return made[id(found)]
        return found

    dispatcher.add_overload = add_overload
    dispatcher._compile_for_args = compile_and_enter


def _entry(cache: Any, result: Any) -> Any:
    """Return what Python calls: found on disk, or compiled and kept there.

    The objects that the entry needs of Python's are among the constants of the environment.
    """
    # The context of a function that was found on disk counts no references: it would hand arrays
    # over without counting theirs.
    context = result.target_context.subtarget(enable_nrt=True)
    function, environment = result.fndesc, result.environment
    arguments = result.signature.args
    symbol, library_data, constants = cache.load_entry(arguments, context) or ("", None, [])
    if symbol == function.llvm_func_name:
        library = context.codegen().unserialize_library(parsed_late(library_data))
        define(library, function.llvm_cpython_wrapper_name)
        environment.consts.extend(constants[len(environment.consts) :])
    else:
        library = _compile(context, function, environment)
        code = library.serialize_using_object_code()
        kept = function.llvm_func_name, code, list(environment.consts)
        cache.save_entry(arguments, context, kept)
    return context.get_executable(library, function, environment)


def _compile(context: Any, function: Any, environment: Any) -> Any:
    library = context.codegen().create_library(f"{function.qualname} for Python")
    library.enable_object_caching()
    prepare_compiling()
    context.refresh()  # not done yet where all functions so far were found on disk
    with context.push_code_library(library):
        context.create_cpython_wrapper(library, function, environment, None)
    library.add_linking_library(runtime.rtsys.library)
    library.finalize()
    return library
