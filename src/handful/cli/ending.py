"""Exit codes: how a command ends, and the one sentence that says why."""

from __future__ import annotations

import errno
import os
import re
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import click

from handful.cli.console import visible
from handful.errors import FileError, HandfulError, ParameterError

_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
_PYTHON_NAME = re.compile(
    r"(compare|fit|suggest|[a-z]+(?:_[a-z]+)+|(?=\w*[a-z])[A-Z]\w*[A-Z]\w*|CRF): "
)  # of a function, of a class
# How the library begins a sentence about a parameter, and how the command line does.
_OPTIONS = {
    r"shares: ": "--class-priors: ",
    r"columns: ": "--columns: ",
    r"n_rows must": "--rows: must",
    r"shots: n must": "-n: must",
    r"missing_labels and keep_labels: ": "--missing-label and --keep-label: ",
    r"order 2 needs projective=True, got False\. Use order=1": "--order: 2 needs --projective. Use --order 1",
}
_AGAIN = 0.05  # seconds until a signal that came at a bad moment is sent again
_UNWRITABLE = (errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EDQUOT)
_NO_MEMORY = "not enough memory. Use a smaller file, fewer --unlabeled-rows, or a machine with more memory."


_LEAST_ADDRESSES = 2 * 10**9
"""Bytes of address space that libraries take on two cores; with less, they abort the process or wait forever."""


def check_memory_limit() -> None:
    """Refuse to begin under a limit (``ulimit -v``) that leaves the libraries too little.

    Raises
    ------
    HandfulError
        If the limit is below 2 GB.
    """
    with suppress(ImportError):  # Windows has no such limit
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if 0 <= limit < _LEAST_ADDRESSES:
            raise HandfulError(f"ulimit -v: {limit // 1024:,} kB are too few. Set it to 2,000,000 or more.")


class ReaderLeft(Exception):  # noqa: N818 (no error)
    """The reader of our output, such as `head`, has closed it."""


class Stopped(SystemExit):
    """A signal asked the process to end. It is a `SystemExit` because event loops hold back every other exception."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number


def exit_code(command: Callable[[], Any], arguments: list[str], *, debug: bool = False) -> int:
    """Run a command and return its exit code.

    Parameters
    ----------
    command : callable
        The command.
    arguments : list of str
        Its arguments.
    debug : bool
        Whether a failure prints a traceback.

    Returns
    -------
    int
        0 on success, 2 on wrong use, 1 on failure, 130 when interrupted, 128 + n when ended by signal n (143 for SIGTERM).
    """
    warnings.showwarning = _one_line_warning
    try:
        with _signals_raise():
            outcome = command()
        return outcome if isinstance(outcome, int) else 0
    except click.exceptions.Exit as done:
        return done.exit_code
    except ReaderLeft:
        _forget_output()
        return 0
    except Stopped as stopped:
        from handful.parallel import end_children

        end_children()
        return _fail(f"ended by {signal.Signals(stopped.number).name}{_resume(arguments)}", 128 + stopped.number)
    except BaseException as error:
        code, message = _judge(error, arguments)
        if debug:
            traceback.print_exc()
        return _fail(message, code) if message else code


def _judge(error: BaseException, arguments: list[str]) -> tuple[int, str]:
    """Return the exit code of an error and its sentence, empty if it was printed already."""
    if isinstance(error, click.Abort | KeyboardInterrupt) or _was_interrupted(error):
        return 130, f"interrupted{_resume(arguments)}"
    if isinstance(error, click.UsageError):
        if type(error).__name__ == "NoArgsIsHelpError":  # of click from 8.2 on; earlier ones end by themselves
            error.show()
            return 2, ""
        return 2, _usage(error, arguments)
    if isinstance(error, click.ClickException):
        return 1, error.format_message()
    if isinstance(error, HandfulError):
        message = _without_python_name(str(error), arguments)
        if isinstance(error, ParameterError) and not isinstance(error, FileError):
            return 2, _with_options(message, arguments)
        return 2 if isinstance(error, ParameterError) else 1, message
    if isinstance(error, MemoryError):
        return 1, _NO_MEMORY
    if isinstance(error, ImportError):
        return 1, f"{error.name or 'a module'}: cannot be loaded ({error}). Install handful again, or free memory."
    if isinstance(error, OSError):
        return 1, _system_error(error)
    if not isinstance(error, Exception):
        raise error
    text = f"unexpected {type(error).__name__}: {error}".rstrip()
    return 1, f"{text} (run again with --debug for the traceback)"


def _system_error(error: OSError) -> str:
    if error.errno == errno.ENOMEM:
        return _NO_MEMORY
    if error.errno in _UNWRITABLE:
        _forget_output()
        return f"the output cannot be written ({os.strerror(error.errno)}). Free space, or name another place."
    if error.errno is not None and error.filename is not None:
        return f"{error.filename}: cannot be read or written ({os.strerror(error.errno)})."
    return f"unexpected {type(error).__name__}: {error} (run again with --debug for the traceback)"


def _was_interrupted(error: BaseException | None) -> bool:
    """Whether an interrupt is what caused an error, such as one within an import."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:  # an error that is raised again is the context of its own cause
        if isinstance(error, KeyboardInterrupt):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def _usage(error: click.UsageError, arguments: list[str]) -> str:
    """Return what is wrong in the use of a command, the option first, and where its options are listed."""
    text = error.format_message().rstrip()
    if isinstance(error, click.NoSuchOption):
        near = f" Did you mean {' or '.join(sorted(error.possibilities))}?" if error.possibilities else ""
        files = [name for name in arguments if name.startswith(error.option_name) and os.path.exists(name)]
        near = f" For the file {files[0]}, write ./{files[0]}." if files else near
        text = f"{error.option_name}: no such option.{near}"
    elif isinstance(error, click.BadParameter) and error.param is not None:
        option = error.param.param_type_name == "option"
        name = max(error.param.opts, key=len) if option else (error.param.metavar or str(error.param.name).upper())
        is_missing = isinstance(error, click.MissingParameter)
        text = f"{name}: {'missing' if is_missing else error.message}"
    text = text if text.endswith((".", "?", "!")) else f"{text}."
    return text if error.ctx is None else f"{text} See '{error.ctx.command_path} --help'."


