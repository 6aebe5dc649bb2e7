"""What algorithms answer on fixed inputs: one function for each pin."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pin_inputs import SENSES, make_lexicon, make_senses, make_trees, rng_of
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from handful.comparison.splits import few_labels
from handful.comparison.statistics import corrected_paired_t, holm

# Everything of handful that is pinned, imported in this one place.
from handful.data.records import Occurrence, Sentence, Tree
from handful.kernels import chains as chain_kernels
from handful.linear.batch import minimize
from handful.linear.multiclass import Multiclass
from handful.linear.online import OnlineRule, train_online
from handful.linear.structure import feature_counts
from handful.models.classifiers import (
    ComplementBayes,
    KernelRidgeClassifier,
    KernelSVM,
    LinearSVM,
    NearestMean,
)
from handful.models.ensemble import Ensemble
from handful.models.label_graph import LabelPropagation, LabelSpreading
from handful.neighbors.condensed import CondensedNN, SemiSupervisedCondensedNN
from handful.neighbors.kernel_pca import CompositeKernelPCA, KernelPCAClassifier
from handful.neighbors.ordinal import OrdinalKNN
from handful.neighbors.tri_training import TriTraining
from handful.parsing.parser import DependencyParser
from handful.representations.brown import BrownClusters
from handful.representations.condensed_classifier import CondensedFeatureClassifier
from handful.representations.condensed_features import CondensedFeatures
from handful.representations.similarity import ContextSimilarity
from handful.senses.classifier import SenseClassifier
from handful.tagging.crf import CRF
from handful.tagging.evaluation import chunk_f1
from handful.tagging.prototypes.field import PrototypeField, TokenArrays
from handful.tagging.prototypes.tagger import PrototypeTagger
from handful.tagging.stacked import StackedTagger
from papers.generated import make_apartment_ads, make_two_gaussians, make_two_moons
from papers.generated_english import make_sense_contexts, make_tagged_sentences
from papers.significance import mcnemar

PINS: dict[str, Callable[[], dict[str, Any]]] = {}
MOST_FLOATS, MOST_WHOLE = 1500, 1500


def pin(name: str) -> Callable[[Callable[[], dict[str, Any]]], Callable[[], dict[str, Any]]]:
    """Enter a function among the pins; what fails is pinned as a failure, so that the others go on."""

    def enter(compute: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
        def run() -> dict[str, Any]:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    return compute()
            except Exception as error:
                return {"error": f"{type(error).__name__}: {error}"}

        PINS[name] = run
        return run

    return enter


def plain(value: Any, digits: int) -> Any:
    """Return what JSON can hold: rounded numbers, and of long arrays sums and a part, or a hash."""
    if isinstance(value, dict):
        return {str(key): plain(item, digits) for key, item in value.items()}
    if sparse.issparse(value):
        rows = sparse.csr_array(value)
        rows.sort_indices()
        parts = {"indices": rows.indices, "offsets": rows.indptr, "data": rows.data}
        return plain(parts, digits)
    if isinstance(value, np.ndarray):
        return _plain_array(value, digits)
    if isinstance(value, list | tuple):
        return [plain(item, digits) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item(), digits)
    if isinstance(value, float):
        if not np.isfinite(value):
            return repr(value)
        return float(f"{value:.{digits}g}") if abs(value) > 1 else round(value, digits)
    return value


def _plain_array(values: np.ndarray, digits: int) -> Any:
    if values.dtype.kind == "f" and values.size > MOST_FLOATS:
        flat = values.astype(np.float64).ravel()
        some = flat[:: -(-flat.size // MOST_FLOATS)]
        sums = {"sum": float(flat.sum()), "squares": float(flat @ flat)}
        return plain({"shape": list(values.shape), **sums, "some": some.tolist()}, digits)
    if values.dtype.kind in "iub" and values.size > MOST_WHOLE:
        data = np.ascontiguousarray(values, dtype=np.int64)
        return {"shape": list(values.shape), "sha256": hashlib.sha256(data.tobytes()).hexdigest()}
    return plain(values.tolist(), digits)


def text_hash(value: Any) -> str:
    """Return a hash of what a value shows."""
    return hashlib.sha256(repr(value).encode()).hexdigest()


def attributes(model: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return fitted attributes by name."""
    return {name: getattr(model, name) for name in names}


