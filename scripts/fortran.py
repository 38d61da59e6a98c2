#!/usr/bin/python3
"""fortran.py JSON FOLDER - Fortran's modules of covey.h, from what scripts/declarations.py says of it.

covey_types.f90   types and constants
covey_c.f90       each call as C has it: every pointer a type(c_ptr)
covey.f90         each call as Fortran has it
arrays_calls.c    what calls with arrays of any type lead to

A call that cannot be mapped is an error, which names it.
"""
import os
import re
import sys

import calls
from calls import NotMapped
from fortran_arrays import KINDS, Bound, arrays_in_c, bound_calls, commented, lines, number_type, wrapped

sys.dont_write_bytecode = True

# Fortran has one name for what C tells apart by case or by `struct`
RENAMED = {"COVEY_VERSION": "COVEY_VERSION_TEXT"}
# larger ones would be written out in whole
ZEROED_BYTES_MAX = 20000


# ---- types and constants ----------------------------------------------------------------------


def size_of(declared, field):
    ctype = field["type"]
    name = ctype.removeprefix("struct ")
    one = 8
    if name in declared.structs:
        one = sum(size_of(declared, f) for f in declared.structs[name])
    elif ctype == "char":
        one = 1
    for length in field.get("array", []):
        one *= length
    return one


def field_line(declared, field, zeroed):
    ctype, name = field["type"], field["name"]
    shape = "(" + ", ".join(str(n) for n in reversed(field["array"])) + ")" if "array" in field else ""
    struct = ctype.removeprefix("struct ")
    initial = ""
    if "_fn *" in ctype:
        kind, initial = "type(c_funptr)", " = c_null_funptr"
    elif "*" in ctype:
        kind, initial = "type(c_ptr)", " = c_null_ptr"
    elif struct in declared.structs:
        kind = f"type({struct}_t)"
    elif ctype == "char":
        kind, initial = "character(kind=c_char)", " = c_null_char"
    elif number_type(ctype):
        kind, initial = number_type(ctype), " = 0"
    else:
        raise NotMapped(f"the field {name} is of the type {ctype}")
    return f"{kind} :: {name}{shape}{initial if zeroed else ''}"


def type_text(declared, name):
    fields = declared.structs[name]
    zeroed = sum(size_of(declared, f) for f in fields) <= ZEROED_BYTES_MAX
    return (
        f"  type, public, bind(C) :: {name}_t\n"
        + lines([field_line(declared, f, zeroed) for f in fields])
        + f"  end type {name}_t\n\n"
    )


def in_order(declared):
    """Structures after those that they hold."""
    done = []

    def add(name):
        if name in done:
            return
        for field in declared.structs[name]:
            inner = field["type"].removeprefix("struct ")
            if inner in declared.structs:
                add(inner)
        done.append(name)

    for name in declared.structs:
        add(name)
    return done


def constant_text(declared, name, value):
    own = RENAMED.get(name, name)
    if isinstance(value, str):
        return f"character(*), parameter, public :: {own} = '{value}'"
    if isinstance(value, float):
        return f"real(c_double), parameter, public :: {own} = {value}_c_double"
    kind = KINDS.get(declared.macro_types.get(name, ""), "c_int")
    if kind == "c_int" and not -(2**31) <= value < 2**31:
        kind = "c_int64_t"
    return f"integer({kind}), parameter, public :: {own} = {value}_{kind}"


def types_module(declared):
    text = "! Made by scripts/fortran.py from covey.h: its types and constants.\n"
    text += "module covey_types\n  use, intrinsic :: iso_c_binding\n  implicit none\n  private\n\n"
    text += "  integer, parameter, public :: covey_tid_t = c_int32_t ! the kind of a task's number\n\n"
    for values in declared.enums.values():
        text += lines([constant_text(declared, n, v) for n, v in values.items()], 2) + "\n"
    text += lines([constant_text(declared, n, v) for n, v in sorted(declared.macros.items())], 2) + "\n"
    for name in declared.handles:
        text += f"  type, public, bind(C) :: {name}\n    type(c_ptr) :: handle = c_null_ptr\n  end type {name}\n\n"
    text += "".join(type_text(declared, name) for name in in_order(declared))
    text += "  abstract interface\n"
    for name, callback in declared.callbacks.items():
        text += raw_interface(name, callback["returns"], [(a["name"], a["type"]) for a in callback["arguments"]], name)
        text = text.replace(f", name='{name}')", ")")
    text += "  end interface\n  public :: " + ", ".join(declared.callbacks) + "\nend module covey_types\n"
    return text


# ---- as C has it ------------------------------------------------------------------------------


def raw_type(ctype, name):
    if ctype.endswith("_fn *"):
        return "type(c_funptr)"
    if "*" in ctype:
        return "type(c_ptr)"
    if number_type(ctype) is None:
        raise NotMapped(f"{name}(): the type {ctype}")
    return number_type(ctype)


