"""A table in a real browser: keys, undo, reload, kill -9, export; hostile cells; two tabs; axe; a phone."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pytest
from studio_browser import findings, sideways

pytestmark = pytest.mark.browser

HOSTILE = [
    "<script>document.title='in'</script>",
    "<img src=x onerror=alert(1)>",
    "\"'`;--></textarea>",
    "\u202egnp.evil\u202c \u2067x",
    "{{7*7}} ${alert(1)} javascript:alert(1)",
]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Two clear groups, even and odd rows."""
    path = tmp_path / "two groups.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["x", "y", "class"])
        out.writerows([i % 2 * 5 + i % 7 / 10, i % 2 * 3 + i % 5 / 10, ""] for i in range(80))
    return path


def row(page: Any) -> int:
    """Number of the row on the page."""
    return int(page.locator("#item").get_attribute("data-row"))


def press(page: Any, key: str) -> None:
    """Press a key and wait for the next row."""
    before = page.locator("#item").get_attribute("data-row")
    page.keyboard.press(key)
    page.locator(f'#item:not([data-row="{before}"])').wait_for()


def press_and_save(page: Any, key: str) -> None:
    """Press a key and wait until the server has saved the action; the page itself does not wait for it."""
    with page.expect_response(lambda response: response.request.method == "POST") as reply:
        page.keyboard.press(key)
    reply.value.finished()


def name_labels(page: Any, *names: str) -> None:
    """Make labels, the first for the row on the page, the others for the next ones."""
    for name in names:
        before = row(page)
        page.keyboard.press("n")
        page.keyboard.type(name)
        page.keyboard.press("Enter")
        page.locator(f'#item:not([data-row="{before}"])').wait_for()


def keys_of(page: Any) -> dict[str, str]:
    """Key of each label, as its button shows it."""
    return {name: page.locator(f'[data-label="{name}"] kbd').inner_text() for name in ("low", "high")}


def labeled(page: Any, n: int) -> None:
    """Wait until so many rows have labels."""
    page.locator("#count", has_text=f"{n} of").wait_for()


def test_twenty_rows_by_keyboard_undo_reload_kill_and_go_on(table, serve, visit):
    before = table.read_bytes()
    server = serve(table, "--target", "class")
    page = visit(server.link)
    name_labels(page, "low", "high")
    given = {}
    key = keys_of(page)
    for _ in range(18):
        at = row(page)
        given[at] = "low" if at % 2 == 0 else "high"
        press(page, key[given[at]])
    labeled(page, 20)
    at = row(page)
    press(page, key["low"])
    labeled(page, 21)
    press(page, "z")
    labeled(page, 20)
    assert row(page) == at  # the row that was taken back is looked at again
    page.reload()
    labeled(page, 20)
    for key_of_mark in ("s", "u"):
        before_mark = row(page)
        press_and_save(page, key_of_mark)
        page.locator(f'#item:not([data-row="{before_mark}"])').wait_for()
    server.kill()
    page.keyboard.press(key["low"])
    page.locator("#said", has_text="does not answer").wait_for()
    page.close()
    visit.forgive()  # the browser wrote down that the server was gone

    page = visit(serve(table, "--target", "class").link)
    labeled(page, 20)
    press_and_save(page, "z")  # undo survives
    press_and_save(page, "z")
    page.locator("#undo:not([disabled])").wait_for()
    page.get_by_role("button", name="Labels", exact=True).click()
    page.locator("#exported", has_text="Written").wait_for()
    with (table.parent / "two groups.labels.csv").open(newline="", encoding="utf-8") as file:
        written = list(csv.DictReader(file))
    assert len(written) == 80
    assert {n: line["class"] for n, line in enumerate(written) if n in given} == given
    assert table.read_bytes() == before


def test_keys_count_again_after_an_answer_that_was_cut_off(table, serve, visit):
    page = visit(serve(table, "--target", "class").link)
    name_labels(page, "low", "high")
    labeled(page, 2)
    key = keys_of(page)
    page.route("**/labels", lambda route: route.fulfill(status=200, content_type="application/json", body='{"vers'))
    page.keyboard.press(key["low"])
    page.locator("#said", has_text="does not answer").wait_for()
    page.unroute("**/labels")
    page.locator('#item:not([data-row="none"])').wait_for()
    press_and_save(page, key["low"])
    labeled(page, 3)


