#!/usr/bin/python3
"""extension.py FILE NAME HEADER JSON [BASE_NAME BASE_JSON] - writes FILE, the C source of the Python extension NAME.

JSON is what scripts/declarations.py found in HEADER (one, or several in one word); cffi makes of it a module in its API mode, which the
C compiler checks against the header itself. BASE_NAME is the extension whose declarations JSON lacks.
The module keeps to Python's stable ABI: one file for all versions of Python.
"""
import contextlib
import io
import json
import sys

import cffi

HOOKS = {"covey_op_fn": "op", "covey_sort_compare_fn": "compare"}  # what the library calls, in Python


def cdef_of(found):
    """The declarations as text for cffi; types come before what uses them."""
    lines = []
    for name, values in found["enums"].items():
        members = ", ".join(f"{constant} = {number}" for constant, number in values.items())
        lines.append(f"enum {name} {{ {members} }};")
    lines += [f"#define {name} {value}" for name, value in found["macros"].items() if isinstance(value, int)]
    lines += [f"typedef {kind} {name};" for name, kind in found["typedefs"].items()]
    for name, function in found["callbacks"].items():
        lines.append(f"typedef {function['returns']} {name}({types_of(function)});")
        if name in HOOKS:
            lines.append(f'extern "Python" {function["returns"]} python_{HOOKS[name]}({types_of(function)});')
    for name, fields in found["structs"].items():
        body = "".join(f" {field_of(f)};" for f in fields) if fields is not None else " ..."
        lines.append(f"struct {name};" if fields is None else f"struct {name} {{{body} }};")
    for name, function in found["functions"].items():
        lines.append(f"{function['returns']} {name}({types_of(function)});")
    return "\n".join(lines)


def types_of(function):
    kinds = [argument["type"] for argument in function["arguments"]]
    # cffi writes a pointer to an array of const wrongly
    return ", ".join(k.replace("const ", "") if "(*)[" in k else k for k in kinds) or "void"


def field_of(field):
    lengths = "".join(f"[{n}]" for n in field.get("array", []))
    return f"{field['type']} {field['name']}{lengths}"


def builder(name, header, path, base=None):
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    ffi = cffi.FFI()
    if base is not None:
        ffi.include(base)
    ffi.cdef(cdef_of(found))
    ffi.set_source(name, "".join(f"#include <{h}>\n" for h in header.split()), py_limited_api=True)
    return ffi


def main():
    output, name, header, path, *base = sys.argv[1:]
    base = builder(base[0], "lib/python/fast.h", base[1]) if base else None
    with contextlib.redirect_stdout(io.StringIO()):  # it tells what it writes
        builder(name, header, path, base).emit_c_code(output)


if __name__ == "__main__":
    main()
