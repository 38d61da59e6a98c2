"""calls.py - what each argument of a call of covey.h is for: a buffer, its count, a text, a handle, an output.

scripts/fortran.py and scripts/cxx.py make their languages' calls from this. Most of it follows from types and names;
the tables below hold what does not. A call that nothing here tells how to map is an error, which names it.
"""
import json
import re
import sys

# Arguments that may be NULL, and then are optional. Handles may be empty anyway.
OPTIONAL = """
    covey_join.options covey_trace_open.options covey_bag_create.options covey_exchange_plan.options
    covey_exchange_order.options covey_tiles_plan.options covey_tiles_create.options
    covey_recv_array.count covey_recv_array.info covey_sendrecv_array.count covey_team_recv_array.count
    covey_team_sendrecv_array.count covey_team_probe.info covey_host_clock.time_us covey_host_clock.ahead_us
    covey_req_result.info covey_req_result.msg covey_req_result.count
    covey_scatterv.starts covey_iscatterv.starts covey_gatherv.starts covey_igatherv.starts covey_allgatherv.starts
    covey_iallgatherv.starts covey_alltoallv.send_starts covey_alltoallv.recv_starts covey_ialltoallv.send_starts
    covey_ialltoallv.recv_starts covey_window_part.bytes covey_lock.fence covey_trylock.fence covey_lock_owner.fence
    covey_token_create.number covey_token_request.number covey_token_holder.number covey_rendezvous.parties
    covey_trace_close.end covey_schedule_create.hosts covey_team_schedule.made_s covey_tiles_run.timing
    covey_predict.names covey_predict_choose.names covey_predict_alltoall.hosts covey_team_force.algorithm
    covey_notify.tids covey_op_define.context covey_bag_save.info covey_bag_load.name covey_bag_load.info
""".split()

# Structures and numbers that a call reads before it sets them
IN_AND_OUT = """
    covey_session_put.value covey_propose.decision covey_log.offset covey_tiles_skew.loop covey_tiles_sides.options
    covey_tiles_sides.loop covey_tiles_shape.loop covey_tiles_shape.options covey_tiles_costs.costs
    covey_calibration_now.calibration covey_exchange_order.messages covey_tile_next.row
""".split()

# Arrays of structures and of numbers: how many there are is another argument, or what is said here
ARRAYS = {
    "covey_bag_take.items": "capacity",
    "covey_bag_result.results": "capacity",
    "covey_rendezvous.parties": "as many as count",
    "covey_add_hosts.specs": "n",
    "covey_add_hosts.results": "n",
    "covey_remove_hosts.results": "n",
    "covey_exchange.out": "n",
    "covey_exchange_plan.out": "n",
    "covey_exchange_order.messages": "count",
    "covey_calibration_now.hosts": "n",
    "covey_calibration_now.stats": "n",
    "covey_spawn.tids": "as many as covey_spawn_count() says",
    "covey_mcast.tids": "n",
    "covey_cast.tids": "n",
    "covey_notify.tids": "n",
    "covey_team_create.tids": "size",
    "covey_line_fit.bytes": "n",
    "covey_line_fit.seconds": "n",
    "covey_line_fit_ends.bytes": "n",
    "covey_line_fit_ends.seconds": "n",
    "covey_predict_best.hosts": "n",
    "covey_predict_best.total_s": "n",
    "covey_schedule_create.hosts": "as many as ranks",
    "covey_predict_alltoall.hosts": "as many as ranks",
    "covey_tiles_value.point": "as many as dimensions",
    "covey_tiles_sides.side": "all",
}

# The buffer whose elements an argument counts, where a call has several; "/" : shared out to all members
COUNTED = {
    "covey_sendrecv_array.out_count": "out",
    "covey_sendrecv_array.capacity": "in",
    "covey_team_sendrecv_array.out_count": "out",
    "covey_team_sendrecv_array.capacity": "in",
    **{f"covey_{i}{name}.count": "recv" for i in ("", "i") for name in ("scatter", "scatterv")},
    **{f"covey_{i}{name}.count": "/send" for i in ("", "i") for name in ("alltoall",)},
    **{
        f"covey_{i}{name}.count": "send"
        for i in ("", "i")
        for name in ("gather", "gatherv", "allgather", "reduce", "allreduce", "scan", "exscan")
    },
}

