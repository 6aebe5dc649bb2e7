"""A text in a real browser: the board, tags that change, spans by mouse and keys, kill -9, a phone, axe."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from studio_browser import findings, sideways

pytestmark = pytest.mark.browser


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """Sentences of a few words, with a hostile one."""
    rng = random.Random(0)
    lines = [
        f"{rng.choice(['the', 'a'])} {rng.choice(['dog', 'cat', 'horse', 'bird'])} {rng.choice(['barks', 'sleeps', 'runs'])} "
        f"{rng.choice(['loudly', 'often'])} ."
        for _ in range(150)
    ]
    lines.insert(3, "<script>alert(1)</script> <img/src=x/onerror=alert(1)> \u202eevil often .")
    path = tmp_path / "talk.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def put(page, label, word):
    """Type a word into a column."""
    page.locator(f'[data-column="{label}"] input').fill(word)
    page.keyboard.press("Enter")
    page.locator(f'[data-column="{label}"] .chip:not(.maybe)[data-word="{word}"]').wait_for()


def place_of(page, selector):
    """Return where something is drawn, which may be drawn anew just now."""
    for _ in range(100):
        if box := page.locator(selector).bounding_box():
            return box
        page.wait_for_timeout(50)
    raise AssertionError(f"{selector} is not on the page")


def name(page, label):
    page.keyboard.press("n")
    page.keyboard.type(label)
    page.keyboard.press("Enter")


def test_prototypes_from_raw_text_and_tags_that_change(text, serve, visit):
    page = visit(serve(text).link)
    page.locator("#board-text", has_text="There is no label yet").wait_for()
    page.locator("#uncovered .chip").first.wait_for()
    for label in ("D", "N", "V"):
        name(page, label)
        page.locator(f'[data-column="{label}"]').wait_for()
        page.locator("#work").focus()
    put(page, "D", "the")
    put(page, "N", "dog")
    put(page, "V", "barks")
    page.locator("#sample .token[data-tag]").first.wait_for()
    page.locator("#model", has_text="3 words of 3 labels").wait_for()
    page.locator("#uncovered .chip[data-word='.']").click()  # pressed in, by way of a question
    page.locator("#where button", has_text="V").click()
    page.locator('[data-column="V"] .chip:not(.maybe)[data-word="."]').wait_for()
    page.locator("#model", has_text="4 words of 3 labels").wait_for()
    page.locator('[data-column="V"] .chip[data-word="."]').drag_to(page.locator('[data-column="D"]'))
    page.locator('[data-column="D"] .chip:not(.maybe)[data-word="."]').wait_for()
    page.locator("#sample .token.changed").first.wait_for()
    page.locator("#sample-text", has_text="the last edit changed them").wait_for()
    assert page.locator("#sample .token.changed", has_text=".").first.get_attribute("data-tag") == "D"
    page.locator("#coverage .big").wait_for()
    page.get_by_role("button", name="Words", exact=True).click()
    page.locator("#exported", has_text="talk.prototypes.tsv").wait_for()
    assert (text.parent / "talk.prototypes.tsv").read_text().splitlines()[0].split() == ["D", "the", "."]
    page.locator("#work").focus()
    page.keyboard.press("z")
    page.locator('[data-column="V"] .chip:not(.maybe)[data-word="."]').wait_for()


def test_spans_by_mouse_and_keyboard_corrections_teach_and_nothing_is_lost(text, serve, visit):
    server = serve(text, "--spans")
    page = visit(server.link)
    page.get_by_role("tab", name="Sentences").click()
    first = page.locator("#item").get_attribute("data-row")
    box = [place_of(page, f"#token-{at}") for at in (1, 2)]
    page.mouse.move(box[0]["x"] + 5, box[0]["y"] + 5)
    page.mouse.down()
    page.mouse.move(box[1]["x"] + 8, box[1]["y"] + 5)
    page.mouse.up()
    assert page.locator("#tokens [aria-selected=true]").count() == 2
    name(page, "WHO DOES")
    page.locator('#token-1[data-tag="B-WHO DOES"]').wait_for()
    page.locator('#token-2[data-tag="I-WHO DOES"]').wait_for()
    page.keyboard.press("ArrowLeft")  # from the last token chosen to one alone
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Backspace")  # the span is cut
    page.locator("#token-2:not([data-tag])").wait_for()
    page.keyboard.press("Enter")
    page.locator("#count", has_text="1 of").wait_for()
    page.locator(f'#item:not([data-row="{first}"])').wait_for()
    for n in range(2, 4):
        page.keyboard.press("ArrowRight")
        page.keyboard.press("1")
        page.locator('#token-1[data-tag="B-WHO DOES"]:not(.suggestion)').wait_for()
        page.keyboard.press("Enter")
        page.locator("#count", has_text=f"{n} of").wait_for()
    page.locator("#model", has_text="CRF from 3 tagged sentences").wait_for()
    for _ in range(10):  # random sentences come without a suggestion
        if page.locator("#item-text", has_text="Chosen at random").count():
            page.keyboard.press("s")
            page.wait_for_timeout(300)
    page.locator('#token-1.suggestion[data-tag="B-WHO DOES"]').wait_for()
    assert findings(page) == []
    page.keyboard.press("ArrowDown")  # the next span, as a whole
    page.locator('#token-1[aria-selected="true"]').wait_for()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    page.keyboard.press(" ")  # the token alone
    page.locator('#token-1[data-tag="B-WHO DOES"]:not(.suggestion)').wait_for()
    server.kill()
    page.close()
    visit.forgive()
    page = visit(serve(text, "--spans").link)
    page.locator("#count", has_text="3 of").wait_for()
    page.get_by_role("button", name="Tags", exact=True).click()
    page.locator("#exported", has_text="talk.tags.tsv").wait_for()
    written = (text.parent / "talk.tags.tsv").read_text(encoding="utf-8")
    assert written.count("B-WHO DOES") == 3
    page.keyboard.press("z")  # undo survives
    page.locator("#said", has_text="Undone").wait_for()
    page.keyboard.press("z")
    page.locator("#count", has_text="2 of").wait_for()


def test_axe_finds_nothing_serious_and_a_phone_is_wide_enough(text, tmp_path, serve, visit):
    lists = tmp_path / "list.tsv"
    lists.write_text("D\tthe a\nN\tdog cat\nV\tbarks\n")
    page = visit(serve(text, "--prototypes", lists).link, width=390, reduced_motion="reduce")
    page.locator("#sample .token[data-tag]").first.wait_for()
    page.locator("#unsure .chip").first.wait_for()
    for tab in ("Words", "Sentences"):
        page.get_by_role("tab", name=tab).click()
        assert sideways(page) <= 0
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert findings(page) == []


def test_a_frequent_word_can_be_dragged_to_the_last_of_many_labels(text, serve, visit):
    page = visit(serve(text).link)
    page.locator("#uncovered .chip").first.wait_for()
    labels = [f"L{number}" for number in range(16)]
    for label in labels:
        name(page, label)
        page.locator(f'[data-column="{label}"]').wait_for()
    last = page.locator(f'[data-column="{labels[-1]}"]')
    last.locator("input").scroll_into_view_if_needed()
    page.wait_for_timeout(500)
    word, column = page.locator('#uncovered [data-word="often"]').bounding_box(), last.bounding_box()
    assert word["y"] > 0
    page.mouse.move(word["x"] + 5, word["y"] + 5)
    page.mouse.down()
    page.mouse.move(column["x"] + 20, column["y"] + 20, steps=6)
    page.mouse.up()
    last.locator('.chip[data-word="often"]').wait_for()
