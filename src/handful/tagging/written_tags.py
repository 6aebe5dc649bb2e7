"""Labels that a tagger learned, as the tags that people wrote: one that knows the ends of spans may write in another scheme."""

from __future__ import annotations

from collections.abc import Sequence


def written_tag(label: str, scheme: str | None) -> str:
    """Return the tag that a label is usually written as.

    Parameters
    ----------
    label : str
        A label that was learned, such as ``S-PER``.
    scheme : str or None
        Scheme of the tags of the training file; None where labels are what was written.

    Examples
    --------
    >>> written_tag("S-PER", "IOB2"), written_tag("E-PER", "IOB2"), written_tag("B-PER", "IOB1"), written_tag("NN", None)
    ('B-PER', 'I-PER', 'I-PER', 'NN')
    """
    role, dash, kind = label.partition("-")
    if not dash or scheme not in ("IO", "IOB1", "IOB2"):
        return label
    written = {"S": "B", "E": "I"}.get(role, role) if scheme == "IOB2" else "I"
    return f"{written}-{kind}"


def speakers(tag: str, labels: Sequence[str], scheme: str | None) -> list[int]:
    """Return which labels of a tagger are written as a tag.

    Parameters
    ----------
    tag : str
        A tag of the training file.
    labels : sequence of str
        The labels that were learned.
    scheme : str or None
        As for `written_tag`.

    Returns
    -------
    list of int
        Their places.

    Examples
    --------
    >>> speakers("B-PER", ["B-PER", "E-PER", "I-PER", "O", "S-PER"], "IOB2")
    [0, 4]
    """
    prefix, dash, kind = tag.partition("-")
    rewritten = dash and scheme != "IOBES" and any(label.startswith(("S-", "E-")) for label in labels)
    if not rewritten:
        return [labels.index(tag)] if tag in labels else []
    roles = "BIES" if scheme in ("IO", "IOB1") else {"B": "BS", "I": "IE"}.get(prefix, prefix)
    return [number for number, label in enumerate(labels) if label in {f"{role}-{kind}" for role in roles}]