# A buffer of bytes, and the argument that is their number
BYTES = {
    "covey_pack_bytes.bytes": "count",
    "covey_unpack_bytes.bytes": "count",
    "covey_input.bytes": "n",
    "covey_bag_put.bytes": "size",
    "covey_bag_done.result": "size",
    "covey_rendezvous.value": "bytes",
    "covey_tiles_gather.values": None,
}

# What the caller must free with covey_free(), and the number of its elements: the result, 1, or an argument
LISTS = {
    "covey_survey.tasks": "task_count",
    "covey_calibration_load.calibration": 1,
    "covey_predict_choose.choice": 1,
    "covey_unpack_order.order": 1,
}
# Of these the elements point into the block that holds them: they stay where they are
BLOCKS = ["covey_unpack_order.order", "covey_exchange.in"]

# Handles that a call takes over, or ends
TAKEN = """
    covey_isend.msg covey_team_isend.msg covey_leave.vm covey_req_free.req covey_group_leave.group
    covey_team_free.team covey_window_free.window covey_bag_free.bag covey_bag_destroy.bag
    covey_session_leave.session covey_trace_close.trace covey_topology_free.topology covey_schedule_free.schedule
    covey_exchange_free.plan covey_tiles_free.tiles covey_msg_free.msg
""".split()

# Texts whose trailing blanks count, and those that need not end with a NUL
EXACT_TEXTS = ["covey_pack_string.text", "covey_topology_parse.text"]
UNENDED_TEXTS = ["covey_log.text"]
COUNTED_TEXTS = {"covey_topology_parse.text": "bytes", "covey_unpack_output.text": "bytes"}

# The number of elements of what a call returns: a field of what another call tells
RETURNED = {
    "covey_schedule_messages": ("covey_schedule_info", "messages"),
    "covey_schedule_syncs": ("covey_schedule_info", "syncs"),
}


class NotMapped(Exception):
    pass


class Argument:
    """name, type, role; optional; of: the argument that it counts, or `bytes` and `count` of it."""

    def __init__(self, call, declared):
        self.name, self.type = declared["name"], declared["type"]
        self.key = f"{call}.{self.name}"
        self.optional = self.key in OPTIONAL
        self.role, self.element, self.of, self.count = None, None, None, None
        self.const = self.type.startswith("const ")
        self.both = self.key in IN_AND_OUT
        self.shared = False


