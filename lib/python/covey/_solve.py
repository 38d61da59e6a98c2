"""Solvers of whole problems on numpy arrays: one call, workers on other processors where these are worth it.

libcovey_domain decides how many, starts them and brings the result back; see covey_door(3). `options` forces
what it would choose: "hosts=4,retry=2". Arrays of the caller are only read, unless a method says otherwise.
"""
from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple, Union

from . import _core
from ._core import CoveyError, array_of, encoded, error_of, ffi, text_field

NULL = ffi.NULL
BORDERS = {"value": 1, "slope": 2, "periodic": 3}


class Singular(CoveyError, ArithmeticError):
    """The matrix is singular, or not positive definite, or not of full rank; `place` counts from 1."""

    place = 0


class NotConverged(CoveyError, ArithmeticError):
    """The iterations did not come to the tolerance; `solution` is the last of them."""

    solution: Any = None


class Report:
    """What a solver did: solve(..., report=report) fills it.

    hosts, tasks   on how many, the caller's own among them
    attempts       1, and one more for each time that it started again
    predicted, seconds   expected time and time of the call
    residual       see covey_door(3); negative: not computed
    algorithm, why, table   what was chosen, why so many tasks, what others would take
    """

    def __init__(self) -> None:
        self._row = _domain().ffi.new("struct covey_door_report *")

    hosts = property(lambda self: self._row.hosts)
    tasks = property(lambda self: self._row.tasks)
    attempts = property(lambda self: self._row.attempts)
    predicted = property(lambda self: self._row.predicted_s)
    seconds = property(lambda self: self._row.seconds)
    residual = property(lambda self: self._row.residual)
    algorithm = property(lambda self: text_field(self._row.algorithm))
    why = property(lambda self: text_field(self._row.why))
    table = property(lambda self: text_field(self._row.table))

    def __repr__(self) -> str:
        return f"<covey.Report: {self.tasks} tasks on {self.hosts} hosts, {self.seconds:.3g} s, {self.algorithm}: {self.why}>"


def _domain() -> Any:
    try:
        from . import _domain as extension
    except ImportError as error:
        raise error_of(_core.lib.COVEY_EINVAL, f"Covey was built without its solvers: {error}") from None
    return extension


def _failure(code: int) -> CoveyError:
    return error_of(code, text_field(_domain().lib.covey_domain_error_text()))


def _numpy() -> Any:
    import numpy

    return numpy


