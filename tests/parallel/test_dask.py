"""The Dask engine, with real worker processes. Functions are local ones, which travel to the workers by value."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import handful
from handful import parallel as dask_engine
from handful.errors import MissingExtraError, ParameterError, PartError
from handful.parallel import map_reduce, open_engine

pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    with open_engine("dask", 2) as found:
        yield found


def add(a, b):
    a["sum"] += b["sum"]  # summaries must be writable, however they came
    return a


def thirds():
    def summarize(part):
        return {"sum": np.random.default_rng(part).standard_normal(50) / 3}

    return summarize


def test_all_engines_give_the_same_bits(client, tmp_path):
    found = {
        map_reduce(thirds(), add, range(40), **settings)["sum"].tobytes()
        for settings in (
            {},
            {"n_jobs": 2},
            {"engine": client},
            {"engine": client.scheduler.address, "checkpoint": tmp_path},
            {"checkpoint": tmp_path},
        )
    }
    assert len(found) == 1
    assert client.status == "running"


def test_a_killed_worker_loses_nothing(client, tmp_path):
    plain = thirds()
    folder = str(tmp_path)

    def summarize(part):
        try:
            os.mkdir(f"{folder}/{'killed' if part == 5 else part}")
        except FileExistsError:
            pass
        else:
            if part == 5:
                os.kill(os.getpid(), signal.SIGKILL)
        return plain(part)

    result = map_reduce(summarize, add, range(20), engine=client)
    assert (tmp_path / "killed").exists()
    assert result["sum"].tobytes() == map_reduce(plain, add, range(20))["sum"].tobytes()


def test_a_part_that_kills_every_worker_is_given_up(client, monkeypatch):
    def summarize(part):
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 0)
    with pytest.raises(PartError, match=r"part 0 \(7\) failed: a worker process died, perhaps for lack of"):
        map_reduce(summarize, lambda a, b: b, [7], engine=client)


def test_a_failing_part_is_told_as_by_the_local_engine(client):
    def summarize(part):
        if part == 3:
            raise ValueError("odd\nnews")
        return {"sum": 0}

    told = set()
    for settings in ({}, {"n_jobs": 2}, {"engine": client}):
        with pytest.raises(PartError, match="part 3") as caught:
            map_reduce(summarize, add, range(9), **settings)
        told.add(str(caught.value))
    assert told == {"map_parts: part 3 (3) failed: ValueError: odd news"}


def test_what_cannot_be_sent_is_told(client):
    def nothing():
        yield

    for settings in ({"n_jobs": 2}, {"engine": client}):
        with pytest.raises(ParameterError, match="must be picklable, got generator"):
            map_reduce(lambda part: 1, add, [nothing()], **settings)
        with pytest.raises(ParameterError, match="must be picklable, got generator"):
            map_reduce(lambda part: nothing(), add, [1], **settings)


def test_large_parts_travel_without_a_warning(client):
    parts = [np.full(2_000_000, n) for n in range(2)]
    assert map_reduce(lambda part: int(part.sum()), lambda a, b: a + b, parts, engine=client) == 2_000_000


def test_an_interrupted_run_leaves_no_process_behind():
    pids = []

    def merge(a, b):
        pids.append(a)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        map_reduce(lambda part: os.getpid(), merge, range(9), engine="dask")
    assert pids
    assert pids[0] != os.getpid()
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)


def test_wrong_engines_are_one_sentence(monkeypatch):
    monkeypatch.setattr(dask_engine, "_PATIENCE", 0.3)
    for engine, message in (
        ("tcp://127.0.0.1:1", "none answers at 'tcp://127.0.0.1:1'.*Start one with 'dask scheduler'"),
        ("tcp://127.0.0.1:port", "none answers at 'tcp://127.0.0.1:port'"),
        ("task", "got 'task'. Did you mean 'dask'?"),
        (3, "a distributed.Client or None, got int"),
    ):
        with pytest.raises(ParameterError, match=message) as caught:
            map_reduce(str, add, [1], engine=engine)
        assert "\n" not in str(caught.value)


@pytest.fixture
def cluster():
    """Start a scheduler and two workers as processes of their own."""
    environment = {**os.environ, "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "4s"}
    ports = free_ports(2)
    address = f"tcp://127.0.0.1:{ports[0]}"
    quiet = {"env": environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(ports[0])]
    worker = [
        sys.executable,
        "-m",
        "distributed.cli.dask_worker",
        address,
        "--nthreads",
        "1",
        "--no-nanny",
        "--no-dashboard",
    ]
    processes = [subprocess.Popen([*scheduler, "--no-dashboard"], **quiet)]
    until = time.monotonic() + 120
    while time.monotonic() < until:
        try:
            with socket.create_connection(("127.0.0.1", ports[0]), timeout=10):
                break
        except OSError:
            time.sleep(0.2)
    processes += [subprocess.Popen(worker, **quiet) for _ in range(2)]
    try:
        yield address, processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


@pytest.mark.slow
def test_a_paused_worker_and_a_killed_scheduler(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(dask_engine, "_PATIENCE", 120)
    address, processes = cluster
    folder = str(tmp_path)
    plain = thirds()

    def summarize(part):
        with open(f"{folder}/{part} {os.getpid()}", "w"):
            time.sleep(0.3)
        return plain(part)

    def pause_one(part_sum, other):
        if not paused:
            paused.append(processes[1])
            os.kill(processes[1].pid, signal.SIGSTOP)
        return add(part_sum, other)

    paused = []
    found = map_reduce(summarize, pause_one, range(12), engine=address)
    assert paused
    assert found["sum"].tobytes() == map_reduce(plain, add, range(12))["sum"].tobytes()

    monkeypatch.setattr(dask_engine, "_PATIENCE", 10)  # so long a client looks for a scheduler that is gone

    def kill_scheduler(part_sum, other):
        processes[0].kill()
        return add(part_sum, other)

    with pytest.raises(PartError, match=r"the Dask scheduler was lost. Start it and the run again"):
        map_reduce(summarize, kill_scheduler, range(30), engine=address)


def test_a_cluster_without_workers_is_told(monkeypatch):
    from distributed import LocalCluster

    monkeypatch.setattr(dask_engine, "_PATIENCE", 0.5)
    with (
        LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as cluster,
        pytest.raises(ParameterError, match=r"has no workers. Start some with 'dask worker"),
    ):
        map_reduce(str, add, [1], engine=cluster.scheduler_address)


def test_the_missing_extra_names_its_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'handful\[dask\]'"):
        map_reduce(str, add, [1], engine="dask")


def test_only_the_engine_imports_dask():
    house = Path(handful.__file__).parent
    pattern = re.compile(r"^\s*(import|from) (dask|distributed)\b", re.MULTILINE)
    found = [path.relative_to(house) for path in house.rglob("*.py") if pattern.search(path.read_text())]
    assert found == []


DRIVER = """
import sys, time
from pathlib import Path
import numpy as np
from handful.parallel import map_reduce

