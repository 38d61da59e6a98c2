#!/usr/bin/python3
"""cxx.py JSON TEMPLATE HEADER - covey.hpp of lib/cxx/covey.hpp.in, from what scripts/declarations.py says of covey.h.

A call that cannot be mapped is an error, which names it.
"""
import re
import sys
import textwrap

import calls
from calls import NotMapped

sys.dont_write_bytecode = True

# handle -> its class, how one is ended, and prefixes that the names of its members leave off
CLASSES = {
    "covey_t": ("vm", "covey_leave(&p_)", ["vm_"]),
    "covey_msg_t": ("message", "covey_msg_free(p_)", ["msg_"]),
    "covey_req_t": ("request", "covey_req_free(&p_)", ["req_"]),
    "covey_group_t": ("group", "covey_group_leave(&p_)", ["group_"]),
    "covey_team_t": ("team", "covey_team_free(&p_)", ["team_"]),
    "covey_window_t": ("window", "covey_window_free(&p_)", ["window_"]),
    "covey_bag_t": ("bag", "covey_bag_free(&p_)", ["bag_"]),
    "covey_session_t": ("session", "covey_session_leave(&p_)", ["session_"]),
    "covey_trace_t": ("trace", "covey_trace_close(&p_, nullptr)", ["trace_"]),
    "covey_topology_t": ("topology", "covey_topology_free(&p_)", ["topology_"]),
    "covey_schedule_t": ("schedule", "covey_schedule_free(&p_)", ["schedule_"]),
    "covey_exchange_plan_t": ("exchange_plan", "covey_exchange_free(&p_)", ["exchange_"]),
    "covey_tiles_t": ("tiles", "covey_tiles_free(&p_)", ["tiles_"]),
    "covey_tile_t": ("tile", None, ["tile_"]),
}
RENAMED = {"covey_bag_return": "give_back", "covey_msg_new": "make_message", "covey_msg_reset": "clear"}
# ended by the destructor, and by reset()
ENDS = ["covey_free", *(re.match(r"\w+", ends).group() for _, ends, _ in CLASSES.values() if ends)]
# what returns a number that is no error
PLAIN = """covey_mytid covey_parent covey_tid_host covey_team_rank covey_team_size covey_group_instance covey_host_pages
    covey_route_reach covey_trace_on covey_tile_next""".split()
DEFAULTS = {"covey_pack.stride": "1", "covey_unpack.stride": "1"}

# Calls that are better by hand: what they give, their parameters, and their body
BY_HAND = {
    "covey_spawn": (
        "::covey::result<std::vector<covey_tid_t>>",
        "const struct ::covey_spawn &what, int n",
        """    int count = covey_spawn_count(p_, &what, n);
    if (count < 0)
        return {count, {}};
    std::vector<covey_tid_t> tids(static_cast<std::size_t>(count));
    int code = covey_spawn(p_, &what, n, tids.data());
    return {code, std::move(tids)};
""",
    ),
    "covey_tid_name": (
        "std::string",
        "covey_tid_t tid",
        """    char name[COVEY_TID_NAME_BYTES];
    return covey_tid_name(p_, tid, name, sizeof name);
""",
    ),
    "covey_unpack_string": (
        "::covey::result<std::string>",
        "",
        """    int type = 0;
    std::size_t bytes = 0;
    (void)covey_peek(p_, &type, &bytes);
    std::string text(bytes + 1, '\\0');
    int code = covey_unpack_string(p_, text.data(), text.size());
    text.resize(code < 0 ? 0 : bytes);
    return {code, std::move(text)};
""",
    ),
    "covey_unpack_view": (
        "template <class T> ::covey::result<span<const T>>",
        "",
        """    const void *base = nullptr;
    std::size_t count = 0;
    int code = covey_unpack_view(p_, type_of<T>(), &base, &count);
    return {code, span<const T>(static_cast<const T *>(base), count)};
""",
    ),
    "covey_log": (
        "::covey::result<std::string>",
        "int host, std::int64_t &offset, std::size_t size = 4096",
        """    std::string text(size, '\\0');
    int code = covey_log(p_, host, &offset, text.data(), text.size());
    text.resize(code < 0 ? 0 : static_cast<std::size_t>(code));
    return {code, std::move(text)};
""",
    ),
    "covey_vm_default": (
        "std::string",
        "",
        """    char name[64];
    return covey_vm_default(name, sizeof name);
""",
    ),
    "covey_calibration_path": (
        "::covey::result<std::string>",
        "c_text vm_name",
        """    std::string path(4096, '\\0');
    int code = covey_calibration_path(vm_name.get(), path.data(), path.size());
    path.resize(code < 0 ? 0 : path.find('\\0'));
    return {code, std::move(path)};
""",
    ),
}


