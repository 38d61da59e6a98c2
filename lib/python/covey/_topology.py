"""Networks of switches, hosts and links: by them alltoall() of a team schedules what it sends."""
from __future__ import annotations

from typing import Any, Callable, List, NamedTuple, Optional

from ._core import check, encoded, ffi, lib, text_field, text_of

FORMS = {"tree": lib.COVEY_TOPOLOGY_TREE, "dot": lib.COVEY_TOPOLOGY_DOT, "json": lib.COVEY_TOPOLOGY_JSON,
         "file": lib.COVEY_TOPOLOGY_FILE}


class Node(NamedTuple):
    """A host or a switch."""

    name: str
    is_switch: bool


class Link(NamedTuple):
    """Between two nodes; of a host's link `a` is the host."""

    a: str
    b: str
    rate: int  #: bits a second, each way


class Topology:
    """A tree of switches and hosts: Topology.load("net.topology"), Topology.parse(text), VM.topology()."""

    def __init__(self, pointer: Any) -> None:
        self._topology = ffi.gc(pointer, lambda p: lib.covey_topology_free(ffi.new("covey_topology_t **", p)))

    @classmethod
    def _made(cls, call: Callable, *arguments: Any) -> "Topology":
        slot = ffi.new("covey_topology_t **")
        check(call(*arguments, slot))
        return cls(slot[0])

    @classmethod
    def load(cls, path: Any) -> "Topology":
        """Reads a file. Raises InvalidArgument with line and column of a mistake."""
        return cls._made(lib.covey_topology_load, encoded(str(path)))

    @classmethod
    def parse(cls, text: str, name: str = "text") -> "Topology":
        """Reads a text; mistakes are told with this name."""
        data = encoded(text)
        return cls._made(lib.covey_topology_parse, data, len(data), encoded(name))

    @property
    def nodes(self) -> List[Node]:
        """In the order of the file."""
        out = ffi.new("struct covey_topology_node **")
        count = check(lib.covey_topology_nodes(self._topology, out))
        items = ffi.gc(out[0], lib.covey_free)
        return [Node(text_field(items[i].name), bool(items[i].is_switch)) for i in range(count)]

    @property
    def links(self) -> List[Link]:
        """In the order of the file."""
        out, nodes = ffi.new("struct covey_topology_link **"), self.nodes
        count = check(lib.covey_topology_links(self._topology, out))
        items = ffi.gc(out[0], lib.covey_free)
        return [Link(nodes[items[i].a].name, nodes[items[i].b].name, items[i].rate_bps) for i in range(count)]

    def text(self, form: str = "tree") -> str:
        """As text: "tree" (for people), "dot", "json", or "file", which parse() reads again."""
        if form not in FORMS:
            raise ValueError(f"form {form!r} is none of {', '.join(FORMS)}")
        out = ffi.new("char **")
        check(lib.covey_topology_print(self._topology, FORMS[form], out))
        return text_of(ffi.gc(out[0], lib.covey_free)).decode()

    def __str__(self) -> str:
        return self.text()


class Topologies:
    """What VM has of them."""

    _handle: Any

    def topology(self) -> Optional[Topology]:
        """The VM's; None: it has none."""
        slot = ffi.new("covey_topology_t **")
        code = lib.covey_vm_topology(self._handle, slot)
        return None if code == lib.COVEY_ENOENT else Topology(slot[0]) if check(code) >= 0 else None

    def set_topology(self, topology: Optional[Topology]) -> None:
        """Teams that are made from now on go by it; None: by none."""
        check(lib.covey_vm_set_topology(self._handle, pointer_of(topology)))


def pointer_of(topology: Optional[Topology]) -> Any:
    return ffi.NULL if topology is None else topology._topology
