"""Options of commands that let methods race."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from handful.cli.options import Number, WholeNumber, run_option

if TYPE_CHECKING:
    from handful.experiment.session import Session

Command = TypeVar("Command", bound=Callable[..., Any])
_LIMITS = ("minutes", "trials", "draws", "unlabeled_rows", "seed", "journal", "fresh", "dry_run")


def race_options(command: Command) -> Command:
    """Add the options that limit a race."""
    options = (
        click.option(
            "--minutes",
            type=Number(min=0, min_open=True),
            default=2.0,
            show_default=True,
            help="Time for all of it, the last fit too; less where the best is clear before.",
        ),
        click.option(
            "--trials",
            type=WholeNumber(min=1),
            help="Stop after so many trials instead, whatever the clock says: the same result every time.",
        ),
        click.option("--memory", type=Number(min=0, min_open=True), metavar="GB", help="Memory that may be used."),
        run_option("jobs", default=-1),
        click.option(
            "--metric",
            type=click.Choice(["auto", "accuracy", "balanced accuracy", "f1"]),
            default="auto",
            show_default=True,
            help="What is scored; auto is accuracy, or balanced accuracy where one class has more than 80 % of the labels.",
        ),
        click.option(
            "--text",
            metavar="words|lsa|vectors|FOLDER",
            default="auto",
            show_default=True,
            help="How texts are read: as words, as directions of words and letters, or as vectors of the encoder at hand or "
            "in FOLDER (see 'handful vectors'); auto tries what there is.",
        ),
        click.option(
            "--with",
            "classes",
            metavar="MODULE:CLASS",
            multiple=True,
            help="A classifier of another package, such as sklearn.svm:SVC, or self-training or tri-training around one: "
            "tri-training(sklearn.svm:SVC). May be given several times.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def session_of(given: dict[str, Any], **more: Any) -> Session:
    """Return the limits that options give; time counts from the start of the process.

    Parameters
    ----------
    given : dict of str to value
        Options of the command.
    **more
        Further parameters of the session.

    Returns
    -------
    Session
        The limits.
    """
    from handful.experiment.session import Session

    limits = {name: given[name] for name in _LIMITS if name in given}
    return Session(n_jobs=given["jobs"], memory_gb=given["memory"], started=_process_start(), **limits, **more)


def with_methods(methods: Sequence[str] | None, classes: Sequence[str]) -> list[Any] | None:
    """Return the methods to compare: names, and classifiers given by module and class.

    Parameters
    ----------
    methods : sequence of str or None
        Names; None is everything.
    classes : sequence of str
        ``module:Class``.

    Returns
    -------
    list or None
        For `handful.compare`; None where nothing was named.
    """
    if methods is None and not classes:
        return None
    from handful.methods import names

    named = list(methods) if methods is not None else names("table")
    return [*named, *map(classifier_of, classes)]


def classifier_of(text: str) -> Any:
    """Return a new classifier by module and class, or self-training or tri-training around one.

    Parameters
    ----------
    text : str
        ``module:Class``, or such as ``tri-training(module:Class)``.

    Returns
    -------
    classifier
        Made without parameters.
    """
    from importlib import import_module

    outer, parenthesis, inner = text.partition("(")
    if parenthesis and inner.endswith(")"):
        from handful.core.catalogue import AROUND
        from handful.methods.classifiers import put_around

        if outer not in AROUND:
            raise click.UsageError(f"--with {text}: {' or '.join(AROUND)} can go around a classifier, not {outer!r}.")
        return put_around(outer, classifier_of(inner[:-1]))
    module, colon, name = text.partition(":")
    if not colon or not module or not name:
        raise click.UsageError(f"--with expects module:Class, as in sklearn.svm:SVC, got {text!r}.")
    try:
        named = getattr(import_module(module), name)
    except AttributeError:
        raise click.UsageError(f"--with {text}: {module} has no class {name!r}.") from None
    except Exception as error:  # whatever the code of the module raises
        raise click.UsageError(f"--with {text}: the module cannot be imported ({error}).") from None
    # Looked at before it is called: sys:exit would end the process.
    if not (isinstance(named, type) and callable(getattr(named, "fit", None)) and hasattr(named, "predict")):
        raise click.UsageError(f"--with {text}: it must be a class with fit and predict, as in sklearn.svm:SVC.")
    try:
        return named()
    except Exception as error:
        raise click.UsageError(f"--with {text}: it cannot be made without parameters ({error}).") from None


def _process_start() -> float:
    """Return when this process began, on the clock of ``time.monotonic``: what was spent on imports counts too."""
    import psutil

    age = time.time() - psutil.Process().create_time()
    # Within a longer process, such as one that runs tests, only this command counts.
    return time.monotonic() - (age if 0 <= age < 60 else 0.0)