class Member:
    """One call: its class or None, its parameters, what it gives, and its body."""

    def __init__(self, declared, call):
        self.declared, self.call = declared, call
        first = call.arguments[0] if call.arguments else None
        of = first is not None and first.role in ("handle", "handle_taken")
        self.handle = first.element if of else None
        self.owner = of and first.role == "handle_taken"
        self.name = self._name()
        self.templates, self.parameters, self.late = [], [], []
        self.before, self.given, self.outputs = [], [], []
        self.stays = any(a.name == "req" and a.role == "handle_out" for a in call.arguments)
        self.stays = self.stays or call.name in ("covey_pack_inplace", "covey_window_get")
        if call.name in BY_HAND:
            return
        for i, a in enumerate(call.arguments):
            if i == 0 and of:
                self.given.append("&p_" if "**" in a.type else "p_")
            else:
                getattr(self, "_" + a.role)(a)

    def _name(self):
        if self.call.name in RENAMED:
            return RENAMED[self.call.name]
        name = self.call.name.removeprefix("covey_")
        for prefix in CLASSES[self.handle][2] if self.handle else []:
            if name.startswith(prefix) and name != prefix:
                return name.removeprefix(prefix)
        return name

    def _parameter(self, text, default=None):
        if default is None:
            self.parameters.append((text, None))
        else:
            self.late.append((text, default))

    def _value(self, a):
        self._parameter(f"{a.type} {a.name}", DEFAULTS.get(a.key))
        self.given.append(a.name)

    def _handle(self, a):
        self._parameter(f"const {CLASSES[a.element][0]}_ref &{a.name}")
        self.given.append(f"{a.name}.handle()")

    def _handle_out(self, a):
        self.before.append(f"{a.element} *{a.name} = nullptr;")
        self.given.append(f"&{a.name}")
        kind = f"::covey::{CLASSES[a.element][0]}"
        self.outputs.append((kind, f"{kind}({a.name})"))

    def _handle_taken(self, a):
        self._parameter(f"{CLASSES[a.element][0]} &&{a.name}")
        self.given.append(f"{a.name}.address()")

    def _handles(self, a):
        kind = CLASSES[a.element][0]
        self._parameter(f"span<const {kind}> {a.name}")
        self.given.append(f"reinterpret_cast<{a.element} *const *>({a.name}.data())")

    def _struct(self, a):
        kind = f"struct ::{a.element}"
        if a.const and a.optional:
            self._parameter(f"const {kind} *{a.name}", "nullptr")
            self.given.append(a.name)
        elif a.const or a.both:
            self._parameter(f"{'const ' * a.const}{kind} &{a.name}")
            self.given.append(f"&{a.name}")
        else:
            self._output(a, kind)

    def _output(self, a, kind):
        self.before.append(f"{kind} {a.name}{{}};")
        self.given.append(f"&{a.name}")
        self.outputs.append((kind, a.name))

    def _number_out(self, a):
        if a.both:
            self._parameter(f"{a.element} &{a.name}")
            self.given.append(f"&{a.name}")
        else:
            self._output(a, a.element)

    def _element(self, a):
        kind = f"struct ::{a.element}" if a.element in self.declared.structs else a.element
        return f"{'const ' * a.const}{kind}"

    def _array(self, a):
        if "(*)[8]" in a.type:
            self._parameter(f"const {a.element} (&{a.name})[8][8]")
            self.given.append(a.name)
            return
        self._parameter(f"span<{self._element(a)}> {a.name}", "nullptr" if a.optional else None)
        self.given.append(f"{a.name}.data()")

    def _pointers(self, a):
        self._parameter(f"span<{'const ' * a.const}void *const> {a.name}")
        self.given.append(f"{a.name}.data()")

    def _pointer_out(self, a):
        self._output(a, f"{'const ' * a.const}void *")

    def _callback(self, a):
        self._parameter(f"{a.element} *{a.name}")
        self.given.append(a.name)

    def _context(self, a):
        self._parameter("void *context", "nullptr")
        self.given.append("context")

    def _text(self, a):
        self._parameter(f"{'std::string_view' if a.count else 'c_text'} {a.name}", "nullptr" if a.optional else None)
        self.given.append(f"{a.name}.data()" if a.count else f"{a.name}.get()")

    def _texts(self, a):
        self._parameter(f"const c_texts &{a.name}", "nullptr" if a.optional else None)
        self.given.append(f"{a.name}.get()")

    def _text_list(self, a):
        self.before.append(f"char *{a.name} = nullptr;")
        self.given.append(f"&{a.name}")
        self.outputs.append(("std::string", f"detail::text_of(owned<char>({a.name}))"))

    def _text_view(self, a):
        self.before.append(f"const char *{a.name} = nullptr;")
        self.given.append(f"&{a.name}")
        self.outputs.append(("std::string_view", f"std::string_view({a.name}, {a.count})"))

    def _list(self, a):
        kind = self._element(a)
        self.before.append(f"{kind} *{a.name} = nullptr;")
        self.given.append(f"&{a.name}")
        if a.count == 1:
            self.outputs.append((f"owned<{kind}>", f"owned<{kind}>({a.name})"))
        else:
            count = "code" if a.count == "result" else a.count
            self.outputs.append((f"::covey::list<{kind}>", f"::covey::list<{kind}>({a.name}, {count})"))

    def _view(self, a):
        kind = self._element(a)
        self.before.append(f"{kind} *{a.name} = nullptr;")
        self.given.append(f"&{a.name}")
        self.outputs.append((f"span<{kind}>", f"span<{kind}>({a.name}, code < 0 ? 0 : static_cast<std::size_t>(code))"))

    def _buffer(self, a):
        letter = f"A{len(self.templates)}"
        self.templates.append(f"class {letter}")
        self._parameter(f"{letter} &&{a.name}")
        if self.stays:
            self.before.append(f'static_assert(detail::stays<{letter}>, "the array must outlive the call");')
        self.before.append(f"const auto {a.name}_s = detail::array_of({a.name});")
        self.given.append(f"{a.name}_s.data()" if a.const else f"detail::writable({a.name}_s.data())")

    def _bytes(self, a):
        self._buffer(a)

    def _type(self, a):
        self.given.append(f"type_of<typename decltype({a.of.name}_s)::value_type>()")

    def _counted(self, a):
        of, kind = a.of, a.type.rstrip("* ")
        if of.role == "buffer":
            count = f"{of.name}_s.size()"
            if self.call.argument("stride"):
                count = f"detail::strided({count}, stride)"
            if a.shared:
                count += " / static_cast<std::size_t>(covey_team_size(p_) > 0 ? covey_team_size(p_) : 1)"
        elif of.role == "bytes":
            count = f"detail::bytes_of({of.name}_s)"
        elif of.role in ("list", "text_view"):
            self.before.append(f"{kind} {a.name} = 0;")
            count = f"&{a.name}"
        elif kind == "int" and of.role != "texts":
            count = f"static_cast<int>({of.name}.size())"
        else:
            count = f"{of.name}.size()"
        self.given.append(count if of.role != "bytes" or kind == "size_t" else f"static_cast<{kind}>({count})")

    # what it gives

    def _gives(self):
        returns = self.call.returns
        kinds, values = [k for k, _ in self.outputs], [v for _, v in self.outputs]
        call = f"{self.call.name}({', '.join(self.given)})"
        bare = returns.removeprefix("const ").rstrip("* ").removeprefix("struct ")
        if returns == "void":
            return (kinds[0] if kinds else "void"), [f"{call};", *(f"return {v};" for v in values[:1])]
        if self.call.name in PLAIN:
            return returns, [f"return {call};"]
        if self.call.name in calls.RETURNED:
            tells, field = calls.RETURNED[self.call.name]
            info = self.declared.calls[tells].arguments[1].element
            ends = [f"struct ::{info} info{{}};", f"{tells}(p_, &info);"]
            ends.append(f"return {{{call}, static_cast<std::size_t>(info.{field})}};")
            return f"span<const struct ::{bare}>", ends
        if returns in ("int", "covey_tid_t"):
            return self._result(returns, call, kinds, values)
        kind, value = returns, call
        if bare in CLASSES:
            kind = f"::covey::{CLASSES[bare][0]}" + ("" if self.call.name == "covey_msg_new" else "_ref")
            value = f"{kind}(const_cast<{bare} *>({call}))" if returns.startswith("const") else f"{kind}({call})"
        if not kinds:
            return kind, [f"return {value};"]
        ends = [f"auto given = {value};", f"return {{{', '.join(['std::move(given)', *values])}}};"]
        return f"std::tuple<{', '.join([kind, *kinds])}>", ends

    def _result(self, returns, call, kinds, values):
        ends = [f"{returns} code = {call};"]
        if returns == "covey_tid_t" or not kinds:
            kinds, values = [returns, *kinds], ["code", *values]
        kind = kinds[0] if len(kinds) == 1 else f"std::tuple<{', '.join(kinds)}>"
        value = values[0] if len(values) == 1 else f"{{{', '.join(values)}}}"
        return f"::covey::result<{kind}>", [*ends, f"return {{code, {value}}};"]

    def texts(self):
        """The declaration, and the definition, which stands behind all classes."""
        cls = (CLASSES[self.handle][0] + ("" if self.owner else "_ref")) if self.handle else None
        const = " const" if cls and not self.owner else ""
        template = f"template <{', '.join(self.templates)}> " if self.templates else ""
        if self.call.name in BY_HAND:
            kind, parameters, body = BY_HAND[self.call.name]
            plain = re.sub(r" = [^,]+", "", parameters)
            if kind.startswith("template"):
                template, kind = re.match(r"(template <.*?> )(.*)", kind).groups()
        else:
            given = self.parameters + self.late
            parameters = ", ".join(text + (f" = {default}" if default else "") for text, default in given)
            plain = ", ".join(text for text, _ in given)
            kind, ends = self._gives()
            body = "".join(f"    {s}\n" for s in self.before + ends)
        if f"{self.call.name}(" not in body:
            raise NotMapped(f"{self.call.name}(): its member does not call it")
        words = textwrap.wrap(f"/* {self.call.doc} */", 110, subsequent_indent=" * ") if self.call.doc else []
        comment = "".join(f"{line}\n" for line in words)
        indent = "    " if cls else ""
        head = "" if cls else "inline "
        kind += "" if kind.endswith("*") else " "
        declaration = f"{template or head}{kind}{self.name}({parameters}){const};\n"
        declaration = textwrap.indent(comment + declaration, indent)
        inline = "" if template else "inline "
        definition = f"{template}{inline}{kind}{cls + '::' if cls else ''}{self.name}({plain}){const}\n{{\n{body}}}\n\n"
        return cls, declaration, definition