# -- rows -------------------------------------------------------------------------------------------------------------

LABELS = np.array(["a", "b", "c"], dtype=object)
VOTES = ["uniform", "distance", "gaussian", "rank", "dudani", "literal"]


def grid(name: str, n: int = 90, d: int = 3, high: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows from a small grid, so that equal distances and identical rows are everywhere."""
    rng = rng_of(name)
    X = rng.integers(0, high, size=(n, d)).astype(np.float64)
    codes = (X.sum(axis=1) > d * (high - 1) / 2).astype(int) + (X[:, 0] == 0)
    wrong = rng.random(n) < 0.2
    return X, LABELS[np.where(wrong, rng.integers(0, 3, size=n), codes)]


def cloud(name: str, n: int = 120, d: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Draw three overlapping clouds, some rows twice."""
    rng = rng_of(name)
    codes = np.arange(n) % 3
    X = rng.normal(size=(n, d)) + 1.5 * np.eye(3, d)[codes]
    X[-6:] = X[:6]
    return X, LABELS[codes]


def hidden(y: np.ndarray, name: str, rate: float = 0.6) -> np.ndarray:
    """Leave out most labels, but not the first six."""
    some = y.copy()
    away = rng_of(name + " hidden").random(len(y)) < rate
    away[:6] = False
    some[away] = None
    return some


def answers(model: Any, X: Any) -> dict[str, Any]:
    """Return labels and probabilities."""
    out = {"labels": model.predict(X)}
    return out | ({"probabilities": model.predict_proba(X)} if hasattr(model, "predict_proba") else {})


def problems() -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Return a problem full of ties, one of duplicates and one without structure."""
    X, y = grid("ties")
    few, labels = grid("duplicates", n=120, d=2, high=3)
    return [("ties", X, y), ("duplicates", few, labels), ("cloud", *cloud("rows"))]


def _condensed(make: Callable[[], Any], names: Sequence[str], rate: float = 0.0) -> dict[str, Any]:
    out = {}
    for name, X, y in problems():
        model = make().fit(X, hidden(y, name, rate) if rate else y)
        out[name] = attributes(model, names) | answers(model, X[:40] + 0.25)
    return out


@pin("cnn")
def cnn() -> dict[str, Any]:
    """Condensed nearest neighbor, one pass and to the end, every vote, both ways of ties."""
    names = ["kept_", "kept_labels_", "n_iter_"]
    out = {}
    for vote in VOTES:
        out[f"vote={vote}"] = _condensed(lambda v=vote: CondensedNN(n_neighbors=3, vote=v), names)
    for ties in ("first", "all"):
        out[f"ties={ties}"] = _condensed(lambda t=ties: CondensedNN(n_neighbors=1, ties=t, max_passes=None), names)
    return out


@pin("wcnn")
def wcnn() -> dict[str, Any]:
    """Weighted condensed nearest neighbor."""
    return {
        str(least): _condensed(
            lambda c=least: CondensedNN(n_neighbors=3, min_confidence=c, vote="distance"), ["kept_", "kept_labels_"]
        )
        for least in (0.4, 0.75)
    } | {
        "cv": _condensed(
            lambda: CondensedNN(n_neighbors="cv", min_confidence=0.5, random_state=0), ["kept_", "n_neighbors_"]
        )
    }


@pin("scnn")
def scnn() -> dict[str, Any]:
    """Semi-supervised condensed nearest neighbor."""
    names = ["kept_", "kept_labels_", "transduction_", "confidence_", "labeled_iter_", "parent_"]
    return {
        f"{last} {ties}": _condensed(
            lambda f=last, t=ties: SemiSupervisedCondensedNN(final_pass=f, ties=t, pseudo_label_confidence=0.7),
            names,
            0.6,
        )
        for last in ("cnn", "wcnn")
        for ties in ("first", "all")
    }


@pin("nominal")
def nominal() -> dict[str, Any]:
    """Rows in sparse, single-precision and nominal form."""
    import pandas as pd

    X, y = grid("nominal")
    frame = pd.DataFrame({f"c{j}": pd.Categorical(X[:, j].astype(int).astype(str)) for j in range(3)})
    forms = {"sparse": sparse.csr_array(X), "float32": X.astype(np.float32), "frame": frame}
    return {
        name: {
            "cnn": CondensedNN(n_neighbors=2).fit(rows, y).kept_,
            "scnn": SemiSupervisedCondensedNN().fit(rows, hidden(y, "nominal")).kept_,
            "ordinal": OrdinalKNN(n_neighbors=2).fit(rows, hidden(y, "nominal")).order_,
        }
        for name, rows in forms.items()
    }


@pin("ordinal")
def ordinal() -> dict[str, Any]:
    """Ordinal k-NN: the order in which rows are labeled, and their factors."""
    names = ["order_", "distance_factor_", "confidence_", "transduction_", "parent_", "labeled_iter_"]
    settings: dict[str, dict[str, Any]] = {
        "default": {},
        "k=3": {"n_neighbors": 3, "sigma": 0.5},
        "random": {"order": "random", "random_state": 0},
        "cv": {"n_neighbors": "cv", "random_state": 0},
    }
    return {name: _condensed(lambda s=each: OrdinalKNN(**s), names, 0.7) for name, each in settings.items()}


@pin("kernel-pca")
def kernel_pca() -> dict[str, Any]:
    """Kernel PCA of labeled rows, and of all rows."""
    settings: dict[str, dict[str, Any]] = {
        "supervised": {"use_unlabeled": False},
        "semi-supervised": {},
        "rbf": {"kernel": "rbf", "n_components": 6, "vote": "dudani", "n_neighbors": 3, "metric": "cosine"},
        "landmarks": {"kernel": "rbf", "n_landmarks": 20, "n_components": 5, "random_state": 0},
        "cv": {"n_neighbors": "cv", "n_components": "cv", "random_state": 0},
    }
    X, y = cloud("kernel pca", n=80)
    out = {}
    for name, each in settings.items():
        model = KernelPCAClassifier(**each).fit(X, hidden(y, "kernel pca"))
        projected = model.project(X[:25] + 0.1)
        # components may be turned; dot products may not
        products = {"eigenvalues": model.eigenvalues_, "products": projected @ projected.T}
        out[name] = products | attributes(model, ["n_components_", "n_neighbors_"]) | answers(model, X + 0.1)
    return out


@pin("composite-kernel-pca")
def composite_kernel_pca() -> dict[str, Any]:
    """Composite kernel PCA with two margins."""
    X, y = cloud("composite", n=80)
    out = {}
    for margin in (0.05, 0.3):
        model = CompositeKernelPCA(margin=margin, n_neighbors=3, random_state=0).fit(X, hidden(y, "composite"))
        found = {"threshold": model.threshold_, "source": model.predict_source(X + 0.1)}
        out[str(margin)] = found | answers(model, X + 0.1)
    return out


@pin("tri-training")
def tri_training() -> dict[str, Any]:
    """Tri-training around naive Bayes and condensed nearest neighbor."""
    X, y = cloud("tri-training", n=200)
    out = {}
    for admit in ("bounded", "agreed"):
        for name, estimator in (("bayes", GaussianNB()), ("cnn", CondensedNN())):
            model = TriTraining(estimator, random_state=0, admit=admit).fit(X, hidden(y, "tri-training", 0.85))
            found = attributes(model, ["n_iter_", "termination_condition_", "transduction_", "labeled_iter_"])
            out[f"{name} {admit}"] = found | answers(model, X + 0.1)
    return out


@pin("table-methods")
def table_methods() -> dict[str, Any]:
    """Classifiers of rows of numbers, from half of the labels."""
    X, y = cloud("table methods")
    some = hidden(y, "table methods")
    methods = {
        "label-spreading": LabelSpreading(),
        "label-propagation": LabelPropagation(),
        "kernel-ridge": KernelRidgeClassifier(),
        "svm-rbf": KernelSVM(),
        "linear-svm": LinearSVM(),
        "nearest-centroid": NearestMean(),
    }
    out = {name: answers(model.fit(X, some), X + 0.1) for name, model in methods.items()}
    counted = np.round(np.abs(X) * 2)
    out["complement-nb"] = answers(ComplementBayes().fit(counted, some), counted)
    out["ensemble"] = answers(Ensemble(n_trees=20).fit(X, some), X + 0.1)
    return out


# -- linear models ----------------------------------------------------------------------------------------------------


@pin("linear")
def linear() -> dict[str, Any]:
    """Learners of a flat structure: L-BFGS, OWL-QN and both online rules."""
    rng = rng_of("linear")
    X = rng.normal(size=(60, 8)) * (rng.random((60, 8)) < 0.6)
    codes = rng.integers(0, 3, size=60)
    flat = Multiclass(X, 3)
    observed = feature_counts(flat, codes)

    def objective(weights: np.ndarray) -> tuple[float, np.ndarray]:
        log_partition, expected = flat.expected_counts(weights)
        return log_partition - float(weights @ observed), expected - observed

    out: dict[str, Any] = {"objective": objective(rng.normal(size=flat.n_features))}
    for name, penalties in (("l2", {"l2": 0.5}), ("l1", {"l1": 1.0, "l2": 0.1})):
        fitted = minimize(objective, np.zeros(flat.n_features), max_iter=5, **penalties)
        out[name] = {"weights": fitted.weights, "value": fitted.value, "n_iter": fitted.n_iter}
    for algorithm in ("pa", "fobos"):
        rule = OnlineRule(algorithm, aggressiveness=0.3, l1=0.5)
        out[algorithm] = train_online(Multiclass(X, 3), codes, rule, max_passes=3, seed=7).weights
    return out


@pin("chain-kernels")
def chain_pins() -> dict[str, Any]:
    """Forward-backward and Viterbi of a block of sentences."""
    rng = rng_of("chain kernels")
    lengths = [5, 4, 4, 2, 1]
    active = np.array([sum(n > t for n in lengths) for t in range(lengths[0])])
    node = rng.normal(size=(5, 3, 5))
    out = {}
    for name, edge in (("shared", rng.normal(size=(3, 3))), ("own", rng.normal(size=(5, 3, 3, 5)))):
        log_partition, nodes, edges = chain_kernels.forward_backward(node, edge, active)[:3]
        labels, scores = chain_kernels.viterbi(node, edge, active)
        sums = [edges.shape, float(edges.sum()), float((edges * edges).sum())]
        out[name] = {"log_partition": log_partition, "nodes": nodes, "edges": sums, "best": labels, "scores": scores}
    return out


# -- sentences --------------------------------------------------------------------------------------------------------

TREES = make_trees("algorithm trees", 120)
TRAIN, NEW, RAW = TREES[:30], TREES[30:45], TREES[45:]
WORDS, NEW_WORDS, RAW_WORDS = ([tree.tokens for tree in part] for part in (TRAIN, NEW, RAW))
TAGS, NAMES = [tree.tags for tree in TRAIN], [tree.names for tree in TRAIN]
FEW = ["word[0]", "word.suffix2[0]", "b"]


def as_trees(trees: Sequence[Any]) -> list[Tree]:
    """Return trees as the parser takes them."""
    return [Tree(Sentence(tuple(t.tokens), {"xpos": tuple(t.tags)}), tuple(t.heads), tuple(t.labels)) for t in trees]


@pin("crf")
def crf() -> dict[str, Any]:
    """CRF weights after three iterations or passes."""
    settings: dict[str, dict[str, Any]] = {
        "order 1": {"strength": 0.1},
        "order 2": {"strength": 0.1, "order": 2},
        "pos templates": {"templates": "pos", "strength": 0.1},
        "l1": {"penalty": "l1", "strength": 0.3},
        "pa": {"algorithm": "pa"},
        "pa order 2": {"algorithm": "pa", "order": 2},
        "fobos": {"algorithm": "fobos", "strength": 0.05, "constraints": "seen"},
        "iobes": {"encoding": "iobes", "strength": 0.1},
        "iob2": {"constraints": "iob2", "strength": 0.1},
        "hashed": {"hash_bits": 7, "strength": 0.1},
        "types": {"share_types": True, "strength": 0.1},
        "all labels": {"all_labels": True, "min_count": 2, "strength": 0.1},
    }
    out = {}
    for name, each in settings.items():
        spans = name in ("iobes", "iob2", "types", "fobos", "pa order 2")
        tagger = CRF(**{"templates": FEW, "max_iter": 3, **each}).fit(WORDS, NAMES if spans else TAGS)
        # The order of weights is that of an inner layout; their sorted values do not depend on it.
        out[name] = {
            "weights": np.sort(tagger.weights_),
            "n_active": tagger.n_active_,
            "objective": getattr(tagger, "objective_", None),
            "tags": tagger.predict(NEW_WORDS),
            "probabilities": [np.asarray(rows).sum(axis=0) for rows in tagger.predict_proba(NEW_WORDS[:4])]
            if hasattr(tagger, "predict_proba")
            else None,
        }
    tagger = CRF(FEW, strength=0.1, max_iter=3).fit(WORDS, TAGS)
    return out | {"top": [tagger.top_features(label, 5) for label in tagger.classes_]}


@pin("parser")
def parser() -> dict[str, Any]:
    """Parser weights and trees after three passes."""
    settings: dict[str, dict[str, Any]] = {
        "order 1": {},
        "order 2": {"order": 2},
        "crossing": {"projective": False, "single_root": False},
        "lbfgs": {"algorithm": "lbfgs", "strength": 0.1},
        "lbfgs order 2": {"algorithm": "lbfgs", "order": 2, "min_count": 2, "templates": "plain"},
        "fobos": {"algorithm": "fobos", "strength": 0.5, "rounding": 0.0},
        "crossing lbfgs": {"algorithm": "lbfgs", "projective": False},
    }
    known, new = as_trees(TRAIN), [tree.sentence for tree in as_trees(NEW)]
    out = {}
    for name, each in settings.items():
        model = DependencyParser(**{"max_iter": 3, "order": 1, **each}).fit(known)
        heads, labels = model.predict(new)
        out[name] = {
            "weights": np.sort(model.weights_),
            "n_active": model.n_active_,
            "objective": getattr(model, "objective_", None),
            "heads": heads,
            "labels": labels,
        }
    return out


@pin("brown")
def brown() -> dict[str, Any]:
    """Paths of words, and what their clusters tell."""
    out = {}
    for across in (True, False):
        model = BrownClusters(12, min_count=2, across_sentences=across).fit(RAW_WORDS)
        paths = dict(sorted(model.paths_.items()))
        out[f"across={across}"] = {"paths": paths, "information": model.mutual_information_}
    return out


@pin("similarity")
def similarity() -> dict[str, Any]:
    """Nearest words by their contexts."""
    settings: dict[str, dict[str, Any]] = {
        "places": {"n_components": 8},
        "roots": {"n_components": None, "power": 0.5, "min_count": 2},
        "nearby": {"directional": False, "window": 3, "n_components": 5},
    }
    out = {}
    for name, each in settings.items():
        model = ContextSimilarity(30, **each).fit(RAW_WORDS)
        words = sorted(model.vocabulary_)[:12]
        # vectors have single precision: six digits
        near = {w: [(other, round(float(v), 5)) for other, v in model.nearest(w, 5)] for w in words}
        out[name] = {"context": model.context_words_, "words": len(model.vocabulary_), "nearest": near}
    return out


def _records(features: CondensedFeatures) -> list[list[Any]]:
    records = features.features(range(len(features.bins_)))
    rows = [[r.type, r.name, list(r.labels), r.chosen, r.even, r.potency, int(r.bin)] for r in records]
    return sorted(rows, key=repr)[:250]


@pin("condensed-features")
def condensed_features() -> dict[str, Any]:
    """COFER: R, A, V', V* and condensed features of a tagger, a parser and a classifier."""
    base = CRF(FEW, strength=0.1, max_iter=10).fit(WORDS, TAGS)
    out: dict[str, Any] = {}
    settings: dict[str, dict[str, Any]] = {
        "best": {},
        "kept": {"base_step": 0.1, "resolution": 4.0},
    }
    for name, each in settings.items():
        model = CondensedFeatures(base, 0.5, **{"resolution": 2.0, **each}).fit(RAW_WORDS, labeled=WORDS)
        again = model.retrain(WORDS, TAGS, max_iter=3)
        out[f"tagger {name}"] = {
            "records": _records(model),
            "n_condensed": model.n_condensed_,
            "bins": np.sort(model.bins_),
            "potency": np.sort(model.potency_),
            "rows": np.sort(model.transform(WORDS[:6], TAGS[:6]).data),
            "tags": again.predict(NEW_WORDS),
        }
    trees = as_trees(TRAIN)
    for order in (1, 2):
        parsed = DependencyParser(order=order, max_iter=2, min_count=2).fit(trees)
        raw = [tree.sentence for tree in as_trees(RAW[:30])]
        model = CondensedFeatures(parsed, 0.5, 2.0).fit(raw, labeled=trees)
        again = model.retrain(trees, None, algorithm="pa", max_iter=2)
        out[f"parser order {order}"] = {
            "records": _records(model),
            "n_condensed": model.n_condensed_,
            "bins": np.sort(model.bins_),
            "heads": again.predict([tree.sentence for tree in as_trees(NEW)])[0],
        }
    rng = rng_of("condensed rows")
    X, codes = rng.poisson(0.8, size=(80, 7)).astype(float), rng.integers(0, 3, size=80)
    X[np.arange(80), codes] += 1
    flat = CondensedFeatures(LogisticRegression().fit(X[:30], LABELS[codes[:30]]), 0.5, 2.0).fit(X)
    out["rows"] = {"potency": flat.potency_, "bins": flat.bins_, "rows": flat.transform(X[:10])}
    y = LABELS[codes]
    out["classifier"] = answers(CondensedFeatureClassifier(resolution=2.0).fit(X, hidden(y, "condensed rows")), X)
    return out


@pin("prototype-field")
def prototype_field() -> dict[str, Any]:
    """Value, gradient and marginals of the field of prototypes."""
    rng = rng_of("field")
    table = sparse.csr_array((rng.random((8, 6)) < 0.4).astype(float))
    legal = np.ones((8, 3), dtype=bool)
    legal[0, 1:], legal[1, 0] = False, False
    lengths = [1, 3, 5, 2, 7, 4]
    words = rng.integers(0, 8, size=sum(lengths)).astype(np.int32)
    tokens = TokenArrays(words, np.cumsum([0, *lengths]), np.full(len(words), -1, dtype=np.int32))
    out = {}
    for order in (1, 2):
        field = PrototypeField(table, legal, order)
        weights = rng_of(f"field {order}").normal(size=field.size)
        value, gradient, marginals = field.objective(weights, tokens)
        out[f"order {order} histogram"] = {"value": value, "gradient": gradient, "marginals": marginals}
    return out


@pin("prototypes")
def prototypes() -> dict[str, Any]:
    """Prototype taggers after a few iterations, with and without links."""
    lists = {tag: words[:3] for tag, words in make_lexicon().items()}
    links = ContextSimilarity(30, n_components=8).fit(RAW_WORDS)
    out = {}
    for name, each in {
        "order 1": {"order": 1, "similarity": links},
        "order 2": {"order": 2},
        "sticky": {"order": 1, "sticky": 2.0},
    }.items():
        model = PrototypeTagger(lists, max_iter=4, **each).fit(RAW_WORDS)
        out[name] = {"weights": np.sort(model.weights_), "links": model.links_, "objective": model.objective_}
        out[name]["tags"] = model.predict(NEW_WORDS)
    return out


@pin("stacked")
def stacked() -> dict[str, Any]:
    """Stacked tagger: condensed nearest neighbor over the tags of a CRF and clusters."""
    clusters = BrownClusters(12).fit(RAW_WORDS)
    model = StackedTagger(CRF(FEW, strength=0.1, max_iter=5), SemiSupervisedCondensedNN(), clusters=clusters)
    model.fit(WORDS, TAGS, unlabeled=RAW_WORDS[:20])
    return {"tags": model.predict(NEW_WORDS), "kept": model.classifier_.kept_}


@pin("senses")
def senses() -> dict[str, Any]:
    """Every method of senses on two words."""
    contexts = make_senses("algorithm senses", 30)
    known = [
        Occurrence(c.word, f"{c.word}.{k}", tuple(c.tokens), c.target, senses=(c.sense,) if k % 3 else ())
        for k, c in enumerate(contexts)
    ]
    new = [Occurrence(c.word, f"new.{k}", tuple(c.tokens), c.target) for k, c in enumerate(make_senses("new", 10))]
    methods = ["kernel-pca", "semi-supervised-kernel-pca", "composite-kernel-pca", "naive-bayes", "maximum-entropy"]
    out: dict[str, Any] = {"words": sorted(SENSES)}
    for method in [*methods, "linear-svm", "most-frequent"]:
        out[method] = SenseClassifier(method).fit(known).predict(new)
    return out


# -- draws and tests --------------------------------------------------------------------------------------------------


@pin("generators")
def generators() -> dict[str, Any]:
    """The samples that handful makes itself, as hashes of their content."""
    moons, gaussians = make_two_moons(random_state=0), make_two_gaussians(random_state=0)
    trees = make_tagged_sentences(60, random_state=0)
    ads = make_apartment_ads(20, random_state=0)
    contexts = make_sense_contexts(n_labeled=20, n_unlabeled=10, random_state=0)
    return {
        "moons": moons[0],
        "gaussians": gaussians[0],
        "sentences": text_hash([(t.sentence.tokens, dict(t.sentence.columns), t.heads, t.labels) for t in trees]),
        "ads": text_hash([(ad.tokens, dict(ad.columns)) for ad in ads]),
        "senses": text_hash([(o.word, o.tokens, o.target, o.senses) for o in contexts]),
    }


@pin("evaluation")
def evaluation() -> dict[str, Any]:
    """Draws of few labels, and tests of differences."""
    rng = rng_of("evaluation")
    first, second = rng.random(200) < 0.8, rng.random(200) < 0.7
    differences = rng.normal(0.02, 0.03, size=10)
    said = NAMES[:20]
    wrong = [["O" if k % 5 == 0 else tag for k, tag in enumerate(tags)] for tags in said]
    overall = chunk_f1(said, wrong).overall
    return {
        "few_labels": few_labels(rng.integers(0, 3, size=100), 12, rng_of("few labels")),
        "mcnemar": mcnemar(first, second),
        "paired t": corrected_paired_t(differences, 40, 10),
        "holm": holm(np.array([0.01, 0.04, 0.03, 0.2])),
        "chunks": [overall.n_gold, overall.n_predicted, overall.n_correct],
    }
