"""The registry of methods: one `MethodSpec` per method; a method's module is imported when it is named.

To add a method, write its file with `@method(...)` on the class and add its line to `METHODS`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from inspect import Parameter, signature
from typing import Any, Literal, TypeVar

from handful.errors import ParameterError
from handful.params import admits, declared

TaskName = Literal["table", "sentences", "trees", "occurrences", "text", "model"]
Paper = Literal["sogaard2011", "liu2013", "suzuki2011", "su2004", "haghighi2006"]
Cost = Literal["instant", "quick", "fair", "slow"]
View = Literal["words", "lsa", "vectors"]
Resource = Literal["raw text", "clusters", "prototypes"]

COSTS: tuple[Cost, ...] = ("instant", "quick", "fair", "slow")
"""Cost of one fit, cheapest first; comparisons try methods in this order."""

# Values tried for a parameter of this name in any method for tables.
_GRID: dict[str, tuple[Any, ...]] = {"n_neighbors": (1, 3, 5), "kernel": ("rbf",), "n_components": (10,)}

Class = TypeVar("Class", bound=type)


@dataclass(frozen=True)
class MethodSpec:
    """Description of a method.

    Parameters
    ----------
    name : str
        Name on the command line, in reports and in model files.
    task : str
        What it is fitted on: a table, sentences, trees, occurrences of words, raw text, or another model.
    cls : type or None
        Class of the fitted model in model files; None where the method combines others or the class is scikit-learn's.
    uses_unlabeled : bool
        Whether it learns from unlabeled data.
    supervised_control : str or None
        Name of the method to compare with, which does the same without unlabeled data; None is the method itself, fitted
        to the labeled data only.
    paper : str or None
        Key of the paper that describes it.
    summary : str
        One sentence; the first line of the class's docstring by default.
    grid : mapping of str to tuple
        Values of parameters to try, the default first.
    cost : {"instant", "quick", "fair", "slow"}
        Cost of one fit relative to other methods.
    baseline : bool
        Whether it is one of the baselines.
    views : tuple of str
        For tables: representations of text columns that it can use, the default first (see `handful.models.table_model`).
    unit_rows : bool
        For occurrences: whether rows of features are scaled to length 1.
    resources : tuple of str
        For taggers: what it needs in addition to tagged sentences.
    build : callable or None
        For tables and occurrences, ``build(n_features, seed, params)`` returns a new estimator.
    train : callable or None
        For taggers, ``train(setup, sentences, tags, unlabeled)`` returns a fitted tagger; ``setup`` is a
        `handful.tagging.recipes.TaggerSetup`.

    Examples
    --------
    >>> spec = MethodSpec("example", "table", uses_unlabeled=True, cost="quick")
    >>> spec.cost_rank
    1
    """

    name: str
    task: TaskName
    cls: type | None = None
    uses_unlabeled: bool = False
    supervised_control: str | None = None
    paper: Paper | None = None
    summary: str = ""
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    cost: Cost = "fair"
    baseline: bool = False
    views: tuple[View, ...] = ("words", "lsa", "vectors")
    unit_rows: bool = False
    resources: tuple[Resource, ...] = ()
    build: Callable[[int, int, Mapping[str, Any]], Any] | None = None
    train: Callable[[Any, Any, Any, Any], Any] | None = None

    @property
    def cost_rank(self) -> int:
        """Position of its cost in `COSTS`."""
        return COSTS.index(self.cost)

    @property
    def default_params(self) -> dict[str, Any]:
        """The default value of every parameter in the grid."""
        return {name: values[0] for name, values in self.grid.items()}

    def make_estimator(self, n_features: int, seed: int = 0, params: Mapping[str, Any] | None = None) -> Any:
        """Return a new estimator for rows of `n_features` columns."""
        if self.build is None:
            raise TypeError(f"{self.name} is not made for rows; it is fitted on {self.task}.")
        return self.build(n_features, seed, dict(params or {}))


_REGISTERED: dict[tuple[str, str], MethodSpec] = {}


def register(spec: MethodSpec) -> MethodSpec:
    """Register a method; names are unique within a task."""
    known = _REGISTERED.get((spec.task, spec.name))
    if known is not None and _origin(known) != _origin(spec):
        raise ValueError(f"registry: the name {spec.name!r} is taken by {'.'.join(_origin(known))}.")
    _REGISTERED[spec.task, spec.name] = spec
    return spec


def method(name: str, *, task: TaskName, **fields: Any) -> Callable[[Class], Class]:
    """Register a class as a method.

    Parameters
    ----------
    name, task, **fields
        See `MethodSpec`. For a table method the default grid holds values to try of well-known parameters, and the
        default `build` calls the class.

    Returns
    -------
    decorator
        Registers a class and returns it unchanged.

    Examples
    --------
    >>> @method("example-method", task="table")
    ... class Example:
    ...     '''Do nothing, as an example.'''
    >>> spec_of(Example).summary
    'Do nothing, as an example.'
    >>> unregister("example-method")
    """

    def decorate(cls: Class) -> Class:
        summary = (cls.__doc__ or "").strip().partition("\n")[0].strip()
        spec = MethodSpec(name, task, cls, **{"summary": summary, **fields})
        if task == "table":
            spec = replace(spec, build=spec.build or _builder(cls), grid=spec.grid or _grid(cls))
        register(spec)
        return cls

    return decorate


def spec_of(cls: type) -> MethodSpec | None:
    """Return the spec of exactly this class, or None if it is not registered."""
    return next((spec for spec in _REGISTERED.values() if spec.cls is cls), None)


def method_name_of(model: Any) -> str:
    """Return the method's name of a fitted model, or the name of its class if it is not registered."""
    spec = spec_of(type(model))
    return str(getattr(model, "method_name", spec.name if spec else type(model).__name__))


