"""covey.joblib - joblib, and with it scikit-learn, on the hosts of a virtual machine.

    import covey.joblib

    with joblib.parallel_backend("covey"):
        GridSearchCV(model, parameters, n_jobs=-1).fit(X, y)

Importing it registers the backend. n_jobs=-1 means all workers.
"""
from __future__ import annotations

from typing import Any, Callable, Optional

from joblib import register_parallel_backend
from joblib._parallel_backends import AutoBatchingMixin, ParallelBackendBase, SequentialBackend

from ._executor import Executor


class _Result:
    """A future as joblib wants results: get(timeout)."""

    def __init__(self, future: Any) -> None:
        self._future = future

    def get(self, timeout: Optional[float] = None) -> Any:
        return self._future.result(timeout)


class CoveyBackend(AutoBatchingMixin, ParallelBackendBase):
    """parallel_backend("covey", executor=executor), or with the arguments of an Executor of its own."""

    supports_timeout = True
    supports_retrieve_callback = True  # of joblib 1.3 and later
    uses_threads = False
    supports_sharedmem = False

    def __init__(self, executor: Optional[Executor] = None, nesting_level: Optional[int] = None, **options: Any) -> None:
        super().__init__(nesting_level=nesting_level or 0)
        self._options, self._executor, self._given = options, executor, executor is not None

    def _start(self) -> Executor:
        if self._executor is None or self._executor._shutdown:
            self._executor = Executor(**self._options)
        return self._executor

    def configure(self, n_jobs: int = 1, parallel: Any = None, **_: Any) -> int:
        self.parallel = parallel
        return self.effective_n_jobs(n_jobs)

    def effective_n_jobs(self, n_jobs: int) -> int:
        if n_jobs == 0:
            raise ValueError("n_jobs == 0 has no meaning")
        if n_jobs == 1:
            return 1
        workers = self._start().num_workers
        return workers if n_jobs is None or n_jobs < 0 else min(n_jobs, workers)

    def apply_async(self, func: Callable, callback: Optional[Callable] = None) -> Any:
        """Runs a batch; callback gets what retrieve_result_callback() takes."""
        future = self._start().submit(func)
        result = _Result(future)
        if callback is not None:
            future.add_done_callback(lambda f: None if f.cancelled() else callback(f))
        return result

    submit = apply_async

    def retrieve_result_callback(self, out: Any) -> Any:
        return out.result()

    def get_nested_backend(self) -> Any:
        return SequentialBackend(nesting_level=(self.nesting_level or 0) + 1), 1

    def abort_everything(self, ensure_ready: bool = True) -> None:
        if self._executor is not None and self._executor._pool is not None:
            self._executor._pool.cancel()

    def terminate(self) -> None:
        if not self._given and self._executor is not None:
            self._executor.shutdown(wait=True)
            self._executor = None
        self.reset_batch_stats()


def register() -> None:
    """Makes "covey" a backend of joblib; importing this module does it."""
    register_parallel_backend("covey", CoveyBackend)


register()
