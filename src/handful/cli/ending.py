"""How a command ends: its exit code, and one line on stderr where something is wrong."""

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
from handful.core.errors import HandfulError, ParameterError

_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
_PYTHON_NAME = re.compile(r"([a-z]+(?:_[a-z]+)+|(?=\w*[a-z])[A-Z]\w*[A-Z]\w*|CRF): ")  # of a function, of a class
_AGAIN = 0.05  # seconds until a signal that came at a bad moment is sent again
_UNWRITABLE = (errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EDQUOT)


class ReaderLeft(Exception):  # noqa: N818 (no error)
    """Nobody reads our output any more: its reader, such as `head`, has what it wanted."""


class Stopped(SystemExit):
    """The process was told to end by a signal; whoever holds a file or a worker lets it go on the way out.

    It is a `SystemExit` because event loops hold back every other exception.
    """

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
        What it was given, for the last sentence of a run that is interrupted.
    debug : bool
        Whether a failure shows a traceback.

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
        _end_workers()
        return _fail(f"ended by {signal.Signals(stopped.number).name}{_hint(arguments)}", 128 + stopped.number)
    except BaseException as error:
        code, message = _judged(error, arguments)
        if debug:
            traceback.print_exc()
        return _fail(message, code) if message else code


def _judged(error: BaseException, arguments: list[str]) -> tuple[int, str]:
    """Return the exit code of an error and the sentence that tells it; an empty one has been told already."""
    if isinstance(error, click.Abort | KeyboardInterrupt):
        return 130, f"interrupted{_hint(arguments)}"
    if isinstance(error, click.UsageError):
        if type(error).__name__ == "NoArgsIsHelpError":  # of click from 8.2 on; earlier ones end by themselves
            error.show()
            return 2, ""
        return 2, _usage(error)
    if isinstance(error, click.ClickException):
        return 1, error.format_message()
    if isinstance(error, HandfulError):
        return 2 if isinstance(error, ParameterError) else 1, _for_the_shell(str(error), arguments)
    if isinstance(error, OSError) and error.errno in _UNWRITABLE:
        _forget_output()
        return 1, f"the output cannot be written ({os.strerror(error.errno)}). Make room, or name another place."
    if isinstance(error, OSError) and error.errno is not None and error.filename is not None:
        return 1, f"{error.filename}: cannot be read or written ({os.strerror(error.errno)})."
    if not isinstance(error, Exception):
        raise error
    text = f"unexpected {type(error).__name__}: {error}".rstrip()
    return 1, f"{text} (run again with --debug for the traceback)"


def _usage(error: click.UsageError) -> str:
    """Return what was wrong in the use of a command, and where its options are told."""
    told = error.format_message().rstrip()
    told = told if told.endswith((".", "?", "!", ")")) else f"{told}."
    return told if error.ctx is None else f"{told} See '{error.ctx.command_path} --help'."


def _for_the_shell(message: str, arguments: list[str]) -> str:
    """Leave out the Python name that an error begins with, which nobody typed."""
    name = _PYTHON_NAME.match(message)
    return message if name is None or name[1] in arguments else message[name.end() :]


def _forget_output() -> None:
    """Let what is still in the buffer of stdout go nowhere; or the end of the process would try to write it once more."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _hint(arguments: list[str]) -> str:
    kept = any(argument.partition("=")[0] == "--checkpoint" for argument in arguments)
    return "; the same command goes on from the checkpoint." if kept else "."


@contextmanager
def _signals_raise() -> Iterator[None]:
    """Let the signals that ask a process to end unwind the stack, as an interrupt does.

    Python cannot unwind through a function that C has called, such as the end of an object: there it shows the exception to
    `sys.unraisablehook` and drops it. The signal is then sent once more.
    """

    def stop(number: int, _: Any) -> NoReturn:
        signal.signal(number, signal.SIG_IGN)  # one request is enough; the way out is not to be cut short
        raise Stopped(number)

    def dropped(told: Any) -> None:
        if not isinstance(told.exc_value, Stopped):
            show(told)
            return
        number = told.exc_value.number
        signal.signal(number, stop)
        again = threading.Timer(_AGAIN, os.kill, (os.getpid(), number))
        again.daemon = True
        again.start()

    show, sys.unraisablehook = sys.unraisablehook, dropped
    before = {}
    with suppress(ValueError):  # signals belong to the main thread; elsewhere whoever runs it deals with them
        before = {number: signal.signal(number, stop) for number in _SIGNALS}
    try:
        yield
    finally:
        sys.unraisablehook = show
        for number, handler in before.items():
            if signal.getsignal(number) is stop:
                signal.signal(number, handler)


def _end_workers() -> None:
    from handful.compute.processes import end_children

    end_children()


def _fail(message: str, code: int) -> int:
    click.echo(f"handful: {visible(' '.join(message.split()))}", err=True)
    return code


def _one_line_warning(message: Any, category: Any, filename: str, lineno: int, *_: Any, **__: Any) -> None:
    click.echo(f"handful: warning: {visible(' '.join(str(message).split()))}", err=True)
