"""The pictures of the studio in docs/images, made in a real browser: ``python scripts/studio_pictures.py RUN``.

RUN is the folder of a finished ``leastwise demo``; a copy of it is drawn in. The README's short sequence is an
animated WebP of five of them.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SIZE = {"width": 1440, "height": 900}
SHOWN = ("draw", "improve", "compare", "decide", "dark")
STORY, MILLISECONDS, WIDTH = ("draw", "drag", "improve", "compare", "decide"), 2600, 1000


def main(run: Path) -> None:
    """Open the studio, go through its views, and keep what is seen."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as running:
        copy, shots = Path(folder) / "run", Path(folder)
        shutil.copytree(run, copy, ignore=shutil.ignore_patterns("studio"))
        command = [sys.executable, "-m", "leastwise", "studio", str(copy), "--no-browser"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        try:
            address = next(m.group() for line in process.stderr if (m := re.search(r"http://\S+", line)))
            browser = running.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_context(viewport=SIZE, reduced_motion="reduce").new_page()
            page.set_default_timeout(120_000)
            page.goto(address)
            tell(page, shots)
            browser.close()
        finally:
            process.terminate()
            process.wait(30)
        keep(shots)


def tell(page: Any, shots: Path) -> None:
    """Draw, drag, lock, improve, compare, decide."""

    def shot(name: str) -> None:
        page.wait_for_timeout(600)
        page.screenshot(path=shots / f"{name}.png")

    def weighed() -> None:
        page.locator(".worth").first.wait_for()
        page.locator(".worth.waiting").first.wait_for(state="detached")

    weighed()
    shot("draw")
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    shot("dark")
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    age = page.locator("article", has=page.get_by_role("heading", name="age", exact=True))
    box = age.locator(".edge .knob").nth(1).bounding_box()
    page.mouse.move(box["x"] + 4, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] + 70, box["y"] + 8, steps=8)
    page.locator(".stand", has_text="while you drag").first.wait_for()
    shot("drag")
    page.mouse.up()
    age.get_by_role("button", name="Lock age: this stays").click()
    page.get_by_role("button", name="Improve the rest").click()
    page.locator(".proposals li").first.wait_for()
    page.get_by_role("button", name="Look at it").first.click()
    weighed()
    shot("improve")
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("button", name="Keep this draft").click()
    page.locator(".kept li").nth(1).wait_for()
    page.get_by_role("button", name="Draw").click()
    page.get_by_role("button", name="Take it").first.click()
    page.get_by_role("button", name="Compare").click()
    page.locator(".kept input[type=checkbox]").nth(1).check()
    page.locator(".comparison").wait_for()
    page.locator(".foot.on").wait_for(state="detached")
    shot("compare")
    page.get_by_role("button", name="Decide").click()
    page.get_by_label("Author").fill("Ada")
    page.get_by_label("Because").fill("It is the least that still predicts within the limit.")
    page.get_by_label("Reviewer").focus()
    weighed_words = page.get_by_placeholder(re.compile("Without it the model"))
    weighed_words.first.wait_for()
    page.locator(".foot.on").wait_for(state="detached")
    shot("decide")


def keep(shots: Path) -> None:
    """Write the pictures in few colours, and the sequence."""
    for name in SHOWN:
        picture = Image.open(shots / f"{name}.png").convert("RGB")
        picture.quantize(256, dither=Image.Dither.NONE).save(IMAGES / f"studio-{name}.png", optimize=True)
    frames = [Image.open(shots / f"{name}.png").convert("RGB") for name in STORY]
    small = [each.resize((WIDTH, WIDTH * each.height // each.width), Image.Resampling.LANCZOS) for each in frames]
    small[0].save(
        IMAGES / "studio.webp",
        save_all=True,
        append_images=small[1:],
        duration=MILLISECONDS,
        loop=0,
        quality=82,
        method=6,
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