class Call:
    def __init__(self, name, declared, handles):
        self.handles = handles
        self.name, self.returns = name, declared["returns"]
        self.doc = declared.get("doc", "")
        self.arguments = [Argument(name, a) for a in declared["arguments"]]
        for position, argument in enumerate(self.arguments):
            self._find_role(position, argument)
        self._find_counts()

    def argument(self, name):
        return next((a for a in self.arguments if a.name == name), None)

    def _find_role(self, position, a):
        after = self.arguments[position + 1] if position + 1 < len(self.arguments) else None
        bare = re.sub(r"^const ", "", a.type)
        target = bare.rstrip("* ").removeprefix("struct ")
        a.element = target
        stars = bare.count("*")
        if stars == 0:
            a.role = "value"
        elif a.key in ARRAYS:
            a.role, a.element = "array", target if "(*)" not in bare else bare.split(" (*)")[0]
        elif a.key in BYTES:
            a.role, a.count = "bytes", BYTES[a.key]
        elif bare == "char *" and not a.const and after is not None and after.type == "size_t":
            a.role, a.count = "text_out", after.name
        elif a.type == "const char *":
            a.role, a.count = "text", COUNTED_TEXTS.get(a.key)
        elif a.type == "const char **" and a.key in COUNTED_TEXTS:
            a.role, a.count = "text_view", COUNTED_TEXTS[a.key]
        elif a.type == "const char *const *":
            a.role = "texts"
        elif bare == "char **":
            a.role = "text_list"
        elif target in self.handles and stars == 1:
            a.role = "handle_taken" if a.key in TAKEN else "handle"
        elif re.fullmatch(r"\w+ \*\*", bare) and target in self.handles:
            a.role = "handle_taken" if a.key in TAKEN else "handle_out"
        elif re.fullmatch(r"\w+ \*const \*", bare) and bare.split()[0] in self.handles:
            a.role, a.element, a.count = "handles", bare.split()[0], "n"
        elif target.endswith("_fn"):
            a.role = "callback"
        elif a.name == "context":
            a.role = "context"
        elif bare.startswith("void *const") or a.type.startswith("const void *const"):
            a.role = "pointers"
        elif bare == "void **":
            a.role = "pointer_out"
        elif bare == "void *" and self.argument("type") is not None:
            a.role = "buffer"
        elif a.key == "covey_free.array":
            a.role = "address"
        elif stars == 2 and target != "void":
            a.role = "view" if a.const else "list"
            a.count = LISTS.get(a.key, "result")
        elif stars == 1 and bare.startswith("struct "):
            a.role = "struct"
        elif a.type == "const size_t *":
            a.role = "array"  # of the members' counts and starts
        elif stars == 1 and not a.const and target != "void":
            a.role = "number_out"
        if a.role is None:
            raise NotMapped(f"{self.name}(): what is its argument `{a.type} {a.name}`?")

    def _find_counts(self):
        """Arguments that follow from others are `counted`: their caller need not give them."""
        for a in self.arguments:
            if a.role in ("text_out", "bytes", "text", "text_view", "handles") and a.count:
                self._claim(a.count, a)
            elif a.role == "array" and self.argument(ARRAYS.get(a.key, "")):
                a.count = ARRAYS[a.key]
                self._claim(a.count, a)
            elif a.role == "list" and isinstance(a.count, str) and a.count != "result":
                self._claim(a.count, a)
            elif a.role == "texts" and self.name == "covey_remove_hosts":
                a.count = "n"
                self._claim("n", a)
        buffers = [a for a in self.arguments if a.role == "buffer"]
        for a in self.arguments:
            if a.role == "value" and a.type == "size_t" and buffers and a.name in ("count", "capacity", "out_count"):
                of = COUNTED.get(a.key) or (buffers[0].name if len(buffers) == 1 else None)
                if of is None:
                    raise NotMapped(f"{self.name}(): which array does `{a.name}` count?")
                a.role, a.of = "counted", self.argument(of.lstrip("/"))
                a.of.count = a.name
                a.shared = of.startswith("/")
            elif a.role == "value" and a.name == "type" and buffers:
                a.role, a.of = "type", None
        for a in self.arguments:
            if a.role == "type":
                counted = [b.of for b in self.arguments if b.role == "counted" and b.of in buffers]
                a.of = counted[0] if counted else buffers[0]

    def _claim(self, name, of):
        a = self.argument(name)
        if a is None or a.role not in ("value", "number_out", "counted"):
            raise NotMapped(f"{self.name}(): `{name}` does not count `{of.name}`")
        if a.role != "counted":
            a.role, a.of = "counted", of


class Declared:
    """calls by name, and what else the headers declare."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        self.structs = {n: f for n, f in found["structs"].items() if f is not None}
        self.enums, self.macros, self.macro_types = found["enums"], found["macros"], found["macro_types"]
        self.typedefs, self.callbacks, self.inline = found["typedefs"], found["callbacks"], found["inline"]
        opaque = {f"struct {n}" for n, f in found["structs"].items() if f is None}
        self.handles = [n for n, t in found["typedefs"].items() if t in opaque]
        self.calls = {n: Call(n, f, self.handles) for n, f in found["functions"].items()}
        self._check_tables()

    def _check_tables(self):
        """What a table names must be there: calls are renamed, and end."""
        keys = {a.key for c in self.calls.values() for a in c.arguments}
        tables = [OPTIONAL, IN_AND_OUT, ARRAYS, COUNTED, BYTES, LISTS, BLOCKS, TAKEN]
        tables += [EXACT_TEXTS, UNENDED_TEXTS, COUNTED_TEXTS]
        unknown = [k for table in tables for k in table if k not in keys]
        unknown += [k for k in RETURNED if k not in self.calls]
        if unknown:
            raise NotMapped(f"scripts/calls.py names what no header has: {' '.join(unknown)}")


def main(make):
    """For the scripts: the JSON of the declarations, then what `make` takes."""
    try:
        make(Declared(sys.argv[1]), *sys.argv[2:])
    except NotMapped as error:
        sys.exit(f"{sys.argv[0].rsplit('/', 1)[-1]}: {error}")
