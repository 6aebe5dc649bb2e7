"""Commands in processes of their own that start at once.

`python -m handful` spends over a second on imports. Here a server imports everything once and forks a process for each
command, which is a process like any other: it has its own session, folder, environment, limits and streams.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import pkgutil
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from functools import cache
from pathlib import Path
from typing import Any

PIPE = subprocess.PIPE
_LIBRARIES = (
    *("sklearn.ensemble", "sklearn.linear_model", "sklearn.svm", "sklearn.neighbors", "sklearn.decomposition"),
    *(
        "sklearn.discriminant_analysis",
        "sklearn.semi_supervised",
        "sklearn.naive_bayes",
        "sklearn.feature_extraction.text",
    ),
    *(
        "numba",
        "polars",
        "joblib",
        "rich.console",
        "rich.progress",
        "safetensors.numpy",
        "uvicorn",
        "starlette.applications",
    ),
)
_NOT_IMPORTED = ("handful.contrib", "handful.__main__", "handful.cli.__main__")


class Process:
    """A command as `subprocess.Popen` would run it: ``python -m handful WORDS``, or ``python -c CODE WORDS`` with ``code=``.

    `room` limits the size of the files that it writes, as if the disk were full.
    """

    def __init__(
        self,
        words: tuple[object, ...] = (),
        *,
        code: str | None = None,
        cwd: Path | str | None = None,
        env: dict[str, str] | None = None,
        room: int | None = None,
        stdout: int = PIPE,
        stderr: int = PIPE,
    ) -> None:
        self.returncode: int | None = None
        ours, theirs = [], [os.open(os.devnull, os.O_RDONLY)]
        for stream in (stdout, stderr):
            reading, writing = os.pipe() if stream == PIPE else (None, os.dup(stream))
            ours.append(None if reading is None else os.fdopen(reading, "rb"))
            theirs.append(writing)
        self.stdout, self.stderr = ours
        self._connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._connection.connect(_server())
        request = {
            "words": [str(word) for word in words],
            "code": code,
            "cwd": str(cwd or Path.cwd()),
            "env": dict(os.environ if env is None else env),
            "room": room,
        }
        socket.send_fds(self._connection, [json.dumps(request).encode()], theirs)
        for fd in theirs:
            os.close(fd)
        self.pid = int(self._connection.recv(64))

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end."""
        if self.returncode is None:
            if not select.select([self._connection], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("handful", timeout or 0)
            self.returncode = int(self._connection.recv(64))
            self._connection.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[bytes, bytes]:
        """Wait for the end, and return what it wrote."""
        if not hasattr(self, "_read"):
            self._read: dict[str, bytes] = {}
            streams = {"out": self.stdout, "err": self.stderr}
            self._readers = [
                threading.Thread(target=lambda n=name, s=stream: self._read.update({n: s.read()}), daemon=True)
                for name, stream in streams.items()
                if stream is not None
            ]
            for reader in self._readers:
                reader.start()
        self.wait(timeout)
        for reader in self._readers:  # what it has started may hold its streams a little longer
            reader.join(30)
        return self._read.get("out", b""), self._read.get("err", b"")

    def __del__(self) -> None:
        for end in (self.stdout, self.stderr, self._connection):
            if end is not None:
                end.close()

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.wait()


def run(*words: object, **settings: Any) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, as `subprocess.run` with text does."""
    process = Process(words, **settings)
    out, err = process.communicate()
    return subprocess.CompletedProcess(words, process.returncode or 0, out.decode(), err.decode())


@cache
def _server() -> str:
    """Start the server, once for a process of tests, and return where it listens."""
    folder = tempfile.mkdtemp(prefix="quick")
    place = f"{folder}/socket"
    search = os.pathsep.join([*filter(None, [os.environ.get("PYTHONPATH")]), str(Path(__file__).parents[1])])  # papers
    environment = {**os.environ, "PYTHONPATH": search}
    server = subprocess.Popen([sys.executable, __file__, place], stdin=PIPE, stdout=PIPE, env=environment)
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"

    server.wait()
    atexit.register(shutil.rmtree, folder)
    atexit.register(server.communicate)  # closes its stdin, so that it ends
    return place


def _serve(place: str) -> dict[str, Any] | None:
    """Fork a process for each request; return the request in that process, and None at the end of the server."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(place)
    listener.listen(16)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that wait for commands
    if os.fork():  # commands in the process of the tests end its children, of which this is to be none
        os._exit(0)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        ready, _, _ = select.select([listener, sys.stdin], [], [])
        if listener not in ready:
            return None
        connection, _ = listener.accept()
        if os.fork():
            connection.close()
            continue
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        text, streams, _, _ = socket.recv_fds(connection, 1 << 20, 3)
        pid = os.fork()
        if pid == 0:
            connection.close()
            listener.close()
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
                os.close(stream)
            return dict(json.loads(text))
        for stream in streams:
            os.close(stream)
        with contextlib.suppress(BrokenPipeError):
            connection.send(str(pid).encode())
            connection.send(str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])).encode())
        os._exit(0)


def _begin(request: dict[str, Any]) -> None:
    """Make this process one that was just started."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    sys.path[0] = "" if request["code"] is not None else request["cwd"]
    sys.argv = ["handful", *request["words"]]
    tempfile.tempdir = None
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    buffering = 1 if os.isatty(1) else -1
    sys.stdout = open(1, "w", buffering, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, encoding="utf-8", closefd=False, errors="backslashreplace")  # noqa: SIM115
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    if request["room"] is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (request["room"],) * 2)


def _run(code: str | None) -> int:
    try:
        if code is not None:
            exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
        else:
            from handful.__main__ import main

            main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else ended.code is not None
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _end(code: int) -> None:
    """End as Python does, but for taking apart all that was imported."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        code = code or 120
    os._exit(code)


if __name__ == "__main__":
    import handful

    sys.path.pop(0)  # the folder of the tests
    sys.path.insert(0, "")
    for library in _LIBRARIES:
        importlib.import_module(library)
    for module in pkgutil.walk_packages(handful.__path__, "handful."):
        if not module.name.startswith(_NOT_IMPORTED):
            importlib.import_module(module.name)
    wanted = _serve(sys.argv[1])
    if wanted is not None:
        _begin(wanted)
        _end(_run(wanted["code"]))