def unregister(name: str) -> None:
    """Remove a method; for classes defined in tests."""
    for key in [key for key in _REGISTERED if key[1] == name]:
        del _REGISTERED[key]


def _origin(spec: MethodSpec) -> tuple[str, str]:
    made = spec.cls or spec.build or spec.train
    return (getattr(made, "__module__", "?"), getattr(made, "__qualname__", spec.name))


def _grid(cls: type) -> dict[str, tuple[Any, ...]]:
    parameters, annotations = signature(cls).parameters, declared(cls)
    grid = {}
    for name, values in _GRID.items():
        if name in parameters:
            default = parameters[name].default
            grid[name] = (default, *(v for v in values if v != default and admits(annotations[name], v)))
    return grid


def _builder(cls: type) -> Callable[[int, int, Mapping[str, Any]], Any]:
    def build(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
        settings = dict(params)
        parameter = signature(cls).parameters.get("random_state")
        if parameter is not None and parameter.kind is not Parameter.VAR_KEYWORD:
            settings.setdefault("random_state", seed)
        return cls(**settings)

    build.__qualname__, build.__module__ = cls.__qualname__, cls.__module__
    return build


METHODS: dict[TaskName, dict[str, str]] = {
    "table": {
        "k-nn": "handful.models.adapters",
        "logistic-regression": "handful.models.adapters",
        "self-training": "handful.models.adapters",
        "label-propagation": "handful.models.label_graph",
        "label-spreading": "handful.models.label_graph",
        "extra-trees": "handful.models.adapters",
        "random-forest": "handful.models.adapters",
        "hist-gradient-boosting": "handful.models.adapters",
        "shrunk-lda": "handful.models.adapters",
        "svm-rbf": "handful.models.classifiers",
        "linear-svm": "handful.models.classifiers",
        "nearest-centroid": "handful.models.classifiers",
        "complement-nb": "handful.models.classifiers",
        "naive-bayes-em": "handful.models.classifiers",
        "kernel-ridge": "handful.models.classifiers",
        "ensemble": "handful.models.ensemble",
        "condensed-nn": "handful.neighbors.condensed",
        "semi-supervised-condensed-nn": "handful.neighbors.condensed",
        "ordinal-knn": "handful.neighbors.ordinal",
        "kernel-pca": "handful.neighbors.kernel_pca",
        "composite-kernel-pca": "handful.neighbors.kernel_pca",
        "tri-training": "handful.neighbors.tri_training",
        "condensed-feature-classifier": "handful.representations.condensed_classifier",
    },
    "sentences": {
        "frequent-tag": "handful.tagging.frequent",
        "crf": "handful.tagging.crf",
        "crf+clusters": "handful.tagging.recipes",
        "crf+condensed-features": "handful.tagging.recipes",
        "prototypes": "handful.tagging.recipes",
        "prototype-tagger": "handful.tagging.prototypes.tagger",
        "prototype-ensemble": "handful.tagging.prototypes.ensemble",
        "crf+stacked-condensed-nn": "handful.tagging.recipes",
        "stacked-tagger": "handful.tagging.stacked",
        "two-pass-tagger": "handful.tagging.two_pass",
    },
    "trees": {"dependency-parser": "handful.parsing.parser"},
    "text": {
        "brown-clusters": "handful.representations.brown",
        "context-similarity": "handful.representations.similarity",
    },
    "occurrences": {
        "most-frequent": "handful.senses.word_models",
        "naive-bayes": "handful.senses.word_models",
        "maximum-entropy": "handful.senses.word_models",
        "linear-svm": "handful.senses.word_models",
        "embeddings": "handful.senses.word_models",
        "kernel-pca": "handful.senses.word_models",
        "semi-supervised-kernel-pca": "handful.senses.word_models",
        "composite-kernel-pca": "handful.senses.word_models",
    },
    "model": {
        "condensed-features": "handful.representations.condensed_classifier",
        "senses": "handful.senses.classifier",
        "table-model": "handful.models.table_model",
        "team": "handful.models.legacy",
        "text-team": "handful.models.legacy",
        "shrunk-bayes": "handful.models.legacy",
        "hashed-table": "handful.preprocessing.word_tables",
        "nearest-rows": "handful.models.condensed_rows",
        "condensed-rows": "handful.models.condensed_rows",
        "witness-ensemble": "handful.models.witnesses",
    },
}

AROUND = {"self-training": "handful.models.adapters", "tri-training": "handful.models.adapters"}
"""Methods for tables that wrap another one, as in ``tri-training(extra-trees)``."""


def method_names(task: TaskName | None = None) -> list[str]:
    """Return the names of all methods, or of those for one task, without importing any.

    Examples
    --------
    >>> method_names("trees")
    ['dependency-parser']
    """
    return [name for kind in _tasks(task) for name in METHODS[kind]]


def get_method(name: str, task: TaskName | None = None) -> MethodSpec:
    """Return the spec of a method.

    Parameters
    ----------
    name : str
        Name of a method; for tables also ``self-training(NAME)`` and ``tri-training(NAME)``, which wrap another one.
    task : str, optional
        Look only among methods for this task.

    Raises
    ------
    ParameterError
        For an unknown name, with suggestions.

    Examples
    --------
    >>> get_method("k-nn").make_estimator(2, params={"n_neighbors": 3}).n_neighbors
    3
    """
    for kind in _tasks(task):
        if name in METHODS[kind]:
            import_module(METHODS[kind][name])
            if (kind, name) in _REGISTERED:
                return _REGISTERED[kind, name]
    outer, parenthesis, inner = name.partition("(")
    if outer in AROUND and parenthesis and inner.endswith(")") and task in (None, "table"):
        wrapped: MethodSpec = import_module(AROUND[outer]).wrapped_spec(outer, get_method(inner[:-1], "table"))
        return wrapped
    raise _unknown(name, task)


def all_methods(task: TaskName | None = None) -> Iterator[MethodSpec]:
    """Yield the specs of all methods, or of those for one task, in the order of `METHODS`."""
    for kind in _tasks(task):
        for name in METHODS[kind]:
            yield get_method(name, kind)


_EARLIER_NAMES = {"prototypes": "prototype-tagger", "prototype-team": "prototype-ensemble"}
"""Names in model files of earlier versions, and the names of today."""


def find_class(name: str) -> type | None:
    """Return the class of a registered method, or None for any other name.

    Examples
    --------
    >>> find_class("os") is None
    True
    """
    name = _EARLIER_NAMES.get(name, name)
    for kind in METHODS:
        if name in METHODS[kind]:
            cls = get_method(name, kind).cls
            if cls is not None:
                return cls
    return None


def _tasks(task: TaskName | None) -> list[TaskName]:
    return list(METHODS) if task is None else [task]


def _unknown(name: str, task: TaskName | None) -> ParameterError:
    known = list(dict.fromkeys(method_names(task)))
    alike = [other for other in known if name and other.startswith(name.lower())]
    suggestions = " or ".join(map(repr, alike[:3] or difflib.get_close_matches(name.lower(), known, n=1)))
    hint = f" Did you mean {suggestions}?" if suggestions else " Run 'handful methods' to see all."
    kinds = {"table": " for tables", "sentences": " for sentences", "occurrences": " for word senses"}
    return ParameterError(f"methods: there is no method{kinds.get(task or '', '')} named {name!r}.{hint}")