def ref_class(handle, members):
    name = f"{CLASSES[handle][0]}_ref"
    return f"""/* A {handle} of somebody else's, and its calls. */
class {name} {{
public:
    {name}() = default;
    explicit {name}({handle} *p) noexcept : p_(p) {{}}
    {handle} *handle() const noexcept {{ return p_; }}
    explicit operator bool() const noexcept {{ return p_ != nullptr; }}

{members}
protected:
    {handle} *p_ = nullptr;
}};

"""


def owner_class(handle, members):
    name, ends, _ = CLASSES[handle]
    if ends is None:
        return ""
    # an int that is ignored is ignored on purpose
    return f"""/* One of one's own: its end ends it, by {re.match(r'[a-z_]+', ends).group()}(). */
class {name} : public {name}_ref {{
public:
    {name}() = default;
    explicit {name}({handle} *p) noexcept : {name}_ref(p) {{}}
    {name}({name} &&other) noexcept : {name}_ref(other.release()) {{}}
    {name} &operator=({name} &&other) noexcept
    {{
        if (this != &other)
            reset(other.release());
        return *this;
    }}
    {name}(const {name} &) = delete;
    {name} &operator=(const {name} &) = delete;
    ~{name}() {{ reset(); }}

    void reset({handle} *p = nullptr) noexcept
    {{
        if (p_ != nullptr)
            (void){ends};
        p_ = p;
    }}
    {handle} *release() noexcept {{ return std::exchange(p_, nullptr); }}
    {handle} **address() noexcept {{ return &p_; }}
{members}}};

"""


