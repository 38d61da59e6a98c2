#!/usr/bin/python3
"""declarations.py [-I FOLDER] [--names FILE] HEADER... - what headers of Covey declare, as JSON.

For bindings to other languages, so that nothing is typed twice. The output has these keys:

    functions   name -> {"returns": type, "arguments": [{"name", "type"}, ...], "doc": text}
    callbacks   the same, of function types (typedefs that are not pointers)
    structs     name -> [{"name", "type", "array": [lengths]}, ...], null where it is opaque
    typedefs    name -> type
    enums       name -> {constant: number, ...}
    macros      name -> number or text
    macro_types name -> type, of those that are a number with a cast
    inline      names of functions that the headers define themselves

A type is C's text without the name: "const char *const *". Lengths are numbers. Only what the
headers themselves declare is there, with what they include from their own folders; standard headers
are replaced by the few types that ours take from them.

--names FILE lists the functions that the library exports (scripts/public-names.sh): one that is
missing here, or is none of these, is an error, as is what is not understood.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

try:
    from pycparser import c_ast, c_generator, c_parser
except ImportError:
    sys.exit("declarations.py needs Debian's python3-pycparser, which python3-cffi brings")

# what our headers use of the standard ones
STANDARD = {
    "stddef.h": "typedef unsigned long size_t; typedef long ptrdiff_t;",
    "stdint.h": "".join(
        f"typedef {'unsigned ' * (sign == 'u')}{kind} {sign}int{bits}_t;"
        for sign in ("", "u")
        for bits, kind in ((8, "char"), (16, "short"), (32, "int"), (64, "long long"))
    ),
}
STANDARD_TYPES = set(re.findall(r"(\w+);", "".join(STANDARD.values())))


class NotUnderstood(Exception):
    pass


class Declarations:
    """What the syntax tree of the headers declares, collected node by node."""

    def __init__(self):
        self.functions, self.callbacks, self.structs = {}, {}, {}
        self.typedefs, self.enums, self.inline = {}, {}, []
        self.constants = {}
        self._text = c_generator.CGenerator()

    def add(self, node):
        if isinstance(node, c_ast.FuncDef):
            self.inline.append(node.decl.name)
        elif isinstance(node, c_ast.Typedef):
            self._add_typedef(node)
        elif isinstance(node, c_ast.Decl):
            self._add_declaration(node)
        else:
            raise NotUnderstood(f"{node.coord}: {type(node).__name__}")

    def _add_typedef(self, node):
        if node.name in STANDARD_TYPES:
            return
        if isinstance(node.type, c_ast.FuncDecl):
            self.callbacks[node.name] = self._signature(node.type)
            return
        inner = node.type.type if isinstance(node.type, c_ast.TypeDecl) else None
        if isinstance(inner, (c_ast.Struct, c_ast.Enum)):
            self._add_tagged(inner)
        self.typedefs[node.name] = self.type_text(node.type)

    def _add_declaration(self, node):
        if isinstance(node.type, (c_ast.Struct, c_ast.Enum)):
            self._add_tagged(node.type)
        elif isinstance(node.type, c_ast.FuncDecl):
            self.functions[node.name] = self._signature(node.type)
        else:
            raise NotUnderstood(f"{node.coord}: {node.name} is no function, struct or enum")

    def _add_tagged(self, node):
        if isinstance(node, c_ast.Enum):
            self._add_enum(node)
        elif node.decls is None:
            self.structs.setdefault(node.name, None)
        else:
            self.structs[node.name] = [self._field(field) for field in node.decls]

    def _add_enum(self, node):
        number, values = 0, {}
        for item in node.values.enumerators:
            if item.value is not None:
                number = self._number(item.value)
            values[item.name] = self.constants[item.name] = number
            number += 1
        self.enums[node.name] = values

    def _field(self, node):
        kind, lengths = node.type, []
        while isinstance(kind, c_ast.ArrayDecl):
            lengths.append(self._number(kind.dim))
            kind = kind.type
        field = {"name": node.name, "type": self.type_text(kind)}
        if lengths:
            field["array"] = lengths
        return field

    def _signature(self, node):
        arguments = []
        for argument in node.args.params if node.args else []:
            if isinstance(argument, c_ast.EllipsisParam):
                raise NotUnderstood(f"{node.coord}: a function of any number of arguments")
            kind = argument.type
            if isinstance(argument, c_ast.Typename) and self.type_text(kind) == "void":
                continue
            if isinstance(kind, c_ast.ArrayDecl):  # C passes its address, and lengths are for readers
                element = self.type_text(kind.type)
                kind_text = element.replace("[", "(*)[", 1) if "[" in element else f"{element} *"
            else:
                kind_text = self.type_text(kind)
            arguments.append({"name": argument.name, "type": kind_text})
        return {"returns": self.type_text(node.type), "arguments": arguments}

    def type_text(self, node):
        if isinstance(node, c_ast.TypeDecl):
            words = [*node.quals]
            inner = node.type
            if isinstance(inner, c_ast.IdentifierType):
                words += inner.names
            elif isinstance(inner, (c_ast.Struct, c_ast.Enum)):
                words += ["struct" if isinstance(inner, c_ast.Struct) else "enum", inner.name]
            else:
                raise NotUnderstood(f"{node.coord}: a type {type(inner).__name__}")
            return " ".join(words)
        if isinstance(node, c_ast.PtrDecl):
            inner = self.type_text(node.type)
            return f"{inner}{'' if inner.endswith('*') else ' '}*{' '.join(node.quals)}"
        if isinstance(node, c_ast.ArrayDecl):
            return f"{self.type_text(node.type)} [{self._number(node.dim)}]"
        raise NotUnderstood(f"{getattr(node, 'coord', '')}: a type {type(node).__name__}")

    def _number(self, node):
        return number_of(self._text.visit(node), self.constants)


def number_of(text, constants):
    """The value of a constant expression of C: of integers, names of `constants`, casts."""
    text = re.sub(r"\(\s*(?:u?int\d+_t|covey_tid_t|size_t)\s*\)", "", text)
    text = re.sub(r"\b(0x[0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", text)
    if not re.fullmatch(r"[\w\s.()+*<>|&~-]+", text):
        raise NotUnderstood(f"the constant {text}")
    try:
        return eval(text, {"__builtins__": {}}, dict(constants))  # of the characters above alone
    except (NameError, SyntaxError, TypeError) as error:
        raise NotUnderstood(f"the constant {text}: {error}") from None


def preprocessed(arguments, *options):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in STANDARD.items():
            with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                file.write(text + "\n")
        includes = "".join(f'#include "{os.path.abspath(h)}"\n' for h in arguments.headers)
        command = [*os.environ.get("CC", "cc").split(), "-E", *options, "-nostdinc", "-I", folder]
        for path in arguments.include:
            command += ["-I", path]
        run = subprocess.run(
            [*command, "-x", "c", "-"], input=includes, capture_output=True, text=True, check=False
        )
    if run.returncode:
        raise NotUnderstood(run.stderr.strip())
    return run.stdout


def bodies_of(text):
    """The macros COVEY_..., of the output of cc -E -dM."""
    return dict(re.findall(r"^#define (COVEY_[A-Z0-9_]+) (.+)$", text, re.MULTILINE))


def macro_types_of(text):
    """The types of numbers that are written with a cast, such as ((int64_t)-1)."""
    casts = {name: re.match(r"\(\((\w+)\)", body) for name, body in bodies_of(text).items()}
    return {name: cast.group(1) for name, cast in casts.items() if cast}


def macros_of(text, constants):
    """The macros that stand for a number or a text."""
    bodies = bodies_of(text)
    values = {}

    def value_of(name):
        if name in values or name not in bodies:
            return
        body = bodies[name].strip()
        if re.fullmatch(r'"[^"\\]*"', body):
            values[name] = body[1:-1]
            return
        for word in re.findall(r"COVEY_\w+", body):
            value_of(word)
        values[name] = number_of(body, {**constants, **values})

    for name in bodies:
        value_of(name)
    return values


def docs_of(paths):
    """name -> the comment above its prototype, which also tells of those right below it."""
    docs = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for comment, rest in re.findall(r"/\*((?:(?!\*/).)*)\*/\n((?:[^\n]+\n)+)", text, re.DOTALL):
            words = " ".join(line.strip(" *") for line in comment.splitlines())
            for name in re.findall(r"^(?!static|typedef|#)[a-z][^;(]*?\b(covey_\w+)\(", rest, re.MULTILINE):
                docs.setdefault(name, " ".join(words.split()))
    return docs


def headers_within(arguments):
    """The headers themselves, and those of the same folders that they include."""
    roots = {os.path.realpath(os.path.dirname(os.path.abspath(h))) for h in arguments.headers}
    marked = preprocessed(arguments)
    files = dict.fromkeys(os.path.realpath(f) for f in re.findall(r'^# \d+ "([^"<]+)"', marked, re.MULTILINE))
    return [f for f in files if os.path.isfile(f) and any(f.startswith(r + os.sep) for r in roots)]


def check_names(functions, path):
    with open(path, encoding="ascii") as file:
        wanted = set(file.read().split())
    missing, more = wanted - set(functions), set(functions) - wanted
    if missing:
        raise NotUnderstood(f"not found in the headers: {' '.join(sorted(missing))}")
    if more:
        raise NotUnderstood(f"declared, and not exported: {' '.join(sorted(more))}")


def collect(arguments):
    found = Declarations()
    for node in c_parser.CParser().parse(preprocessed(arguments, "-P"), "headers").ext:
        found.add(node)
    docs = docs_of(headers_within(arguments))
    for name, function in found.functions.items():
        function["doc"] = docs.get(name, "")
    if arguments.names:
        own = {n: f for n, f in found.functions.items() if not arguments.besides or n not in arguments.besides}
        check_names(own, arguments.names)
    macros = preprocessed(arguments, "-dM")
    return {
        "functions": found.functions,
        "callbacks": found.callbacks,
        "structs": found.structs,
        "typedefs": found.typedefs,
        "enums": found.enums,
        "macros": macros_of(macros, found.constants),
        "macro_types": macro_types_of(macros),
        "inline": found.inline,
    }


def without(found, base):
    """What `base`, the output for other headers, has is taken off."""
    return {
        key: [x for x in value if x not in base[key]]
        if isinstance(value, list)
        else {n: v for n, v in value.items() if n not in base[key]}
        for key, value in found.items()
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-I", dest="include", action="append", default=[], metavar="FOLDER")
    parser.add_argument("--names", metavar="FILE", help="functions that the library exports")
    parser.add_argument("--base", metavar="JSON", help="leave out what this output has already")
    parser.add_argument("headers", nargs="+", metavar="HEADER")
    arguments = parser.parse_args()
    base = None
    if arguments.base:
        with open(arguments.base, encoding="utf-8") as file:
            base = json.load(file)
    arguments.besides = set(base["functions"]) if base else None
    try:
        found = collect(arguments)
    except (NotUnderstood, c_parser.ParseError) as error:
        sys.exit(f"declarations.py: {error}")
    json.dump(without(found, base) if base else found, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