def test_an_export_and_a_map_hold_the_key_that_is_on_its_way(table, serve, visit):
    page = visit(serve(table, "--target", "class").link)
    name_labels(page, "low", "high")
    labeled(page, 2)
    slow = "() => { const real = fetch; window.fetch = (url, more) => String(url).endsWith('act')"
    page.evaluate(
        f"{slow} ? new Promise((go) => setTimeout(go, 1500)).then(() => real(url, more)) : real(url, more); }}"
    )
    at = row(page)
    press(page, keys_of(page)["low"])
    page.get_by_role("tab", name="Map").click()
    page.get_by_role("button", name="Labels", exact=True).click()
    page.locator("#exported", has_text="Written").wait_for()
    with (table.parent / "two groups.labels.csv").open(newline="", encoding="utf-8") as file:
        assert list(csv.DictReader(file))[at]["class"] == "low"
    page.locator("#map-text", has_text="Step 0 of").wait_for()
    assert page.locator("circle.dot.on").count() == 3


def test_two_tabs_agree_and_all_like_this_is_shown_before_it_is_done(table, serve, visit):
    server = serve(table, "--target", "class")
    one, other = visit(server.link), visit(server.link)
    name_labels(one, "a", "b")
    labeled(other, 2)
    other.keyboard.press("l")
    dialog = other.locator("#alike-dialog")
    dialog.wait_for()
    n = other.locator("#alike-rows input").count()
    assert n > 3
    other.locator("#alike-rows input").first.uncheck()
    other.locator("#alike-ok").click()
    labeled(other, 2 + n)
    labeled(one, 2 + n)
    one.keyboard.press("z")
    labeled(one, 2)
    labeled(other, 2)


def test_hostile_cells_names_and_labels_do_nothing(tmp_path, serve, visit):
    path = tmp_path / "<b>x&'\u202e.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["text", "<i>n</i>", "class"])
        for i in range(30):
            text = "x" * 1_000_000 if i == 7 else f"{HOSTILE[i % 5]} row {i}"
            out.writerow([text, i % 4, HOSTILE[i % 2] if i < 6 else ""])
    page = visit(serve(path, "--target", "class").link)
    for number, button in enumerate((0, 1, 0)):
        page.locator("#buttons button").nth(button).click()
        labeled(page, 7 + number)
    name_labels(page, HOSTILE[2])
    page.locator("#buttons button:nth-child(3)", has_text=HOSTILE[2]).wait_for()
    page.get_by_role("tab", name="Rows").click()
    page.locator("#list tr").first.wait_for()
    page.locator("#query").fill("<script>")
    page.locator("#found", has_text="page 1").wait_for()
    page.locator("#list button").first.click()
    page.locator("#label:not([hidden])").wait_for()
    assert page.title() == f"{path.name} · handful studio"
    assert page.locator("main img, main script, #label textarea, #rows textarea, #side textarea").count() == 0
    assert page.evaluate("() => document.querySelectorAll('script').length") == 1


def test_axe_finds_nothing_serious_and_a_phone_is_wide_enough(table, serve, visit):
    page = visit(serve(table, "--target", "class").link, width=390, reduced_motion="reduce")
    name_labels(page, "low", "high")
    for tab in ("Label", "Rows", "Map"):
        page.get_by_role("tab", name=tab).click()
        page.wait_for_timeout(600)
        assert sideways(page) <= 0
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert findings(page) == []
    page.set_viewport_size({"width": 1280, "height": 850})
    page.get_by_role("button", name="Keys and help").click()
    assert findings(page) == []


def test_the_keyboard_reaches_everything(table, serve, visit):
    page = visit(serve(table, "--target", "class").link)
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.className") == "skip-link"
    page.locator("#tab-label").focus()
    page.keyboard.press("ArrowRight")
    page.locator("#rows:not([hidden])").wait_for()
    assert page.evaluate("() => document.activeElement.id") == "tab-rows"
    page.keyboard.press("/")
    page.keyboard.type("no such text")
    page.locator("#found", has_text="No row is like that").wait_for()


def test_ctrl_c_is_a_clean_end(table, serve, visit):
    server = serve(table, "--target", "class")
    page = visit(server.link)
    assert server.interrupt() == 0
    page.close()
    visit.forgive()