def calls_text(declared):
    missing = [h for h in declared.handles if h not in CLASSES]
    if missing:
        raise NotMapped(f"scripts/cxx.py has no class for {' '.join(missing)}")
    members, functions, definitions, seen = {}, "", "", {}
    for call in declared.calls.values():
        if call.name in ENDS and call.returns == "void":
            continue  # reset()
        member = Member(declared, call)
        cls, declaration, definition = member.texts()
        if (cls, member.name) in seen:
            raise NotMapped(f"{call.name}(): {cls}::{member.name} is {seen[cls, member.name]} already")
        seen[cls, member.name] = call.name
        if cls is None:
            functions += declaration
        else:
            members[cls] = members.get(cls, "") + declaration
        definitions += definition
    names = [c[0] for c in CLASSES.values()]
    text = "".join(f"class {n}_ref;\n" for n in names)
    text += "".join(f"class {n};\n" for n, ends, _ in CLASSES.values() if ends) + "\n"
    text += "".join(ref_class(h, members.get(f"{CLASSES[h][0]}_ref", "")) for h in CLASSES)
    text += "".join(owner_class(h, members.get(CLASSES[h][0], "")) for h in CLASSES)
    return text + functions + "\n" + definitions


def make(declared, template, header):
    with open(template, encoding="ascii") as file:
        text = file.read()
    text = text.replace("@CALLS@\n", calls_text(declared))
    left = [n for n in declared.calls if not re.search(rf"\b{n}\(", text)]
    if left:
        raise NotMapped(f"covey.hpp does not call {' '.join(left)}")
    with open(header, "w", encoding="ascii") as file:
        file.write(text)


if __name__ == "__main__":
    calls.main(make)