folder = Path(sys.argv[1])

def summarize(part):
    with open(folder / f"asked {part}", "a") as file:
        file.write("x")
    while part == 4 and not (folder / "go on").exists():
        time.sleep(0.05)
    return {"sum": np.random.default_rng(part).standard_normal(5)}

def add(a, b):
    return {"sum": a["sum"] + b["sum"]}

if __name__ == "__main__":
    found = map_reduce(summarize, add, range(8), n_jobs=2, engine="dask", checkpoint=folder / "kept", fingerprint="f")
    (folder / "result").write_bytes(found["sum"].tobytes())
"""


def test_a_killed_driver_goes_on_where_it_was(tmp_path):
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    command = [sys.executable, str(script), str(tmp_path)]
    driver = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 120
        while len(list((tmp_path / "kept").glob("*.summary"))) < 7 and time.monotonic() < until:
            assert driver.poll() is None
            time.sleep(0.05)
    finally:
        driver.kill()
        driver.wait()
    assert not (tmp_path / "result").exists()
    kept = {path.name for path in (tmp_path / "kept").glob("*.summary")}
    assert len(kept) == 7
    (tmp_path / "go on").touch()
    subprocess.run(command, check=True, timeout=120)
    asked = [len(Path(tmp_path / f"asked {part}").read_text()) for part in range(8)]
    assert asked == [1, 1, 1, 1, 2, 1, 1, 1]
    whole = np.random.default_rng(0).standard_normal(5)
    for part in range(1, 8):
        whole = whole + np.random.default_rng(part).standard_normal(5)
    assert (tmp_path / "result").read_bytes() == whole.tobytes()