def test_playback_slider_boundary_and_lineage(table, serve, visit):
    page = visit(serve(table, "--target", "class").link, reduced_motion="reduce")
    page.get_by_role("tab", name="Map").click()
    page.locator("#map-text", has_text="Labels spread once there are two").wait_for()
    page.get_by_role("tab", name="Label").click()
    name_labels(page, "low", "high")
    key = keys_of(page)
    for _ in range(4):
        press(page, key["low" if row(page) % 2 == 0 else "high"])
    page.get_by_role("tab", name="Map").click()
    page.locator("#map-text", has_text="Step 0 of 74").wait_for()
    assert page.locator("circle.dot").count() == 80
    assert page.locator("circle.dot.on").count() == 6
    spots = "() => document.querySelector('#map-figure canvas').getContext('2d').getImageData(0, 0, 90, 60).data.join()"
    before = page.evaluate(spots)
    page.locator("#step").focus()
    page.keyboard.press("ArrowRight")
    page.locator("#map-text", has_text="Step 1 of 74").wait_for()
    assert page.locator("circle.dot.on").count() == 7
    page.keyboard.press("p")
    page.locator("#map-text", has_text="Step 74 of 74").wait_for()
    assert page.locator("circle.dot.on").count() == 80
    assert page.evaluate(spots) != before
    page.locator("circle.dot:not(.given)").first.click(force=True)
    page.locator("#lineage", has_text="(given)").wait_for()
    assert page.locator("#kin polyline").count() == 1
    page.keyboard.press("ArrowRight")
    page.locator("#lineage", has_text="confident").wait_for()
    assert findings(page) == []
    for kind, words in (
        ("condensed", "are kept"),
        ("changed", "rows on the map|no row on the map|change their prediction"),
    ):
        page.locator("#map-kind").select_option(kind)
        page.locator("#map-text", has_text=re.compile(words)).wait_for()
    page.keyboard.press("Escape")
    page.locator("circle.dot").nth(12).click(force=True)
    page.get_by_role("button", name="Open the row").click()
    page.locator('#item[data-row="12"]').wait_for()


def test_twenty_keys_at_100_ms_all_count_and_the_next_row_is_there_at_once(tmp_path, serve, visit):
    path = tmp_path / "long.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["x", "y", "class"])
        out.writerows([i % 2 * 5 + i % 7 / 10, i % 2 * 3 + i % 5 / 10, ""] for i in range(5_000))
    page = visit(serve(path, "--target", "class").link)
    name_labels(page, "low", "high")
    key = keys_of(page)["low"]
    page.evaluate(
        """() => { window.waits = [];
        new MutationObserver(() => { if (window.pressed) {
            window.waits.push(performance.now() - window.pressed); window.pressed = 0; } })
          .observe(document.getElementById("item"), { attributes: true, attributeFilter: ["data-row"] });
        document.addEventListener("keydown", () => { window.pressed = performance.now(); }, { capture: true }); }"""
    )
    for _ in range(20):
        page.keyboard.press(key)
        page.wait_for_timeout(100)
    labeled(page, 22)
    page.locator("#recent button").nth(7).wait_for()
    waits = sorted(page.evaluate("() => window.waits"))
    assert len(waits) >= 18
    assert waits[len(waits) // 2] < 50


def test_a_random_row_comes_without_a_suggestion_and_no_figure_is_shown_too_early(table, serve, visit):
    page = visit(serve(table, "--target", "class").link)
    name_labels(page, "low", "high")
    page.locator("#audit", has_text="to know").wait_for()
    assert page.locator("#audit .big").count() == 0
    key = keys_of(page)
    seen = 0
    for _ in range(12):
        if page.locator("#item h2", has_text="random check").count():
            seen += 1
            assert page.locator("#item", has_text="Model says").count() == 0
        press(page, key["low" if row(page) % 2 == 0 else "high"])
        page.wait_for_timeout(300)
    assert seen


def test_rows_that_were_appended_to_the_data_join(table, serve, visit):
    server = serve(table, "--target", "class")
    page = visit(server.link)
    name_labels(page, "low", "high")
    labeled(page, 2)
    server.kill()
    page.close()
    visit.forgive()
    with table.open("a", encoding="utf-8") as file:
        file.writelines(f"{i % 2 * 5}.5,{i % 2 * 3}.5,\n" for i in range(50))
    server = serve(table, "--target", "class")
    page = visit(server.link)
    page.locator("#count", has_text="2 of 130").wait_for()
    server.kill()
    page.close()
    visit.forgive()
    head, *lines = table.read_text().splitlines()
    table.write_text("\n".join([head, *reversed(lines)]) + "\n")  # sorted the other way round
    page = visit(serve(table, "--target", "class").link)
    page.locator("#count", has_text="2 of 130").wait_for()
