"""fortran_arrays.py - for scripts/fortran.py: how Fortran is written, and calls with arrays of any type."""
import textwrap

from calls import NotMapped

KINDS = {
    "char": "c_char",
    "int": "c_int",
    "size_t": "c_size_t",
    "ptrdiff_t": "c_ptrdiff_t",
    "covey_tid_t": "covey_tid_t",
    **{f"{u}int{b}_t": f"c_int{b}_t" for u in ("", "u") for b in (8, 16, 32, 64)},
}
# values that a caller need not give
DEFAULTS = {"covey_pack.stride": 1, "covey_unpack.stride": 1}


def number_type(ctype):
    if ctype == "double":
        return "real(c_double)"
    if ctype in KINDS:
        return f"integer({KINDS[ctype]})"
    return None


def wrapped(line, indent):
    """A statement in lines that Fortran takes."""
    pieces = textwrap.wrap(line, 120 - indent, break_long_words=False, break_on_hyphens=False, subsequent_indent="    ")
    return (" &\n" + " " * indent).join(pieces)


def lines(statements, indent=4):
    return "".join(" " * indent + wrapped(s, indent) + "\n" for s in statements)


def commented(text, indent):
    return "".join(" " * indent + f"! {line}\n" for line in textwrap.wrap(text, 110 - indent))


class Bound:
    """A call with arrays of any type: an interface of module covey, and a function in C that it leads to, which takes
    type, count and place from the descriptors that the compiler passes (lib/fortran/arrays.h)."""

    def __init__(self, call):
        self.call, self.required, self.late = call, [], []  # of name, declaration in Fortran, parameter in C
        self.looks, self.counts, self.given, self.after = [], [], [], ""
        stays = any(a.name == "req" and a.role == "handle_out" for a in call.arguments)
        stays = stays or call.name in ("covey_pack_inplace", "covey_window_get")
        self.lies = "asynchronous" if stays else "contiguous"
        for a in call.arguments:
            method = getattr(self, "_" + a.role, None)
            if method is None:
                raise NotMapped(f"{call.name}(): {a.name} beside an array of any type")
            method(a)
        if call.returns != "int":
            raise NotMapped(f"{call.name}(): what it returns, {call.returns}")

    def _parameter(self, a, fortran, in_c, late=False):
        late = late or a.optional
        (self.late if late else self.required).append((a.name, fortran + ", optional" * late, in_c))

    def _value(self, a):
        kind = number_type(a.type)
        if a.key in DEFAULTS:
            self._parameter(a, f"{kind}, intent(in)", f"const {a.type} *{a.name}", True)
            self.given.append(f"{a.name} != NULL ? *{a.name} : {DEFAULTS[a.key]}")
        else:
            self._parameter(a, f"{kind}, value", f"{a.type} {a.name}")
            self.given.append(a.name)

    def _handle(self, a):
        self._parameter(a, f"type({a.element}), intent(in)", f"{a.element} *const *{a.name}")
        self.given.append(f"*{a.name}")

    def _handle_out(self, a):
        self._parameter(a, f"type({a.element}), intent(out)", f"{a.element} **{a.name}")
        self.looks.append(f"*{a.name} = NULL;")
        self.given.append(a.name)

    def _struct(self, a):
        intent = "in" if a.const else "out"
        in_c = f"{'const ' * a.const}struct {a.element} *{a.name}"
        self._parameter(a, f"type({a.element}_t), intent({intent})", in_c)
        self.given.append(a.name)

    def _number_out(self, a):
        self._parameter(a, f"{number_type(a.element)}, intent(out)", f"{a.element} *{a.name}")
        self.given.append(a.name)

    def _array(self, a):
        kind = number_type(a.element) or f"type({a.element}_t)"
        intent = "in" if a.const else "inout"
        self._parameter(a, f"{kind}, intent({intent}), contiguous, dimension(:)", f"const CFI_cdesc_t *{a.name}")
        self.given.append(f"{a.name} != NULL ? {a.name}->base_addr : NULL")

    def _text(self, a):
        self._parameter(a, "character(kind=c_char, len=*), intent(in)", f"const CFI_cdesc_t *{a.name}")
        self.looks.append(f"char *{a.name}_t = covey_fortran_text({a.name});")
        self.looks += [f"if ({a.name}_t == NULL)", "    return COVEY_ENOMEM;"]
        self.given.append(f"{a.name}_t")
        self.after = f"free({a.name}_t);"

    def _buffer(self, a, kind="type != NULL ? *type : 0"):
        intent = "in" if a.const else "inout"
        self._parameter(a, f"type(*), dimension(..), intent({intent}), {self.lies}", f"const CFI_cdesc_t *{a.name}")
        self.looks.append(f"struct array {a.name}_a;")
        self.counts.append(f"(answer = covey_fortran_array({a.name}, {kind}, &{a.name}_a)) < 0")
        self.given.append(f"{a.name}_a.base")

    def _bytes(self, a):
        self._buffer(a, "COVEY_BYTES")

    def _type(self, a):
        self._parameter(a, "integer(c_int), intent(in)", f"const int *{a.name}", True)
        self.given.append(f"{a.of.name}_a.type")

    def _counted(self, a):
        if a.of.role == "bytes":
            self.given.append(f"{a.of.name}_a.count")
            return
        self._parameter(a, "integer(c_size_t), intent(in)", f"const size_t *{a.name}", True)
        uses = f"covey_fortran_count(&{a.of.name}_a, {a.name}, 1)"
        if a.shared:
            uses = f"covey_fortran_share(&{a.of.name}_a, {a.name}, covey_team_size(*team))"
        elif self.call.argument("stride"):
            uses = f"covey_fortran_count(&{a.of.name}_a, {a.name}, stride != NULL ? *stride : 1)"
        self.counts.append(f"(answer = {uses}) < 0")
        self.given.append(f"{a.of.name}_a.count")

    def interface(self):
        label = self.call.name.replace("covey_", "covey_fortran_", 1)
        names = ", ".join(name for name, _, _ in self.required + self.late)
        text = "    " + wrapped(f"function {self.call.name}({names}) bind(C, name='{label}') result(answer)", 4) + "\n"
        text += commented(self.call.doc, 6)
        declared = [f"{fortran} :: {name}" for name, fortran, _ in self.required + self.late]
        text += lines(["import", *declared, "integer(c_int) :: answer"], 6)
        return text + f"    end function {self.call.name}\n\n"

    def in_c(self):
        label = self.call.name.replace("covey_", "covey_fortran_", 1)
        signature = f"int {label}({', '.join(c for _, _, c in self.required + self.late)})"
        # counts need the arrays, of which all are looked at
        looks = sorted(self.counts, key=lambda c: "covey_fortran_array" not in c)
        text = f"{signature};\n{signature}\n{{\n    int answer;\n" + "".join(f"    {s}\n" for s in self.looks)
        text += f"    if (!({' || '.join(looks)}))\n"
        text += f"        answer = {self.call.name}({', '.join(self.given)});\n"
        return text + (f"    {self.after}\n" if self.after else "") + "    return answer;\n}\n\n"


def bound_calls(declared):
    return [c for c in declared.calls.values() if any(a.role in ("buffer", "bytes") for a in c.arguments)]


def arrays_in_c(declared):
    text = "/* Made by scripts/fortran.py from covey.h: calls with arrays of any type, as module covey calls them. */\n"
    text += '#include "lib/fortran/arrays.h"\n\n#include <stdlib.h>\n\n'
    return text + "".join(Bound(call).in_c() for call in bound_calls(declared))
