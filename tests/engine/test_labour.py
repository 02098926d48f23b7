"""Sharing out work: in order, each result once, over processes and over a real cluster."""

from __future__ import annotations

import os
import signal
import time
from itertools import count
from pathlib import Path

import pytest

from engine.labour import ClusterError, in_order
from engine.rules import PRESETS
from engine.winrate import PORTION, Count, count_deals, win_rates


def square(number: int) -> int:
    return number * number


def fail(number: int) -> int:
    raise LookupError(number)


def slowly(number: int, folder: str) -> tuple[int, int]:
    """Leave a mark that it was done, and by which process; take some time; answer."""
    time.sleep(0.1)
    with Path(folder, str(number)).open("a") as file:
        file.write(f"{os.getpid()}\n")
    return number, os.getpid()


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_order(workers: int) -> None:
    jobs = [(number,) for number in range(50)]
    assert list(in_order(square, jobs, workers=workers)) == [n * n for n in range(50)]


@pytest.mark.parametrize("workers", [1, 2])
def test_jobs_may_go_on_for_ever_and_one_may_leave(workers: int) -> None:
    results = in_order(square, ((number,) for number in count()), workers=workers)
    assert [next(results) for _ in range(3)] == [0, 1, 4]
    results.close()


@pytest.mark.parametrize("workers", [1, 2])
def test_nothing_to_do(workers: int) -> None:
    assert list(in_order(square, [], workers=workers)) == []


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_a_job_comes_out(workers: int) -> None:
    with pytest.raises(LookupError):
        list(in_order(fail, [(3,)], workers=workers))


def test_a_cluster_that_is_not_there() -> None:
    pytest.importorskip("distributed")
    with pytest.raises(ClusterError, match="no cluster answers at nonsense://nowhere"):
        list(in_order(square, [(1,)], cluster="nonsense://nowhere"))


def test_without_the_package_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(ClusterError, match=r"pip install 'pyramid-kiosk\[cluster\]'"):
        list(in_order(square, [(1,)], cluster="tcp://127.0.0.1:1"))


# -- a real cluster, on this machine ------------------------------------------------------------


# The package leaves sockets and event loops to the garbage collector when a worker is killed.
@pytest.mark.filterwarnings("ignore")
def test_a_worker_that_is_killed_loses_no_job_and_doubles_none(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    jobs = [(number, str(tmp_path)) for number in range(60)]
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as cluster:
        results = in_order(slowly, jobs, cluster=cluster.scheduler_address)
        answers = [next(results) for _ in range(5)]
        killed = answers[-1][1]
        os.kill(killed, signal.SIGKILL)
        answers += results
    assert [number for number, _ in answers] == list(range(60))
    # Somebody else took over, and there was something to take over.
    assert {pid for _, pid in answers[-10:]} - {killed}
    assert killed not in {pid for _, pid in answers[30:]}


@pytest.mark.filterwarnings("ignore")
def test_a_win_rate_from_a_cluster_is_the_same_although_a_worker_is_killed(
    tmp_path: Path,
) -> None:
    distributed = pytest.importorskip("distributed")
    rules = PRESETS["cards4"]
    deals = PORTION * 12
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as cluster:
        told: list[int] = []

        def kill_one(totals: tuple[Count, ...]) -> None:
            told.append(totals[0].deals)
            if totals[0].deals == PORTION * 2:
                os.kill(cluster.workers[0].pid, signal.SIGKILL)

        (counted,) = win_rates(
            [rules],
            deals,
            work=tmp_path / "work",
            cluster=cluster.scheduler_address,
            progress=kill_one,
        )
    assert told == [PORTION * n for n in range(13)]
    assert (counted,) == count_deals((str(rules),), 1, deals)
