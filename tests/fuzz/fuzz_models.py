"""Load and ask changed model files; prints a line of JSON for each model.

Run by `run_models.py` as a child, because a file that breaks the process must not break the fuzzer.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from handful.errors import HandfulError
from handful.persistence.model_file import MAGIC
from handful.persistence.model_file import load as load_model
from handful.registry import find_class

sys.path.insert(0, str(Path(__file__).parent))
from pressing import Subject
from subjects import classes_in, shares, subjects

_MEMORY = 8 << 30  # bytes: a file that asks for more would take the machine's
_SECONDS = 30  # of CPU: a kernel may have to be compiled, and the machine may be busy


def bytes_of(kind: str, state: object, arrays: dict) -> bytes:
    import hashlib
    import struct

    from safetensors.numpy import save

    text = json.dumps({"kind": kind, "state": state, "written_by": "fuzz"}).encode()
    block = save(arrays)
    head = struct.pack("<8sIIQQ", MAGIC, 2, 0, len(text), len(block))
    return head + hashlib.sha256(head + text + block).digest() + text + block


def too_slow(*_: object) -> None:
    raise TimeoutError


def load(path: Path, kind: str) -> object:
    if kind == "feature-counts":
        from handful.representations.counts import FeatureCounts

        return FeatureCounts.load(path)
    return load_model(path, find_class)


def fuzz(name: str, model: Any, ask: Any, first: int, end: int, mark: Any) -> None:
    """Try the files from `first` to `end` of one model; which one is at hand stands in the file `mark`."""
    subject = Subject(model)
    ask(model)  # compiles what it needs
    outcomes: Counter[str] = Counter()
    unclean: dict[str, int] = {}
    started = time.process_time()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        path = Path(folder) / "model.handful"
        for number in range(first, end):
            try:
                content = bytes_of(subject.kind, *subject.changed(random.Random(f"{name} {number}")))
            except (TypeError, ValueError, OverflowError, KeyError):
                outcomes["cannot be written"] += 1
                continue
            path.write_bytes(content)
            mark.seek(0)
            mark.write(json.dumps({"name": name, "number": number, "outcomes": outcomes, "unclean": unclean}) + "\n")
            mark.truncate()
            mark.flush()
            signal.setitimer(signal.ITIMER_PROF, _SECONDS)
            stage = "load"
            try:
                with contextlib.redirect_stdout(None):
                    loaded = load(path, subject.kind)
                    stage = "ask"
                    ask(loaded)
                outcomes["answered"] += 1
            except HandfulError:
                outcomes["refused" if stage == "load" else "refused when asked"] += 1
            except Exception as error:  # what is looked for
                outcomes["unclean"] += 1
                unclean.setdefault(f"{stage}: {told(error)}", number)
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
    seconds = round(time.process_time() - started, 1)
    line = {"name": name, "classes": sorted(classes_in(model)), "outcomes": outcomes, "unclean": unclean}
    print(json.dumps({**line, "seconds": seconds}), flush=True)


def told(error: Exception) -> str:
    """Return what went wrong, and where."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/handful/" in frame.filename][-1]
    where = f"{ours.filename.rpartition('/handful/')[2]}:{ours.lineno}"
    return f"{type(error).__name__} {str(error)[:80]} in {where} ({frames[-1].name})"


def main(begin: int, end: int, mark_path: str, first_name: str, first: int, part: int, parts: int) -> None:
    """Try the files from `begin` to `end` of every class, shared among its models, or go on from one of them."""
    signal.signal(signal.SIGPROF, too_slow)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    warnings.simplefilter("ignore")
    found = subjects()
    share = shares((name, model) for name, (model, _) in found.items())
    names = list(found)[part::parts]
    with open(mark_path, "w") as mark:
        for name in names[names.index(first_name) if first_name else 0 :]:
            own_begin, own_end = (math.ceil(share[name] * number) for number in (begin, end))
            fuzz(name, *found[name], first if name == first_name else own_begin, own_end, mark)


if __name__ == "__main__":
    begin, end, mark, name, *rest = sys.argv[1:]
    main(int(begin), int(end), mark, name, *map(int, rest))
