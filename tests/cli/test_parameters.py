"""Options made from the annotations and the docstring of a class."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from functools import reduce
from importlib import import_module
from typing import Annotated, Any, Literal

import click
import pytest
from click.testing import CliRunner

from handful.cli import group as cli
from handful.cli.options import Declared, parameter_texts, parameters_of, run_options
from handful.params import Count, Positive, Range


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
@parameters_of(Model, leave_out=["right"])
@run_options("as_json", "resume", "jobs")
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
    assert given() == {"size": 3, "left": 0.5, "strength": 1.0, "kind": None, "order": 1, "quick": True}


def test_words_become_values_of_the_declared_type():
    assert given("--size", "cv", "--left", "1", "--kind", "flat", "--order", "2", "--no-quick", "--strength", "2") == {
        "size": "cv",
        "left": 1,
        "strength": 2,
        "kind": "flat",
        "order": 2,
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
        (("--jobs", "0"), "must be an integer of at least 1 or -1, got 0"),
        (("--right", "1"), "No such option"),
        (("--table", "1"), "No such option"),
        (("--n-jobs", "1"), "No such option"),
    ],
)
def test_what_the_annotation_refuses_is_refused(words, says):
    assert says in " ".join(refused(*words).split())


def test_help_is_the_docstring():
    assert parameter_texts(Model)["left"] == parameter_texts(Model)["right"] == "Shares."
    assert "size_" not in parameter_texts(Model)


def test_a_value_that_is_none_is_left_out_of_the_sentence():
    with pytest.raises(click.BadParameter, match="must be an integer of at least 1, got 'x'"):
        Declared(Count | None).convert("x", None, None)


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


COMMANDS = dict(commands(cli))


@pytest.mark.parametrize(
    ("command", "function", "options"),
    [
        ("fit tagger", "handful.tagging.recipes:TaggerSetup", "all"),
        ("fit parser", "handful.parsing:DependencyParser", "all"),
        ("fit prototypes", "handful.tagging.prototypes.ensemble:PrototypeEnsemble", "all"),
        ("fit senses", "handful.senses:SenseClassifier", "all"),
        ("condense", "handful.representations.potency:CondensingSettings", "all"),
        ("clusters", "handful.representations:BrownClusters", "all"),
        ("similar", "handful.representations:ContextSimilarity", "all"),
        ("fit table", "handful:fit", {"metric": "metric", "text": "text"}),
        ("compare", "handful:compare", {"metric": "metric", "text": "text", "labels": "labels"}),
        (
            "compare",
            "handful.comparison.trials:Limits",
            {"minutes": "minutes", "trials": "trials", "n_splits": "splits"},
        ),
        ("fit table", "handful.comparison.trials:Limits", {"unlabeled_rows": "max_unlabeled", "seed": "seed"}),
        ("next", "handful:suggest", {"n": "n", "strategy": "strategy", "seed": "random_state"}),
        ("check", "handful:find_label_errors", {"seed": "random_state"}),
        ("curve", "handful:learning_curve", {"goal": "goal", "n_splits": "n_splits", "seed": "random_state"}),
        ("merge", "handful:merge_labels", {"prefer_new": "prefer_new"}),
        ("fit senses", "handful.senses.harvesting:harvest", {"limit": "limit"}),
        ("similar", "handful.representations:ContextSimilarity.nearest", {"n": "k"}),
        ("prototypes extract", "handful.tagging.prototypes.lists:extract_prototypes", {"n": "n_words"}),
        ("prototypes suggest", "handful.tagging.prototypes.lists:suggest_prototypes", {"n": "n_words"}),
        ("inspect", "handful.models.inspection:inspect_model", {"n": "top"}),
    ],
)
def test_defaults_are_the_same_in_python(command, function, options):
    module, _, name = function.partition(":")
    parameters = inspect.signature(reduce(getattr, name.split("."), import_module(module))).parameters
    params = {param.name: param for param in COMMANDS[tuple(command.split())].params}
    chosen = options or {}
    if options == "all":
        own = {"method", "spelling", "clusters", "prototypes", "tagger"}  # files, or chosen by other options
        chosen = {name: name for name in parameters if name in params and name not in own}
        assert len(chosen) > 3 or command in ("clusters", "similar", "fit senses")
    for option, parameter in chosen.items():
        given = params[option]
        default = given.get_default(click.Context(click.Command("x")))
        default = None if type(default).__name__ == "Sentinel" else default  # of click from 8.3 on
        expected = parameters[parameter].default
        assert default == expected or (default is None and expected is inspect.Parameter.empty), (option, default)


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_has_examples_and_options_of_one_line(path):
    command = COMMANDS[path]
    assert "Example" in (command.help or "")
    assert f"handful {' '.join(path).replace('fit table', 'fit')} " in f"{command.help} ".replace("\n", " \n")
    for param in command.params:
        if isinstance(param, click.Option) and not param.hidden:
            assert param.help, param.name
            assert len(param.help) <= 80, param.help
            assert not param.help.rstrip(".").endswith((" the", " and", " to", " by")), param.help


def test_an_option_means_the_same_in_every_command():
    meanings: dict[str, set[str]] = {}
    for command in COMMANDS.values():
        for param in command.params:
            for word in param.opts:
                if word in ("--jobs", "--seed", "--resume", "--json", "--force", "--columns", "-q", "-v"):
                    meanings.setdefault(word, set()).add((param.help or "").replace("JSON lines", "JSON"))
                if word in ("-n", "-o"):
                    meanings.setdefault(word, set()).add(str(param.type.name).replace("directory", "file"))
    assert {word: len(found) for word, found in meanings.items() if word != "-n"} == dict.fromkeys(
        meanings.keys() - {"-n"}, 1
    )