class Solvers:
    """What VM has of them."""

    _handle: Any

    def _solve(self, name: str, *arguments: Any, options: Optional[str], report: Optional[Report]) -> int:
        call = getattr(_domain().lib, name, None)
        if call is None:
            raise error_of(_core.lib.COVEY_EINVAL, f"Covey was built without {name}()")
        text = NULL if options is None else ffi.new("char[]", encoded(options))
        row = NULL if report is None else report._row
        return _core.patiently(call, self._handle, *arguments, text, row, failure=_failure)

    def sort(self, array: Any, options: Optional[str] = None, report: Optional[Report] = None) -> None:
        """Sorts a numpy array of one dimension in place: complex numbers by their real, then their imaginary
        part; each NaN behind all others."""
        kind, base, count = array_of(array, True)
        self._solve("covey_sort_array", kind, base, count, options=options, report=report)

    def fft(self, array: Any, options: Optional[str] = None, report: Optional[Report] = None) -> Any:
        """The Fourier transform of 1 to 3 dimensions (exponent -1), as numpy.fft.fftn(): complex."""
        return self._fft(array, 1, options, report)

    def ifft(self, array: Any, options: Optional[str] = None, report: Optional[Report] = None) -> Any:
        """The inverse of fft(), as numpy.fft.ifftn()."""
        back = self._fft(array, 2, options, report)
        back /= back.size
        return back

    def _fft(self, array: Any, kind: int, options: Optional[str], report: Optional[Report]) -> Any:
        given = _numpy().array(array, dtype="c16", order="C")
        _, base, _ = array_of(given, True)
        self._solve("covey_fft", given.ndim, list(given.shape), kind, base, base, options=options, report=report)
        return given

    def rfft(self, array: Any, options: Optional[str] = None, report: Optional[Report] = None) -> Any:
        """Of real numbers, as numpy.fft.rfftn(): the last axis has n / 2 + 1 elements."""
        numpy = _numpy()
        given = numpy.ascontiguousarray(array, dtype="f8")
        result = numpy.empty((*given.shape[:-1], given.shape[-1] // 2 + 1), "c16")
        self._solve("covey_fft", given.ndim, list(given.shape), 3, array_of(given)[1], array_of(result, True)[1],
                    options=options, report=report)
        return result

    def irfft(self, array: Any, shape: Sequence[int], options: Optional[str] = None,
              report: Optional[Report] = None) -> Any:
        """The inverse of rfft(), of that shape."""
        numpy = _numpy()
        given = numpy.array(array, dtype="c16", order="C")
        result = numpy.empty(tuple(shape), "f8")
        self._solve("covey_fft", result.ndim, list(result.shape), 4, array_of(given)[1], array_of(result, True)[1],
                    options=options, report=report)
        result /= result.size
        return result

    def matmul(self, a: Any, b: Any, options: Optional[str] = None, report: Optional[Report] = None) -> Any:
        """The product of two matrices of doubles, m x k and k x n."""
        numpy = _numpy()
        a, b = _matrix(a), _matrix(b)
        if a.shape[1] != b.shape[0]:
            raise ValueError(f"a matrix {a.shape} times a matrix {b.shape}")
        c = numpy.empty((a.shape[0], b.shape[1]), "f8", order="F")
        self._solve("covey_gemm", a.shape[0], b.shape[1], a.shape[1], 1.0, _doubles(a), _ld(a), _doubles(b), _ld(b), 0.0,
                    _doubles(c), _ld(c), options=options, report=report)
        return c

    def solve(self, a: Any, b: Any, positive: bool = False, options: Optional[str] = None,
              report: Optional[Report] = None) -> Any:
        """The x of a x = b, for a square matrix of doubles, as numpy.linalg.solve(); b has one or more columns.

        positive  a is symmetric and positive definite, and its lower half alone is read
        Raises Singular.
        """
        a = _matrix(a)
        x, shape = _columns(b, a.shape[0])
        if a.shape[0] != a.shape[1]:
            raise ValueError(f"a is no square matrix but {a.shape}")
        code = self._solve("covey_solve_spd" if positive else "covey_solve", a.shape[0], x.shape[1], _doubles(a), _ld(a),
                           _doubles(x), _ld(x), options=options, report=report)
        _singular(code, "a is not positive definite" if positive else "a is singular")
        return x.reshape(shape)

    def lstsq(self, a: Any, b: Any, options: Optional[str] = None, report: Optional[Report] = None) -> Any:
        """The x of least |a x - b|, for a of m rows and n <= m columns of full rank. Raises Singular."""
        a = _matrix(a)
        x, shape = _columns(b, a.shape[0])
        code = self._solve("covey_least_squares", a.shape[0], a.shape[1], x.shape[1], _doubles(a), _ld(a), _doubles(x),
                           _ld(x), options=options, report=report)
        _singular(code, "a is not of full rank")
        return x[:a.shape[1]].reshape((a.shape[1], *shape[1:]))

    def poisson(self, f: Any, h: Union[float, Sequence[float]], border: Union[str, Sequence[Tuple[str, str]]] = "value",
                c: float = 0.0, start: Any = None, tolerance: float = 1e-8, options: Optional[str] = None,
                report: Optional[Report] = None) -> Any:
        """The u of -lap(u) + c u = f on a grid of two or three dimensions, at the centres of its cells.

        h       side of a cell, or one for each axis
        border  "value" (u is 0), "slope" (its derivative is 0) or "periodic"; or for each axis a pair,
                where it begins and where it ends
        start   where iterations begin; None: 0
        Raises NotConverged.
        """
        numpy = _numpy()
        f = numpy.ascontiguousarray(f, dtype="f8")
        u = numpy.zeros_like(f) if start is None else numpy.array(start, dtype="f8", order="C")
        if u.shape != f.shape or f.ndim not in (2, 3):
            raise ValueError(f"f has the shape {f.shape}, and where iterations start {u.shape}")
        pairs = [(border, border)] * f.ndim if isinstance(border, str) else list(border)
        sides = [float(h)] * f.ndim if isinstance(h, (int, float)) else [float(x) for x in h]
        problem = _domain().ffi.new("struct covey_poisson_problem *", {
            "dims": f.ndim, "low": [BORDERS[p[0]] for p in pairs], "high": [BORDERS[p[1]] for p in pairs],
            "n": list(f.shape), "h": sides, "c": c})
        code = self._solve("covey_poisson", problem, _doubles(f), _doubles(u), tolerance, options=options, report=report)
        if code == 1:
            error = NotConverged("it did not come to the tolerance")
            error.solution = u
            raise error
        return u


def _matrix(a: Any) -> Any:
    a = _numpy().asfortranarray(a, dtype="f8")
    if a.ndim != 2:
        raise ValueError(f"a matrix has two dimensions, this one {a.ndim}")
    return a


def _columns(b: Any, rows: int) -> tuple:
    """(a copy of b by columns, its shape)"""
    numpy = _numpy()
    b = numpy.asarray(b, dtype="f8")
    if b.ndim not in (1, 2) or b.shape[0] != rows:
        raise ValueError(f"b has the shape {b.shape}, and a {rows} rows")
    return numpy.array(b.reshape(rows, -1), order="F"), b.shape


def _doubles(array: Any) -> Any:
    return ffi.from_buffer("double *", array if array.flags.c_contiguous else array.T)


def _ld(a: Any) -> int:
    return max(1, a.shape[0])


def _singular(code: int, text: str) -> None:
    if code > 0:
        error = Singular(f"{text}, at {code}")
        error.place = code
        raise error
