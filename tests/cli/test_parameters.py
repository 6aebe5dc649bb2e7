"""Options made from the annotations and the docstring of a class."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import click
import pytest
from click.testing import CliRunner

from handful.cli.options import run_options
from handful.cli.parameters import Declared, parameter_texts, parameters_of
from handful.core.params import Count, Positive, Range


class Model:
    """A model.

    Parameters
    ----------
    size : int or "cv", default=3
        How ``large`` it is,
        in cells.
    left, right : float, default=0.5
        Shares.
    strength : float, default=1.0
        Of the penalty.
    kind : {"round", "flat"} or None, default=None
        Its shape.
    order : {1, 2}, default=1
        Labels seen.
    quick : bool, default=True
        Whether it hurries.
    table : dict, default=None
        Has no written form.
    n_jobs : int, default=None
        Threads.

    Attributes
    ----------
    size_ : int
        Not a parameter.
    """

    def __init__(
        self,
        size: Count | Literal["cv"] = 3,
        left: Annotated[float, Range(0, 1)] = 0.5,
        right: Annotated[float, Range(0, 1)] = 0.5,
        strength: Positive = 1.0,
        kind: Literal["round", "flat"] | None = None,
        order: Literal[1, 2] = 1,
        quick: bool = True,
        table: Any = None,
        n_jobs: int | None = None,
    ) -> None: ...


@click.command()
@parameters_of(Model, leave_out=["right"], defaults={"order": 2}, aliases={"strength": "--force"})
@run_options("as_json", "checkpoint", jobs={"default": -1})
def fit(settings, run):
    click.echo(json.dumps([settings, run.jobs]))


def given(*words: str) -> dict[str, Any]:
    done = CliRunner().invoke(fit, words)
    assert done.exit_code == 0, done.output
    return json.loads(done.output)[0]


def refused(*words: str) -> str:
    done = CliRunner().invoke(fit, words)
    assert done.exit_code == 2
    return done.output


def test_every_parameter_with_a_written_form_is_an_option():
    assert given() == {"size": 3, "left": 0.5, "strength": 1.0, "kind": None, "order": 2, "quick": True}


def test_words_become_values_of_the_declared_type():
    assert given("--size", "cv", "--left", "1", "--kind", "flat", "--order", "1", "--no-quick", "--force", "2") == {
        "size": "cv",
        "left": 1,
        "strength": 2,
        "kind": "flat",
        "order": 1,
        "quick": False,
    }


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--size", "0"), "must be an integer of at least 1 or 'cv', got '0'"),
        (("--size", "many"), "must be an integer of at least 1 or 'cv', got 'many'"),
        (("--left", "1.5"), "must be a number between 0 and 1, got '1.5'"),
        (("--strength", "nan"), "must be a number above 0, got 'nan'"),
        (("--kind", "None"), "must be 'round' or 'flat', got 'None'"),
        (("--order", "3"), "must be 1 or 2, got '3'"),
        (("--jobs", "0"), "must be an integer of at least 1 or -1, got '0'"),
        (("--right", "1"), "No such option"),
        (("--table", "1"), "No such option"),
        (("--n-jobs", "1"), "No such option"),
    ],
)
def test_what_the_annotation_refuses_is_refused(words, says):
    assert says in " ".join(refused(*words).split())


def test_help_tells_what_the_docstring_tells():
    told = " ".join(CliRunner().invoke(fit, ["--help"]).output.split())
    assert "--size INTEGER|cv How large it is, in cells. (an integer of at least 1 or 'cv') [default: 3]" in told
    assert "--kind [round|flat] Its shape." in told
    assert "--quick / --no-quick Whether it hurries. [default: quick]" in told
    assert parameter_texts(Model)["left"] == parameter_texts(Model)["right"] == "Shares."
    assert "size_" not in parameter_texts(Model)


def test_a_value_that_is_none_is_left_out_of_the_sentence():
    with pytest.raises(click.BadParameter, match="must be an integer of at least 1, got 'x'"):
        Declared(Count | None).convert("x", None, None)