def _without_python_name(message: str, arguments: list[str]) -> str:
    """Leave out the Python name that an error begins with, which nobody typed."""
    name = _PYTHON_NAME.match(message)
    return message if name is None or name[1] in arguments else message[name.end() :]


def _with_options(message: str, arguments: list[str]) -> str:
    """Name the option where an error begins with the name of a parameter."""
    names = [word.partition("=")[0] for word in arguments]
    methods = next((name for name in names if name in ("--methods", "--method")), "--method")
    for begin, option in {**_OPTIONS, "methods: ": f"{methods}: "}.items():
        if match := re.match(begin, message):
            return option + message[match.end() :]
    return message


def _forget_output() -> None:
    """Send what is still in the buffer of stdout nowhere; or the end of the process would try to write it once more."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def open_closed_streams() -> None:
    """Open the null device where stdin, stdout or stderr is closed, so that no other file gets its number."""
    while (number := os.open(os.devnull, os.O_RDWR)) < 3:
        pass
    os.close(number)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def _resume(arguments: list[str]) -> str:
    kept = any(argument.partition("=")[0] == "--resume" for argument in arguments)
    return "; the same command goes on from there." if kept else "."


@contextmanager
def _signals_raise() -> Iterator[None]:
    """Let the signals that ask a process to end unwind the stack, as an interrupt does.

    Python cannot unwind through a function that C has called, such as the end of an object: there it shows the exception to
    `sys.unraisablehook` and drops it. The signal is then sent once more.
    """

    def stop(number: int, _: Any) -> NoReturn:
        signal.signal(number, signal.SIG_IGN)  # one request is enough; the way out is not to be cut short
        raise Stopped(number)

    def dropped(event: Any) -> None:
        if isinstance(event.exc_value, KeyboardInterrupt):
            number = int(signal.SIGINT)
        elif isinstance(event.exc_value, Stopped):
            number = event.exc_value.number
            signal.signal(number, stop)
        else:
            show(event)
            return
        again = threading.Timer(_AGAIN, os.kill, (os.getpid(), number))
        again.daemon = True
        again.start()

    show, sys.unraisablehook = sys.unraisablehook, dropped
    before = {}
    with suppress(ValueError):  # signals belong to the main thread
        before = {number: signal.signal(number, stop) for number in _SIGNALS}
    try:
        yield
    finally:
        sys.unraisablehook = show
        for number, handler in before.items():
            if signal.getsignal(number) is stop:
                signal.signal(number, handler)


def _fail(message: str, code: int) -> int:
    with suppress(OSError):
        click.echo(f"handful: {visible(' '.join(message.split()))}", err=True)
    return code


def _one_line_warning(message: Any, category: Any, filename: str, lineno: int, *_: Any, **__: Any) -> None:
    click.echo(f"handful: warning: {visible(' '.join(str(message).split()))}", err=True)
