"""Pages of methods for the manual, made from the registry."""

from __future__ import annotations

import inspect
from pathlib import Path

from handful.registry import MethodSpec, all_methods

TASKS = {
    "table": "Tables and texts",
    "sentences": "Sentences",
    "trees": "Trees",
    "text": "Raw text",
    "occurrences": "Word senses",
}


def write_method_pages(folder: Path) -> None:
    """Write one page for each task, with what the registry says about every method."""
    folder.mkdir(exist_ok=True)
    for task, title in TASKS.items():
        parts = [f"# {title}: methods\n", "Made from the registry; `handful methods` prints the same list.\n"]
        parts += [_section(spec) for spec in all_methods(task)]  # type: ignore[arg-type]
        text = "\n".join(parts)
        page = folder / f"{task}.md"
        if not page.exists() or page.read_text() != text:
            page.write_text(text)


def _section(spec: MethodSpec) -> str:
    facts = [f"* Uses unlabeled data: {'yes' if spec.uses_unlabeled else 'no'}."]
    if spec.supervised_control:
        facts.append(f"* Supervised control: `{spec.supervised_control}`.")
    if spec.grid:
        tried = "; ".join(f"`{name}` {', '.join(map(str, values))}" for name, values in spec.grid.items())
        facts.append(f"* Values that are tried: {tried}.")
    if spec.task == "table":
        facts.append(f"* Cost of a fit: {spec.cost}.")
    if spec.paper:
        facts.append(f"* Paper: {spec.paper} (see [the papers](../papers.md)).")
    if spec.cls is not None and spec.cls.__module__.startswith("handful"):
        facts.append(f"* Class: `{spec.cls.__module__}.{spec.cls.__qualname__}`.")
    return "\n".join([f"## {spec.name}\n", f"{spec.summary}\n", _use_of(spec), *facts, ""])


def _use_of(spec: MethodSpec) -> str:
    """Return the paragraph of the docstring on when to use a method."""
    paragraphs = (inspect.getdoc(spec.cls) or "").split("\n\n") if spec.cls is not None else []
    use = next((p for p in paragraphs if p.startswith("Use it")), "")
    return use.replace("\n", " ") + "\n" if use else ""
