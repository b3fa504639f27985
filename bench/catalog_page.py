"""How soon the HTML catalog of an index can be used on a slow connection: seconds, bytes, requests, screenshots.

    python bench/catalog_page.py SKILLS [--rate 1.6] [--latency 150] [--runs 5] [--screenshots DIR]

SKILLS is a folder of skills. All that are valid are built into an index that nginx serves with the block of the guide.
Headless Chromium opens it with an empty cache, with compression and without, at 1280 and 390 pixels, at so many Mbit/s,
each request delayed by so many milliseconds. Each time: until the first skill can be clicked, until a search typed at
once shows its results, until the text of a skill is read after a click, and a file of it after another one. Medians of
the runs.
Exits with 1 if the first skill cannot be clicked within a second, on errors in the console, or if the page can be
scrolled sideways. Debian: nginx-light, chromium.
"""

import argparse
import itertools
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from indexes.nginx import Nginx
from indexes.reader import chromium
from playwright.sync_api import Browser, CDPSession, Page

SCREENS = {1280: 900, 390: 844}  # width: height, in pixels
PHONE = 390
LIMIT = 1.0  # seconds until the first skill can be clicked

# A row can be clicked when the browser finds it at its place on the screen.
FIRST_USE = """() => {
  const row = document.querySelector("#results a.row");
  if (!row) return 0;
  const { left, top, width, height } = row.getBoundingClientRect();
  return row.contains(document.elementFromPoint(left + width / 2, top + height / 2)) ? performance.now() : 0;
}"""
TYPED = """() => new Promise((done) => {
  const search = document.getElementById("search"), count = document.getElementById("count");
  search.value = "kubernetes";
  search.dispatchEvent(new Event("input", { bubbles: true }));
  requestAnimationFrame(() => done(count.textContent.includes(" of ") ? performance.now() : NaN));
})"""


class Visit(NamedTuple):
    """What one reader saw, in seconds since the address was entered, or since a click."""

    painted: float
    clickable: float
    searched: float
    opened: float
    read_file: float
    received: float
    requests: float
    opening: float


class Wire:
    """What came from the server, by the browser's own count, headers included."""

    def __init__(self, session: CDPSession, rate: float, latency: float) -> None:
        self.received = self.requests = 0
        session.on("Network.loadingFinished", self._finish)
        session.send("Network.enable")
        session.send("Network.setCacheDisabled", {"cacheDisabled": True})
        speed = rate * 1e6 / 8
        session.send(
            "Network.emulateNetworkConditions",
            {"offline": False, "latency": latency, "downloadThroughput": speed, "uploadThroughput": speed},
        )

    def _finish(self, event: dict[str, Any]) -> None:
        self.received += int(event["encodedDataLength"])
        self.requests += 1


def wait_ms(page: Page, script: str) -> float:
    """Return the page's clock at the first frame in which a script returns it, in milliseconds."""
    return float(page.wait_for_function(script, polling="raf").json_value())


def now(page: Page) -> float:
    """Return the page's clock in milliseconds."""
    return float(page.evaluate("performance.now()"))


def visit(
    browser: Browser, address: str, width: int, options: argparse.Namespace, shots: Path | None
) -> tuple[Visit, list[str]]:
    """Visit the page once with an empty cache; return what it took, and what went wrong."""
    context = browser.new_context(viewport={"width": width, "height": SCREENS[width]})
    page = context.new_page()
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    wire = Wire(context.new_cdp_session(page), options.rate, options.latency)
    page.goto(address, wait_until="commit")
    clickable = wait_ms(page, FIRST_USE)
    searched = float(page.evaluate(TYPED))
    page.wait_for_load_state("load")
    paint = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
    painted = wait_ms(page, f"() => {paint}")
    received, requests = wire.received, wire.requests
    if shots:
        page.screenshot(path=shots / f"search-{width}.png")
        page.fill("#search", "")
        page.screenshot(path=shots / f"list-{width}.png")
    page.fill("#search", options.skill)
    start = now(page)
    page.locator("a.row").first.click()
    opened = wait_ms(page, "() => document.querySelector('.prose:not([aria-busy])') && performance.now()") - start
    opening = wire.received - received
    wide = []
    if page.evaluate("document.documentElement.scrollWidth") > width:
        wide.append(f"a skill can be scrolled sideways at {width} pixels")
    if shots:
        page.screenshot(path=shots / f"skill-{width}.png", full_page=width == PHONE)
    start = now(page)
    page.locator(".files a:not([aria-current])").first.click()
    read_file = wait_ms(page, "() => document.querySelector('.file-text') && performance.now()") - start
    if shots:
        page.screenshot(path=shots / f"file-{width}.png")
        page.emulate_media(color_scheme="dark")
        page.screenshot(path=shots / f"file-{width}-dark.png")
        page.goto(f"{address}#/")
        page.screenshot(path=shots / f"list-{width}-dark.png")
    if page.evaluate("document.documentElement.scrollWidth") > width:
        wide.append(f"the page can be scrolled sideways at {width} pixels")
    context.close()
    painted, clickable, searched, opened, read_file = (
        each / 1000 for each in (painted, clickable, searched, opened, read_file)
    )
    return Visit(painted, clickable, searched, opened, read_file, received, requests, opening), errors + wide


def main() -> None:
    """Build, serve, visit, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("skills", type=Path)
    parser.add_argument("--rate", type=float, default=1.6, help="Mbit/s")
    parser.add_argument("--latency", type=float, default=150, help="milliseconds")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--skill", default="pdf", help="the search whose first result is opened")
    parser.add_argument("--screenshots", type=Path)
    parser.add_argument("--skillpm", default=f"{sys.executable} -m skillpm")
    options = parser.parse_args()
    if options.screenshots:
        options.screenshots.mkdir(parents=True, exist_ok=True)
    failed = False
    with tempfile.TemporaryDirectory(prefix="skillpm-bench-") as folder:
        public = Path(folder, "public")
        build = ["index", "build", str(options.skills), "--out", str(public), "--name", "bench", "--skip-invalid", "-q"]
        command = [*shlex.split(options.skillpm), *build, "--default-version", "1.0.0"]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        Path(folder).chmod(0o755)
        size = (public / "index.html").stat().st_size
        print(f"{options.rate} Mbit/s, {options.latency:.0f} ms for each request")
        print(f"{len(list((public / 'skills').glob('*.json')))} skills, index.html {size / 1000:.0f} kB uncompressed")
        for compression, width in itertools.product(("on", "off"), SCREENS):
            server = Nginx(public, Path(folder, f"nginx-{compression}-{width}"))
            server.set("gzip", compression)
            shots = options.screenshots if compression == "on" else None
            with server, chromium() as browser:
                visits = [visit(browser, server.address, width, options, shots if not run else None)
                          for run in range(options.runs)]  # fmt: skip
                medians = Visit._make(map(statistics.median, zip(*(each for each, _ in visits), strict=True)))
                errors = sorted({error for _, found in visits for error in found})
                print(
                    f"gzip {compression:3} {width:>5} px: painted {medians.painted:.2f} s, "
                    f"first skill clickable {medians.clickable:.2f} s, "
                    f"search shown {medians.searched:.2f} s; {medians.requests:.0f} request, "
                    f"{medians.received / 1000:.0f} kB; a skill opened in {medians.opened:.2f} s "
                    f"({medians.opening / 1000:.0f} kB), its file in {medians.read_file:.2f} s",
                    flush=True,
                )
                for error in errors:
                    print(f"  {error}")
                failed = failed or bool(errors) or medians.clickable > LIMIT
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