def raw_interface(name, returns, arguments, c_name):
    names = ", ".join(a for a, _ in arguments)
    kind = "subroutine" if returns == "void" else "function"
    result = "" if returns == "void" else " result(answer)"
    text = "    " + wrapped(f"{kind} {name}({names}) bind(C, name='{c_name}'){result}", 4) + "\n"
    body = ["import"] + [f"{raw_type(t, name)}, value :: {a}" for a, t in arguments]
    if returns != "void":
        body.append(f"{raw_type(returns, name)} :: answer")
    return text + lines(body, 6) + f"    end {kind} {name}\n"


def c_module(declared):
    text = "! Made by scripts/fortran.py from covey.h: its calls with C's own arguments.\n"
    text += "module covey_c\n  use, intrinsic :: iso_c_binding\n  use covey_types\n  implicit none\n  public\n\n"
    text += "  interface\n"
    for call in declared.calls.values():
        text += raw_interface("c_" + call.name, call.returns, [(a.name, a.type) for a in call.arguments], call.name)
    return text + "  end interface\nend module covey_c\n"


# ---- as Fortran has it ------------------------------------------------------------------------


class Wrapper:
    """One call of module covey: what is declared, done before the call, given, done after it."""

    def __init__(self, declared, call):
        self.declared, self.call = declared, call
        self.dummies, self.late = [], []  # names in order: required ones, those that may be left out
        self.declare, self.local, self.before, self.after, self.given = [], [], [], [], []
        for a in call.arguments:
            getattr(self, "_" + a.role)(a)

    def _dummy(self, a, declaration, late=False):
        (self.late if late or a.optional else self.dummies).append(a.name)
        kind, colons, rest = declaration.partition(" :: ")
        self.declare.append(kind + (", optional" if late or a.optional else "") + colons + rest)

    def _pointer(self, a, target):
        """Gives the address of `target`, or of nothing where the argument is not there."""
        if not a.optional:
            self.given.append(f"c_loc({target})")
            return
        self.local.append(f"type(c_ptr) :: {a.name}_c")
        self.before += [f"{a.name}_c = c_null_ptr", f"if (present({a.name})) {a.name}_c = c_loc({target})"]
        self.given.append(f"{a.name}_c")

    def _value(self, a):
        kind = number_type(a.type)
        if kind is None:
            raise NotMapped(f"{self.call.name}(): the type {a.type}")
        self._dummy(a, f"{kind}, intent(in) :: {a.name}")
        self.given.append(a.name)

    def _handle(self, a):
        self._dummy(a, f"type({a.element}), intent(in) :: {a.name}")
        self.given.append(f"{a.name}%handle")

    def _handle_out(self, a):
        self._dummy(a, f"type({a.element}), intent(out), target :: {a.name}")
        self._pointer(a, f"{a.name}%handle")

    def _handle_taken(self, a):
        self._dummy(a, f"type({a.element}), intent(inout), target :: {a.name}")
        if "**" in a.type:
            self._pointer(a, f"{a.name}%handle")
        else:
            self.given.append(f"{a.name}%handle")
            self.after.append(f"{a.name}%handle = c_null_ptr")

    def _handles(self, a):
        self._dummy(a, f"type({a.element}), intent(in), target, contiguous :: {a.name}(:)")
        self._pointer(a, a.name)

    def _struct(self, a):
        intent = "in" if a.const else "inout" if a.both else "out"
        self._dummy(a, f"type({a.element}_t), intent({intent}), target :: {a.name}")
        self._pointer(a, a.name)

    def _number_out(self, a):
        intent = "inout" if a.both else "out"
        self._dummy(a, f"{number_type(a.element)}, intent({intent}), target :: {a.name}")
        self._pointer(a, a.name)

    def _array(self, a):
        kind = number_type(a.element) or f"type({a.element}_t)"
        shape = "(8, 8)" if "(*)[8]" in a.type else "(:)"
        contiguous = "" if shape == "(8, 8)" else ", contiguous"
        self._dummy(a, f"{kind}, intent({'in' if a.const else 'inout'}), target{contiguous} :: {a.name}{shape}")
        self._pointer(a, a.name)

    def _pointers(self, a):
        self._dummy(a, f"type(c_ptr), intent(in), target, contiguous :: {a.name}(:)")
        self._pointer(a, a.name)

    def _pointer_out(self, a):
        self._dummy(a, f"type(c_ptr), intent(out), target :: {a.name}")
        self._pointer(a, a.name)

    def _address(self, a):
        self._dummy(a, f"type(c_ptr), intent(in) :: {a.name}")
        self.given.append(a.name)

    def _callback(self, a):
        self._dummy(a, f"procedure({a.element}) :: {a.name}")
        self.given.append(f"c_funloc({a.name})")

    def _context(self, a):
        self._dummy(a, f"type(c_ptr), intent(in) :: {a.name}")
        self.local.append("type(c_ptr) :: context_c")
        self.before += ["context_c = c_null_ptr", "if (present(context)) context_c = context"]
        self.given.append("context_c")

    def _text(self, a):
        self._dummy(a, f"character(*), intent(in) :: {a.name}")
        self.local.append(f"character(kind=c_char), allocatable, target :: {a.name}_t(:)")
        text = a.name if a.key in calls.EXACT_TEXTS else f"trim({a.name})"
        if a.optional:
            self.before.append(f"if (present({a.name})) allocate({a.name}_t, source=covey_chars({text}))")
        else:
            self.before.append(f"allocate({a.name}_t, source=covey_chars({text}))")
        self._pointer(a, f"{a.name}_t")

    def _texts(self, a):
        self._dummy(a, f"character(*), intent(in) :: {a.name}(:)")
        self.local += [f"type(covey_words_t), target :: {a.name}_w", f"type(c_ptr) :: {a.name}_c"]
        present = f"if (present({a.name})) " if a.optional else ""
        self.before += [f"{a.name}_c = c_null_ptr", f"{present}{a.name}_c = {a.name}_w%list({a.name})"]
        self.given.append(f"{a.name}_c")

    def _text_out(self, a):
        self._dummy(a, f"character(*), intent(out) :: {a.name}")
        self.local.append(f"character(kind=c_char), target :: {a.name}_t(len({a.name}) + 1)")
        self.before.append(f"{a.name}_t = c_null_char")
        self.given.append(f"c_loc({a.name}_t)")
        self.after.append(f"{a.name} = covey_text({a.name}_t)")

    def _text_list(self, a):
        self._allocated_text(a, f"covey_text({a.name}_c)")
        self.after.append(f"call c_covey_free({a.name}_c)")

    def _text_view(self, a):
        self._allocated_text(a, f"covey_text({a.name}_c, {a.count}_c)")

    def _allocated_text(self, a, value):
        self._dummy(a, f"character(:), allocatable, intent(out) :: {a.name}")
        self.local.append(f"type(c_ptr), target :: {a.name}_c")
        self.before.append(f"{a.name}_c = c_null_ptr")
        self.given.append(f"c_loc({a.name}_c)")
        self.after.append(f"{a.name} = {value}")

    def _list_kind(self, a):
        return number_type(a.element) or f"type({a.element}_t)"

    def _elements(self, a):
        return {"result": "max(answer, 0)", 1: "1"}.get(a.count, f"{a.count}_c")

    def _list(self, a):
        stays, one = a.key in calls.BLOCKS, a.count == 1
        kind, shape = self._list_kind(a), "" if one else "(:)"
        self._dummy(a, f"{kind}, {'pointer' if stays else 'allocatable'}, intent(out) :: {a.name}{shape}")
        self.local.append(f"type(c_ptr), target :: {a.name}_c")
        self.before.append(f"{a.name}_c = c_null_ptr")
        self.given.append(f"c_loc({a.name}_c)")
        bounds = "" if one else f", [{self._elements(a)}]"
        if stays:
            self._pointed(a, bounds)
            return
        self.local.append(f"{kind}, pointer :: {a.name}_p{shape}")
        take = [
            f"if (answer >= 0 .and. c_associated({a.name}_c)) then",
            f"  call c_f_pointer({a.name}_c, {a.name}_p{bounds})",
            f"  allocate({a.name}, source={a.name}_p)",
            f"  call c_covey_free({a.name}_c)",
            "end if",
        ]
        self.after += take if one else [*take[:-1], "else", f"  allocate({a.name}(0))", "end if"]

    def _view(self, a):
        self._dummy(a, f"{self._list_kind(a)}, pointer, intent(out) :: {a.name}(:)")
        self.local.append(f"type(c_ptr), target :: {a.name}_c")
        self.before.append(f"{a.name}_c = c_null_ptr")
        self.given.append(f"c_loc({a.name}_c)")
        self._pointed(a, ", [max(answer, 0)]")

    def _pointed(self, a, bounds):
        self.after.append(f"nullify({a.name})")
        self.after.append(f"if (c_associated({a.name}_c)) call c_f_pointer({a.name}_c, {a.name}{bounds})")

    def _counted(self, a):
        of, kind = a.of, number_type(a.type.rstrip("* "))
        if of.role in ("list", "text_view"):
            self.local.append(f"{kind}, target :: {a.name}_c")
            self.before.append(f"{a.name}_c = 0")
            self.given.append(f"c_loc({a.name}_c)")
        elif of.role == "text":
            self.given.append(f"len({of.name}, {KINDS[a.type]})")
        elif of.optional:
            self.local.append(f"{kind} :: {a.name}_c")
            self.before.append(f"{a.name}_c = 0")
            self.before.append(f"if (present({of.name})) {a.name}_c = size({of.name}, kind={KINDS[a.type]})")
            self.given.append(f"{a.name}_c")
        else:
            of_name = f"{of.name}_t" if of.role == "text_out" else of.name
            if of.key in calls.UNENDED_TEXTS:
                of_name = f"{of.name}_t(2:)"
            self.given.append(f"size({of_name}, kind={KINDS[a.type]})")

    # what it returns

    def _ended(self):
        name, returns = self.call.name, self.call.returns
        given = f"c_{name}({', '.join(self.given)})"
        bare = returns.removeprefix("const ").rstrip("* ").removeprefix("struct ")
        if returns == "void":
            return [], [f"call {given}"]
        if "*" not in returns:
            return [f"{number_type(returns)} :: answer"], [f"answer = {given}"]
        if name == "covey_error_text":
            given = "covey_fortran_why()"
        if returns == "const char *":
            ends = [f"at = {given}", "answer = covey_text(at)"]
            return ["character(:), allocatable :: answer", "type(c_ptr) :: at"], ends
        if bare in self.declared.handles:
            return [f"type({bare}) :: answer"], [f"answer%handle = {given}"]
        if bare == "void":
            return ["type(c_ptr) :: answer"], [f"answer = {given}"]
        if name in calls.RETURNED:
            tells, field = calls.RETURNED[name]
            info = self.declared.calls[tells].arguments[1].element
            ends = [
                f"call c_{tells}({self.call.arguments[0].name}%handle, c_loc(info))",
                f"at = {given}",
                "nullify(answer)",
                f"if (c_associated(at)) call c_f_pointer(at, answer, [info%{field}])",
            ]
            declared = [f"type({bare}_t), pointer :: answer(:)", "type(c_ptr) :: at", f"type({info}_t), target :: info"]
            return declared, ends
        raise NotMapped(f"{name}(): what it returns, {returns}")

    def text(self):
        answer, ends = self._ended()
        kind = "subroutine" if self.call.returns == "void" else "function"
        result = "" if kind == "subroutine" else " result(answer)"
        names = ", ".join(self.dummies + self.late)
        text = "  " + wrapped(f"{kind} {self.call.name}({names}){result}", 2) + "\n"
        text += commented(self.call.doc, 4)
        text += lines(self.declare + answer[:1] + self.local + answer[1:])
        text += lines(self.before + ends + self.after)
        self._check_names(text)
        return text + f"  end {kind} {self.call.name}\n\n"

    def _check_names(self, text):
        for name in ("size", "len", "max", "int", "trim", "present"):
            used = re.search(rf"\b{name}\(", "".join(line for line in text.splitlines() if "!" not in line))
            if name in self.dummies + self.late and used:
                raise NotMapped(f"{self.call.name}(): its argument {name} hides Fortran's own function")


