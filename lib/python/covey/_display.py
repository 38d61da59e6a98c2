"""How a notebook shows hosts, bags, executors and traces: HTML without anything from outside."""
from __future__ import annotations

import html
from typing import Any, Iterable, Sequence

from ._core import lib
from ._pool import _pools


def _text(value: Any) -> str:
    return html.escape(str(value))


def _rows(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    head = "".join(f"<th>{_text(n)}</th>" for n in names)
    body = "".join("<tr>" + "".join(f"<td>{c}</td>" for c in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _bar(share: float, text: str = "") -> str:
    percent = max(0, min(100, round(100 * share)))
    return (f'<div style="width:8em;background:#ddd;display:inline-block"><div style="width:{percent}%;background:#4a8;'
            f'height:0.8em"></div></div> {_text(text or f"{percent} %")}')


def _bytes(n: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if n < 1024:
            return f"{n:.0f} {unit}"
        n /= 1024
    return f"{n:.1f} TiB"


def table(rows: Sequence[Any]) -> str:
    """A list of rows with names."""
    if not rows:
        return "<i>none</i>"
    if isinstance(rows[0], dict):
        return _rows(list(rows[0]), ([_text(v) for v in row.values()] for row in rows))
    if hasattr(rows[0], "_fields"):
        return _rows(rows[0]._fields, ([_text(v) for v in row] for row in rows))
    return _rows(["", ""], ([_text(i), _text(row)] for i, row in enumerate(rows)))


def machine(vm: Any) -> str:
    """A VM: its hosts, how busy they are, and their tasks."""
    tasks, loads = vm.tasks(), {row["name"]: row for row in vm.load()}
    rows = []
    for host in vm.hosts():
        load = loads.get(host.name, {})
        busy = load.get("cpu_busy")
        free = load.get("memory_free_bytes")
        rows.append([
            f"<b>{_text(host.name)}</b>" + (" *" if host.coordinator else ""), _text(host.state), host.cores, host.speed,
            "?" if busy is None else _bar(busy), _bytes(host.memory) if free is None else f"{_bytes(free)} of {_bytes(host.memory)}",
            sum(t.host == host.index for t in tasks)])
    return f"<b>{_text(vm.name)}</b>, task t{vm.tid:x} on {_text(vm.host)}" + _rows(
        ["host", "state", "cores", "speed", "busy", "memory free", "tasks"], rows)


def bag(info: dict) -> str:
    """A bag: how much is done."""
    share = info["done"] / info["put"] if info["put"] else 0.0
    return (f"<b>{_text(info['name'])}</b> " + _bar(share, f"{info['done']} of {info['put']} done") + _rows(
        ["ready", "with workers", "results to take", "given again", "set aside", "tasks", "closed"],
        [[info["ready"], info["leased"], info["results"], info["retried"], info["set_aside"], info["tasks"],
          "yes" if info["closed"] else "no"]]))


def executor(executor: Any) -> str:
    """An executor: its workers by host, and what waits."""
    pool = executor._pool
    if pool is None:
        return _text(repr(executor))
    done = pool.number - len(pool.flying)
    total = pool.number + len(pool.queue)
    names = {h.index: h.name for h in pool.vm.hosts()} if pool in _pools else {}
    by_host: dict = {}
    for tid in list(pool.workers):
        index = lib.covey_tid_host(tid)
        by_host[index] = by_host.get(index, 0) + 1
    return (_bar(done / total if total else 0.0, f"{done} of {total} functions are done") +
            _rows(["host", "workers"], ([_text(names.get(i, i)), n] for i, n in sorted(by_host.items()))))


def trace(recording: Any) -> str:
    """A trace that has ended: the page of `covey trace --to html` in a frame."""
    if recording._slot[0]:
        return _text(repr(recording))
    text = recording.text("--to", "html")
    return f'<iframe style="width:100%;height:40em;border:0" srcdoc="{html.escape(text, quote=True)}"></iframe>'
