"""The HTML catalog in a real browser; all requests and errors of the page are recorded."""

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
window.ran = () => window.broken.push("an injected script ran");
addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) => {
  window.broken.push(`${effectiveDirective} ${blockedURI}`);
});
addEventListener("error", (event) => window.broken.push(String(event.message)), true);
addEventListener("unhandledrejection", (event) => window.broken.push(String(event.reason)));
"""


class Reader:
    """A browser window."""

    def __init__(self, page: Page) -> None:
        """Start to record requests, errors, dialogs and downloads."""
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
        """Open an address, and wait for the list of skills."""
        self.page.goto(address)
        self.page.wait_for_function("performance.getEntriesByName('skillpm-list').length")

    def reload_until(self, condition: Callable[[], bool]) -> None:
        """Reload until a condition is true: a browser may write its local storage late."""
        end = time.monotonic() + PATIENCE
        self.page.reload()
        while not condition():
            assert time.monotonic() < end, "the condition was never true"
            self.page.reload()

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.page.keyboard.press(key)
            if key in {"Enter", "Escape"}:  # they lead to another address, which the page shows a moment later
                self.settle()

    def type(self, text: str) -> None:
        """Type into the focused element."""
        self.page.keyboard.type(text)

    def wait_for_announcement(self, text: str) -> None:
        """Wait until a screen reader would announce this."""
        expect(self.page.locator("#status")).to_have_text(text)

    def wait_for_names(self, names: list[str]) -> None:
        """Wait until exactly these skills are listed, in this order."""
        expect(self.page.locator("#results .name")).to_have_text(names)

    def wait_for_count(self, text: str) -> None:
        """Wait until this is displayed as the number of skills."""
        expect(self.page.locator("#count")).to_have_text(text)

    def wait_for_title(self, text: str) -> None:
        """Wait until a skill with this heading is open."""
        expect(self.page.locator("#skill-view h1")).to_have_text(text)

    def settle(self) -> None:
        """Wait for some frames, until the layout is final."""
        self.page.evaluate(
            "new Promise((go) => { let left = 8;"
            " const next = () => left-- ? requestAnimationFrame(next) : go(); next(); })"
        )

    @property
    def names(self) -> list[str]:
        """The skills that are listed, in their order."""
        return self.page.locator("#results .name").all_text_contents()

    @property
    def count(self) -> str:
        """The displayed number of skills."""
        return self.page.locator("#count").inner_text()

    @property
    def title(self) -> str:
        """The heading of the skill that is open."""
        return self.page.locator("#skill-view h1").inner_text()

    @property
    def text(self) -> str:
        """The text of the open skill, once it is loaded."""
        self.page.locator("#skill-view .prose:not([aria-busy])").wait_for()
        return self.page.locator("#skill-view .prose").inner_text()

    @property
    def focus(self) -> str:
        """The focused element: its id, or the skill of its row."""
        focused: str = self.page.evaluate("document.activeElement.dataset.name ?? document.activeElement.id")
        return focused

    @property
    def address(self) -> str:
        """The hash of the address."""
        address: str = self.page.evaluate("location.hash")
        return address

    @property
    def clipboard(self) -> str:
        """The content of the clipboard."""
        text: str = self.page.evaluate("navigator.clipboard.readText()")
        return text

    @property
    def broken(self) -> list[str]:
        """All errors, and what the Content-Security-Policy blocked."""
        violations: list[str] = self.page.evaluate("window.broken")
        return violations + self.alarms

    def _dismiss(self, dialog: Dialog) -> None:
        self.alarms.append(f"dialog: {dialog.message}")
        dialog.dismiss()


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the browser of the system, or skip the test if there is none."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("needs chromium: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program)
        yield browser
        browser.close()


@contextmanager
def reading(browser: Browser, *, width: int = 1280, dark: bool = False) -> Iterator[Reader]:
    """Open a window with its own storage."""
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if dark else "light",
        permissions=["clipboard-read", "clipboard-write"],
    )
    context.set_default_timeout(PATIENCE * 1000)
    yield Reader(context.new_page())
    context.close()
