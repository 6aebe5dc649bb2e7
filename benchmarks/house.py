"""Count how easy the house is to find one's way in: `python benchmarks/house.py [--json] [--source FOLDER]`.

Standard library only. What each figure counts:

* Modules: all files but ``__init__.py`` and ``__main__.py``, which only open a package.
* Lines of a module: blank ones and docstrings too; the median over modules. Beside it the share of lines that are docstrings.
* Parameters: of every function and method except ``__init__`` (which scikit-learn's manner makes long), without ``self``
  and ``cls``. Kernels that take a named tuple are set aside: they have bundled what belongs together already.
* Cyclomatic complexity (McCabe 1976): 1, and 1 more for every ``if``, ``elif``, conditional expression, loop, ``except``,
  ``case`` with a pattern, ``assert``, every ``and`` and ``or``, and every ``for`` and ``if`` of a comprehension. Functions
  inside functions are counted on their own.
* Importers of a module: modules of handful that import it or a name out of it, anywhere in the file. A package that loads
  lazily imports what its stub ``__init__.pyi`` names: those lines stood in ``__init__.py`` before. A catalogue that names a
  module in a string does not import it.
* Functions passed: distinct functions of handful that one command calls on tiny generated data (a named method is fitted to
  the table, so that no race is counted before or after), kernels (machine code),
  import-time code and comprehensions aside. Changes of room: with these functions in the order of their first call, how
  often the next one lives in another package of handful.
* Modules loaded: modules of handful in memory after that command has fitted one named method to a table.

A commit of the past is measured by ``git worktree add /tmp/past COMMIT`` and ``--source /tmp/past/src``.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

Function = ast.FunctionDef | ast.AsyncFunctionDef

AIMS: dict[str, str] = {
    "median module, lines": "120",
    "functions with more than 8 parameters": "12",
    "functions with complexity over 10, %": "3",
    "modules with exactly one importer": "40",
    "fit of a table: functions / changes of room": "90 / 20",
    "fit tagger: functions / changes of room": "110 / 30",
    "condense: functions / changes of room": "160 / 45",
    "modules loaded to fit one named method": "60",
}
JOURNEYS = {
    "fit of a table": [
        "fit",
        "table",
        "rows.csv",
        "--target",
        "label",
        "--method",
        "condensed-nn",
        "--model",
        "rows.handful",
    ],
    "fit tagger": ["fit", "tagger", "tagged.tsv", "--dev", "tagged.tsv", "--model", "tags.handful"],
    "condense": ["condense", "tags.handful", "tagged.tsv", "raw.txt", "--dev", "tagged.tsv", "-o", "small.handful"],
}


def count_text(package: Path) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Return the figures that the source text alone gives, and the places behind them."""

    def place(path: Path, node: Function) -> str:
        return f"{path.relative_to(package)}:{node.lineno} {node.name}"

    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(package.rglob("*.py"))}
    lines = [len(path.read_text(encoding="utf-8").splitlines()) for path in trees if _is_module(path)]
    functions = [(path, node) for path, tree in trees.items() for node in ast.walk(tree) if isinstance(node, Function)]
    tuples = {node.name for tree in trees.values() for node in ast.walk(tree) if _is_named_tuple(node)}
    long = [(path, node) for path, node in functions if node.name != "__init__" and n_parameters(node) > 8]
    bundled = [node for path, node in long if "kernels" in path.parts and tuples & _annotations(node)]
    tangled = [(path, node) for path, node in functions if complexity(node) > 10]
    importers = count_importers(package, trees)
    lonely = [path for path, users in importers.items() if len(users) == 1 and _is_module(path)]
    documented = sum(map(docstring_lines, (tree for path, tree in trees.items() if _is_module(path))))
    return {
        "modules": len(lines),
        "median module, lines": statistics.median(lines),
        "lines of docstrings, %": round(100 * documented / sum(lines)),
        "functions": len(functions),
        "functions with more than 8 parameters": len(long) - len(bundled),
        "kernels with more, one of them a named tuple": len(bundled),
        "functions with complexity over 10, %": round(100 * len(tangled) / len(functions), 1),
        "modules with exactly one importer": len(lonely),
    }, {
        "functions with more than 8 parameters": [place(*one) for one in long if one[1] not in bundled],
        "functions with complexity over 10, %": [place(*one) for one in tangled],
        "modules with exactly one importer": [str(path.relative_to(package)) for path in lonely],
    }


def _is_module(path: Path) -> bool:
    return path.name not in ("__init__.py", "__main__.py")


def _is_named_tuple(node: ast.AST) -> bool:
    return isinstance(node, ast.ClassDef) and any(ast.unparse(base) == "NamedTuple" for base in node.bases)


def _annotations(node: Function) -> set[str]:
    given = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    return {ast.unparse(a.annotation) for a in given if a.annotation is not None}


def docstring_lines(tree: ast.Module) -> int:
    """Count the lines of all docstrings of a module."""
    owners = [node for node in ast.walk(tree) if isinstance(node, Function | ast.ClassDef | ast.Module)]
    texts = [node.body[0] for node in owners if ast.get_docstring(node, clean=False) is not None]
    return sum((text.end_lineno or text.lineno) - text.lineno + 1 for text in texts)


def n_parameters(node: Function) -> int:
    """Count the parameters that a caller may give."""
    given = node.args
    names = [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len([name for name in names if name not in ("self", "cls")]) + bool(given.vararg) + bool(given.kwarg)


def complexity(node: Function) -> int:
    """Count the ways through a function, as McCabe does."""
    return 1 + sum(map(_branches, _own_nodes(node)))


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, Function | ast.ClassDef):
            yield child
            yield from _own_nodes(child)