def fortran_module(declared):
    text = "! Made by scripts/fortran.py from covey.h: its calls for Fortran, see doc/fortran.md.\n"
    text += "module covey\n  use, intrinsic :: iso_c_binding\n  use covey_types\n  use covey_texts\n"
    text += "  use covey_c\n"
    text += "  implicit none\n  private\n\n"
    text += "  ! what they are made of: types, constants, texts\n"
    text += lines(["public :: " + n for n in public_names(declared)], 2) + "\n"
    text += lines([f"public :: {n}" for n in declared.calls], 2)
    bound = bound_calls(declared)
    text += "\n  interface\n" + "".join(Bound(call).interface() for call in bound) + "  end interface\n"
    text += "\ncontains\n\n"
    for call in declared.calls.values():
        if call not in bound:
            text += Wrapper(declared, call).text()
    return text + "end module covey\n"


def public_names(declared):
    constants = [n for values in declared.enums.values() for n in values] + sorted(declared.macros)
    names = ["covey_tid_t", "covey_text", "covey_words_t"] + [RENAMED.get(n, n) for n in constants] + declared.handles
    return names + [f"{n}_t" for n in declared.structs] + list(declared.callbacks)


def check_names(declared):
    """Fortran tells names apart by letters alone, not by case and kind."""
    seen = {}
    for name in public_names(declared) + list(declared.calls):
        if name.lower() in seen or len(name) > 63:
            raise NotMapped(f"{name}: Fortran has that name already, or it is too long")
        seen[name.lower()] = name


def make(declared, folder):
    check_names(declared)
    files = {"covey_types.f90": types_module, "covey_c.f90": c_module, "covey.f90": fortran_module}
    files["arrays_calls.c"] = arrays_in_c
    texts = {name: text_of(declared) for name, text_of in files.items()}
    for name, text in texts.items():
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            file.write(text)


if __name__ == "__main__":
    calls.main(make)
