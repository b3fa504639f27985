"""Somebody who reads the page of an index in a real browser; all that the page asks for is written down."""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect, sync_playwright

PATIENCE = 60  # seconds
expect.set_options(timeout=PATIENCE * 1000)

WATCH = """
window.broken = [];
window.ran = () => window.broken.push("a script of somebody else ran");
addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) => {
  window.broken.push(`${effectiveDirective} ${blockedURI}`);
});
addEventListener("error", (event) => window.broken.push(String(event.message)), true);
addEventListener("unhandledrejection", (event) => window.broken.push(String(event.reason)));
"""


class Reader:
    """A person before a browser window."""

    def __init__(self, page: Page) -> None:
        """Sit down."""
        self.page = page
        self.asked: list[str] = []
        self.alarms: list[str] = []
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("pageerror", lambda error: self.alarms.append(f"error: {error}"))
        page.on("dialog", self._dismiss)
        page.on("popup", lambda popup: self.alarms.append(f"window: {popup.url}"))
        page.on("download", lambda download: self.alarms.append(f"download: {download.url}"))
        page.add_init_script(WATCH)

    def visit(self, address: str) -> None:
        """Open an address."""
        self.page.goto(address)

    def reload_until(self, true: Callable[[], bool]) -> None:
        """Open it anew until something holds: a browser may be late in writing down what a page wants kept."""
        end = time.monotonic() + PATIENCE
        self.page.reload()
        while not true():
            assert time.monotonic() < end, "it was not kept"
            self.page.reload()

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, text: str) -> None:
        """Type into whatever has the focus."""
        self.page.keyboard.type(text)

    def hears(self, text: str) -> None:
        """Wait until a screen reader would say this."""
        expect(self.page.locator("#said")).to_have_text(text)

    def settle(self) -> None:
        """Let some frames be drawn: what is laid out late is in its place then."""
        self.page.evaluate(
            "new Promise((go) => { let left = 8;"
            " const next = () => left-- ? requestAnimationFrame(next) : go(); next(); })"
        )

    @property
    def names(self) -> list[str]:
        """The skills that are listed, in their order."""
        return self.page.locator("#results .name").all_text_contents()

    @property
    def told(self) -> str:
        """How many it says there are."""
        return self.page.locator("#count").inner_text()

    @property
    def title(self) -> str:
        """The heading of the skill that is open."""
        return self.page.locator("#skill-view h1").inner_text()

    @property
    def text(self) -> str:
        """The skill's own text, once it is there."""
        self.page.locator("#skill-view .prose:not([aria-busy])").wait_for()
        return self.page.locator("#skill-view .prose").inner_text()

    @property
    def focus(self) -> str:
        """What has the focus: an element's id, or the skill whose row it is."""
        found: str = self.page.evaluate("document.activeElement.dataset.name ?? document.activeElement.id")
        return found

    @property
    def address(self) -> str:
        """What stands behind the `#`."""
        found: str = self.page.evaluate("location.hash")
        return found

    @property
    def clipboard(self) -> str:
        """What was copied last."""
        found: str = self.page.evaluate("navigator.clipboard.readText()")
        return found

    @property
    def broken(self) -> list[str]:
        """What the page wanted and its policy forbade, and every error."""
        found: list[str] = self.page.evaluate("window.broken")
        return found + self.alarms

    def _dismiss(self, dialog: Dialog) -> None:
        self.alarms.append(f"dialog: {dialog.message}")
        dialog.dismiss()


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the system's own browser; where there is none the test is skipped."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no chromium here: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program)
        yield browser
        browser.close()


@contextmanager
def reading(browser: Browser, *, width: int = 1280, dark: bool = False) -> Iterator[Reader]:
    """Open a window of its own, with nothing kept from others."""
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if dark else "light",
        permissions=["clipboard-read", "clipboard-write"],
    )
    context.set_default_timeout(PATIENCE * 1000)
    yield Reader(context.new_page())
    context.close()