def _branches(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    if isinstance(node, ast.match_case):
        return not (isinstance(node.pattern, ast.MatchAs) and node.pattern.pattern is None)
    kinds = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.Assert)
    return isinstance(node, kinds)


def count_importers(package: Path, trees: dict[Path, ast.Module]) -> dict[Path, set[str]]:
    """Return the modules that import each file."""
    names = {path: _module_name(package, path) for path in trees}
    known = set(names.values())
    importers: dict[str, set[str]] = defaultdict(set)
    for path, tree in trees.items():
        stub = path.with_suffix(".pyi")
        written = [tree, ast.parse(stub.read_text(encoding="utf-8"))] if stub.exists() else [tree]
        is_package = path.name == "__init__.py"
        for target in (name for each in written for name in _imported(each, names[path], is_package)):
            while target and target not in known:
                target = target.rpartition(".")[0]
            if target and target != names[path]:
                importers[target].add(names[path])
    return {path: importers[name] for path, name in names.items()}


def _imported(tree: ast.Module, here: str, is_package: bool) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = here.split(".")[: len(here.split(".")) - node.level + is_package] if node.level else []
            base = ".".join([*parents, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _module_name(package: Path, path: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def write_data(folder: Path) -> None:
    """Make a small table, tagged sentences and raw text."""
    draw = random.Random(0)
    rows = ["height,width,shape,label"]
    for number in range(60):
        kind = number % 2
        label = ("no", "yes")[kind] if number < 30 else ""
        rows.append(f"{draw.gauss(2 * kind, 1):.3f},{draw.gauss(-kind, 1):.3f},{draw.choice('xyz')},{label}")
    (folder / "rows.csv").write_text("\n".join(rows) + "\n")
    words = {"D": ["the", "a"], "N": ["dog", "cat", "house"], "V": ["sees", "runs"]}
    sentences = [[(draw.choice(words[t]), t) for t in draw.choice(["DNV", "DNVDN", "NV"])] for _ in range(60)]
    tagged = ["".join(f"{word}\t{tag}\n" for word, tag in sentence) for sentence in sentences[:30]]
    (folder / "tagged.tsv").write_text("\n".join(tagged) + "\n")
    (folder / "raw.txt").write_text("\n".join(" ".join(w for w, _ in sentence) for sentence in sentences[30:]) + "\n")


def follow(arguments: list[str]) -> dict[str, Any]:
    """Run one command in this process and tell what it passed through; called in a process of its own."""
    import handful
    from handful.cli import main

    root = str(Path(handful.__file__).parent) + os.sep
    passed: dict[Any, str] = {}

    def watch(frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or code in passed or not code.co_filename.startswith(root):
            return
        if code.co_name in ("<module>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"):
            return
        outer = frame.f_back
        while outer is not None:
            if outer.f_code.co_name == "<module>" and outer.f_code.co_filename.startswith(root):
                return  # decorators and the like, while a module is imported
            outer = outer.f_back
        passed[code] = code.co_filename.removeprefix(root).split(os.sep)[0]

    answer = None
    sys.setprofile(watch)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            main(arguments)
    except SystemExit as done:
        answer = done.code
    finally:
        sys.setprofile(None)
    rooms = list(passed.values())
    return {
        "exit": answer,
        "functions": len(rooms),
        "changes": sum(one != other for one, other in pairwise(rooms)),
        "modules": sum(n.startswith("handful.") and not hasattr(m, "__path__") for n, m in sys.modules.items()),
    }


def count_journeys(package: Path) -> dict[str, Any]:
    """Return the figures of commands that run."""
    figures: dict[str, Any] = {}
    environment = {**os.environ, "PYTHONPATH": str(package.parent)}
    with tempfile.TemporaryDirectory() as folder:
        write_data(Path(folder))
        for name, arguments in JOURNEYS.items():
            command = [sys.executable, str(Path(__file__).resolve()), "--follow", *arguments]
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
            try:
                told = json.loads(done.stdout)
            except ValueError:
                told = {"exit": "no answer"}
            if told["exit"] != 0:
                raise SystemExit(f"house: 'handful {' '.join(arguments)}' failed: {done.stderr.strip()[-300:]}")
            figures[f"{name}: functions / changes of room"] = f"{told['functions']} / {told['changes']}"
            if name == "fit of a table":
                figures["modules loaded to fit one named method"] = told["modules"]
    return figures


def main() -> None:
    """Print the figures beside the aims."""
    if sys.argv[1:2] == ["--follow"]:
        print(json.dumps(follow(sys.argv[2:])))
        return
    parser = argparse.ArgumentParser(description="Figures of the source tree, beside the aims.")
    parser.add_argument(
        "--source", type=Path, default=Path(__file__).parents[1] / "src", help="Folder with handful in it."
    )
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    parser.add_argument("--places", action="store_true", help="Name the functions and modules that are counted.")
    parser.add_argument("--quick", action="store_true", help="Taken as every benchmark does; this one is quick.")
    given = parser.parse_args()
    package = given.source.resolve() / "handful"
    figures, places = count_text(package)
    figures |= count_journeys(package)
    if given.json:
        print(json.dumps({"figures": figures, "aims": AIMS, "places": places}, indent=2))
        return
    print(f"{'':48}{'now':>10}{'aim':>10}")
    for name in [*AIMS, *(name for name in figures if name not in AIMS)]:
        print(f"{name:48}{figures[name]!s:>10}{AIMS.get(name, '-'):>10}")
    for name, listed in places.items() if given.places else ():
        print(f"\n{name}", *listed, sep="\n  ")


if __name__ == "__main__":
    main()
