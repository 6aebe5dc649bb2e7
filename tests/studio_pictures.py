"""Pictures of the studio for the documentation: ``python tests/studio_pictures.py FOLDER`` (needs Chromium)."""

from __future__ import annotations

import csv
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright
from studio_browser import Server

_COLORS = 250  # enough for a page, and a small file


def write_table(path: Path, load: Any, names: list[str] | None) -> list[str]:
    """Write a table of scikit-learn without its labels, and return these."""
    bunch = load()
    kinds = names or [str(kind) for kind in bunch.target_names]
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow([*bunch.feature_names, "kind"])
        out.writerows([*row, ""] for row in bunch.data.tolist())
    return [kinds[code] for code in bunch.target]


def label(page: Page, truth: list[str], n: int) -> None:
    """Label rows by keyboard, as someone who knows the answers."""
    for _ in range(n):
        page.locator('#item[data-row]:not([data-row="none"])').wait_for()
        row = page.locator("#item").get_attribute("data-row") or ""
        wanted = page.locator(f'[data-label="{truth[int(row)]}"] kbd')
        if wanted.count():
            page.keyboard.press(wanted.inner_text())
        else:
            page.keyboard.press("n")
            page.keyboard.type(truth[int(row)])
            page.keyboard.press("Enter")
        page.locator(f'#item:not([data-row="{row}"])').wait_for()


def shoot(page: Page, path: Path) -> None:
    """Take a picture with few colors."""
    from PIL import Image

    page.evaluate("() => document.activeElement.blur()")
    page.locator("#said").evaluate("(said) => { said.textContent = ''; }")
    page.screenshot(path=path)
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(_COLORS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
            path, optimize=True
        )


def pictures(browser: Any, folder: Path, work: Path) -> None:
    """Take all pictures."""
    from sklearn.datasets import load_digits, load_iris

    sys.path.insert(0, str(Path(__file__).parents[1]))  # tests has a folder papers, too
    from handful.data.word_lists import write_prototypes
    from papers.generated import APARTMENT_PROTOTYPES, make_apartment_ads

    wide, phone = {"width": 1180, "height": 760}, {"width": 390, "height": 760}

    def visit(server: Server, **settings: Any) -> Page:
        page: Page = browser.new_page(**{"viewport": wide, "reduced_motion": "reduce", **settings})
        page.set_default_timeout(120_000)
        page.goto(server.link)
        page.locator("#item[data-row]").wait_for(state="attached")
        return page

    truth = write_table(work / "iris.csv", load_iris, None)
    server = Server(work / "iris.csv", "--target", "kind")
    page = visit(server)
    label(page, truth, 60)
    page.locator("#curve svg").wait_for()
    page.wait_for_timeout(8_000)  # the side works when nobody labels
    shoot(page, folder / "label-light.png")
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size(phone)  # type: ignore[arg-type]
    shoot(page, folder / "label-phone.png")
    server.kill()

    truth = write_table(work / "digits.csv", load_digits, None)
    server = Server(work / "digits.csv", "--target", "kind")
    page = visit(server)
    label(page, truth, 60)
    page.get_by_role("tab", name="Map").click()
    page.locator("circle.dot").first.wait_for()
    page.locator("#step").fill("260")
    shoot(page, folder / "map-light.png")
    server.kill()

    ads = make_apartment_ads(1_500, random_state=0)
    (work / "ads.txt").write_text("\n".join(" ".join(ad.tokens[:30]) for ad in ads) + "\n", encoding="utf-8")
    kept = ("SIZE", "RENT", "FEATURES", "NEIGHBORHOOD", "UTILITIES", "AVAILABLE")
    write_prototypes(work / "words.tsv", {field: APARTMENT_PROTOTYPES[field] for field in kept})
    server = Server(work / "ads.txt", "--prototypes", work / "words.tsv", "--fields")
    page = visit(server)
    page.locator('.chip.maybe[aria-label^="Put"]').first.wait_for()
    page.locator("#unsure .chip").first.wait_for()
    page.locator('.chip.maybe[aria-label^="Put"]').first.click()
    page.locator("#sample .token.changed").first.wait_for()
    shoot(page, folder / "words-light.png")
    page.locator("#sample-text").scroll_into_view_if_needed()
    page.locator("#sample").evaluate("(sample) => sample.scrollIntoView({ block: 'center' })")
    shoot(page, folder / "sample-light.png")
    page.emulate_media(color_scheme="dark")
    page.get_by_role("tab", name="Sentences").click()
    page.keyboard.press("3")
    page.locator("#token-0:not(.suggestion)").wait_for()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    shoot(page, folder / "sentences-dark.png")
    server.kill()


def main() -> None:
    """Take the pictures and put them into the folder that is named."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        pictures(browser, folder, Path(work))
        browser.close()


if __name__ == "__main__":
    main()
