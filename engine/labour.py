"""Sharing out work: in this process, in several on this machine, or over a cluster of machines.

Invariant: results come in the order of the jobs, each once, however many workers there are and
whatever becomes of them on the way; so nothing that is built from them depends on that.
"""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import ExitStack
from itertools import islice
from multiprocessing import get_context
from typing import Any, TypeVar

Result = TypeVar("Result")

#: Jobs handed out for each worker: enough that none waits for the one slow job that is due.
AHEAD = 4


class ClusterError(Exception):
    """A cluster that cannot be used; the message says why."""


def in_order(
    function: Callable[..., Result],
    jobs: Iterable[tuple[Any, ...]],
    *,
    workers: int = 1,
    cluster: str | None = None,
) -> Generator[Result, None, None]:
    """Yield ``function(*job)`` for each job, in order.  Close the generator to end early.

    Args:
        function: a function of a module that every worker can import.
        jobs: arguments, which may go on for ever.
        workers: processes on this machine, 1 or more; with more than one, call from the main
            thread.
        cluster: address of a ``dask.distributed`` scheduler, like ``tcp://host:8786``, whose
            workers are used instead.  Jobs of a worker that dies are given to another.

    Raises:
        ClusterError: there is no such cluster, or the package to talk to it is missing.
    """
    if cluster is None and workers == 1:
        for job in jobs:
            yield function(*job)
        return
    with ExitStack() as stack:
        if cluster is None:
            # Fresh processes rather than forks: whoever calls may have threads.
            pool = ProcessPoolExecutor(workers, get_context("spawn"))
            stack.callback(pool.shutdown, cancel_futures=True)
            executor: Executor = pool
        else:
            executor, workers = _cluster(cluster, stack)
        todo = iter(jobs)
        # A Ctrl-C goes to all processes of a terminal, but is for the parent to handle: workers
        # are born with it ignored, by inheritance, as it may come before their first line runs.
        handler = signal.signal(signal.SIGINT, signal.SIG_IGN) if cluster is None else None
        try:
            running: deque[Future[Result]] = deque(
                executor.submit(function, *job) for job in islice(todo, workers * AHEAD)
            )
        finally:
            if handler is not None:
                signal.signal(signal.SIGINT, handler)
        while running:
            yield running.popleft().result()
            running.extend(executor.submit(function, *job) for job in islice(todo, 1))


def _cluster(address: str, stack: ExitStack) -> tuple[Executor, int]:
    """Connect to a cluster; return its executor and how many jobs it can work on at once."""
    try:
        from distributed import Client  # noqa: PLC0415
    except ImportError:
        raise ClusterError(
            "a cluster needs the package distributed: pip install 'pyramid-kiosk[cluster]'"
        ) from None
    try:
        client = stack.enter_context(Client(address, timeout=10))
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(f"no cluster answers at {address}: {error}") from None
    executor: Executor = client.get_executor(pure=False)
    stack.callback(executor.shutdown, wait=False)
    return executor, max(1, sum(client.nthreads().values()))
