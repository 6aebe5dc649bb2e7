"""The counting of conlleval, literally: one pass over tokens with the start and end rules of the script.

Written from the published description of the script (CoNLL-2000 and later), with the rules for E and S that its
later versions have. Sentences are separated by a boundary token with the tags O and O, which is not counted.
"""

from __future__ import annotations

from collections import defaultdict


def _split(tag):
    mark, hyphen, kind = tag.partition("-")
    return (mark, kind) if hyphen else (tag, "")


def end_of_chunk(previous_tag, tag, previous_type, kind):
    chunk_end = False
    if previous_tag == "E":
        chunk_end = True
    if previous_tag == "S":
        chunk_end = True
    if previous_tag == "B" and tag == "B":
        chunk_end = True
    if previous_tag == "B" and tag == "S":
        chunk_end = True
    if previous_tag == "B" and tag == "O":
        chunk_end = True
    if previous_tag == "I" and tag == "B":
        chunk_end = True
    if previous_tag == "I" and tag == "S":
        chunk_end = True
    if previous_tag == "I" and tag == "O":
        chunk_end = True
    if previous_tag != "O" and previous_type != kind:
        chunk_end = True
    return chunk_end


def start_of_chunk(previous_tag, tag, previous_type, kind):
    chunk_start = False
    if tag == "B":
        chunk_start = True
    if tag == "S":
        chunk_start = True
    if previous_tag == "E" and tag == "E":
        chunk_start = True
    if previous_tag == "E" and tag == "I":
        chunk_start = True
    if previous_tag == "S" and tag == "E":
        chunk_start = True
    if previous_tag == "S" and tag == "I":
        chunk_start = True
    if previous_tag == "O" and tag == "E":
        chunk_start = True
    if previous_tag == "O" and tag == "I":
        chunk_start = True
    if tag != "O" and previous_type != kind:
        chunk_start = True
    return chunk_start


def count(gold, predicted):
    """Return counts overall and by type (gold, predicted, correct chunks), correct tags and tokens."""
    found_correct = defaultdict(int)
    found_guessed = defaultdict(int)
    correct_chunk = defaultdict(int)
    correct_tags = tokens = 0
    in_correct = False
    last_correct, last_correct_type = "O", ""
    last_guessed, last_guessed_type = "O", ""
    for gold_tags, guessed_tags in zip(gold, predicted, strict=True):
        pairs = [*zip(gold_tags, guessed_tags, strict=True), None]
        for pair in pairs:
            correct_tag, guessed_tag = pair if pair is not None else ("O", "O")
            correct, correct_type = _split(correct_tag)
            guessed, guessed_type = _split(guessed_tag)
            end_correct = end_of_chunk(last_correct, correct, last_correct_type, correct_type)
            end_guessed = end_of_chunk(last_guessed, guessed, last_guessed_type, guessed_type)
            start_correct = start_of_chunk(last_correct, correct, last_correct_type, correct_type)
            start_guessed = start_of_chunk(last_guessed, guessed, last_guessed_type, guessed_type)
            if in_correct:
                if end_correct and end_guessed and last_guessed_type == last_correct_type:
                    in_correct = False
                    correct_chunk[last_correct_type] += 1
                elif end_correct != end_guessed or guessed_type != correct_type:
                    in_correct = False
            if start_correct and start_guessed and guessed_type == correct_type:
                in_correct = True
            if start_correct:
                found_correct[correct_type] += 1
            if start_guessed:
                found_guessed[guessed_type] += 1
            if pair is not None:
                if correct == guessed and guessed_type == correct_type:
                    correct_tags += 1
                tokens += 1
            last_correct, last_correct_type = correct, correct_type
            last_guessed, last_guessed_type = guessed, guessed_type
    kinds = sorted({*found_correct, *found_guessed})
    by_type = {kind: (found_correct[kind], found_guessed[kind], correct_chunk[kind]) for kind in kinds}
    overall = tuple(sum(values) for values in zip(*by_type.values(), strict=True)) if by_type else (0, 0, 0)
    return overall, by_type, correct_tags, tokens


def ratios(n_gold, n_predicted, n_correct):
    precision = 100 * n_correct / n_predicted if n_predicted > 0 else 0
    recall = 100 * n_correct / n_gold if n_gold > 0 else 0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0
    return precision, recall, f1
