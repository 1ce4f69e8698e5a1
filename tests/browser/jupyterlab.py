"""A learner's hands and eyes: `gradlab lab` in a process of its own, and a real browser in front of it."""

import json
import os
import queue
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Locator, Page, expect, sync_playwright

BROWSERS = "chromium", "chromium-browser", "google-chrome"
ARGUMENTS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
START_SECONDS = 90
CELL_SECONDS = 240
RUN_SECONDS = 240
RAN = re.compile(r"\[\d+\]:")


def browser() -> str | None:
    """The path of this machine's Chromium, if it has one."""
    return next((path for path in map(shutil.which, BROWSERS) if path), None)


@dataclass(frozen=True)
class Lab:
    """A running `gradlab lab`: where it answers, with its token, and the learner's folder."""

    address: str
    workbook: Path

    def at(self, notebook: str) -> str:
        """The address that opens a notebook."""
        return re.sub(r"/lab[^?]*", f"/lab/tree/{notebook}", self.address)


@contextmanager
def gradlab_lab(folder: Path) -> Iterator[Lab]:
    """Start `gradlab lab --no-browser` on a new workbook, with settings of its own; stop it afterwards."""
    workbook, home = folder / "workbook", folder / "home"
    settings = home / "lab" / "user-settings" / "@jupyterlab" / "notebook-extension"
    settings.mkdir(parents=True)
    # all cells are in the page, not only those in view
    (settings / "tracker.jupyterlab-settings").write_text(json.dumps({"windowingMode": "none"}))
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "PYTEST_", "TF_CPP_"))
    }
    environment |= {"JUPYTER_CONFIG_DIR": str(home), "JUPYTER_DATA_DIR": str(home / "data")}
    environment |= {"JUPYTER_RUNTIME_DIR": str(home / "runtime"), "IPYTHONDIR": str(home / "ipython")}
    command = [sys.executable, "-c", "from gradlab.cli import main; main()", "lab", "--no-browser"]
    server = subprocess.Popen(
        [*command, "--workbook", str(workbook)],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield Lab(_address(server), workbook)
    finally:
        server.terminate()
        try:
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _address(server: subprocess.Popen) -> str:
    """What the server says that its address is; whatever it says later is read and dropped."""
    said: queue.Queue[str | None] = queue.Queue()

    def listen() -> None:
        for line in server.stdout:
            said.put(line)
        said.put(None)

    threading.Thread(target=listen, daemon=True).start()
    heard, until = [], time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        try:
            line = said.get(timeout=1)
        except queue.Empty:
            continue
        if line is None:
            break
        heard.append(line)
        found = re.search(r"http://(?:localhost|127\.0\.0\.1):\d+/lab\S*token=\w+", line)
        if found:
            return found.group()
    raise AssertionError("gradlab lab named no address; it said:\n" + "".join(heard))


@contextmanager
def page_of(chromium: str) -> Iterator[Page]:
    """A window of the browser, with a clipboard."""
    with sync_playwright() as playwright:
        window = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS, headless=True)
        context = window.new_context(viewport={"width": 1280, "height": 900})
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = context.new_page()
        page.set_default_timeout(60_000)
        try:
            yield page
        finally:
            window.close()


class Notebook:
    """An open notebook as a learner sees it: cells by their place, counted from 0, text cells included."""

    def __init__(self, page: Page, lab: Lab, name: str) -> None:
        self.page = page
        self.path = lab.workbook / name
        page.goto(lab.at(name))
        self.panel = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
        self.cells = self.panel.locator(".jp-Notebook .jp-Cell")
        expect(self.cells).to_have_count(len(self.sources()), timeout=60_000)
        self.await_kernel()

    def sources(self) -> list[dict]:
        """The cells in the file."""
        return json.loads(self.path.read_text(encoding="utf-8"))["cells"]

    def await_kernel(self) -> None:
        """Wait until the kernel has nothing to do."""
        status = self.panel.locator(".jp-Notebook-ExecutionIndicator")
        expect(status).to_have_attribute("data-status", "idle", timeout=RUN_SECONDS * 1000)

    def menu(self, name: str, entry: str) -> None:
        """Choose an entry of a menu."""
        self.page.locator(".lm-MenuBar-item", has_text=re.compile(f"^{name}$")).click()
        self.page.locator(".lm-Menu-item", has_text=re.compile(f"^{re.escape(entry)}")).first.click()

    def run_all(self) -> None:
        """Run > Run All Cells, again where a kernel that was still connecting let it pass, and wait for the end."""
        prompts = self.panel.locator(".jp-Notebook .jp-CodeCell .jp-InputPrompt")
        for _ in range(6):
            self.menu("Run", "Run All Cells")
            try:
                expect(prompts.first).not_to_have_text("[ ]:", timeout=20_000)
                break
            except AssertionError:
                continue
        self.await_end()

    def restart_and_run_all(self) -> None:
        """Kernel > Restart Kernel and Run All Cells, say yes, and wait for the end."""
        self.menu("Kernel", "Restart Kernel and Run All Cells")
        self.page.locator(".jp-Dialog button", has_text="Restart").click()
        self.await_end()

    def restart(self) -> None:
        """Kernel > Restart Kernel, and say yes."""
        self.menu("Kernel", "Restart Kernel…")
        self.page.locator(".jp-Dialog button", has_text="Restart").click()
        self.await_kernel()

    def await_end(self) -> None:
        """Wait until no cell is running or waiting; a cell that raises stops those after it."""
        first = next(place for place, cell in enumerate(self.sources()) if cell["cell_type"] == "code")
        expect(self.cells.nth(first).locator(".jp-InputPrompt")).to_have_text(RAN, timeout=CELL_SECONDS * 1000)
        busy = self.panel.locator(".jp-InputPrompt", has_text="[*]")
        expect(busy).to_have_count(0, timeout=RUN_SECONDS * 1000)
        self.await_kernel()

    def run(self, place: int) -> str:
        """Click into a cell, press Shift+Enter, wait, and read what stands under it."""
        cell = self.cells.nth(place)
        prompt = cell.locator(".jp-InputPrompt")
        before = prompt.inner_text()
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Shift+Enter")
        expect(prompt).not_to_have_text(before, timeout=CELL_SECONDS * 1000)
        expect(prompt).to_have_text(RAN, timeout=CELL_SECONDS * 1000)
        self.await_kernel()
        return self.output(place)

    def output(self, place: int) -> str:
        """The words under a cell."""
        return "\n".join(self.cells.nth(place).locator(".jp-OutputArea-output").all_inner_texts())

    def outputs(self) -> dict[int, str]:
        """The words under every code cell."""
        return {place: self.output(place) for place, cell in enumerate(self.sources()) if cell["cell_type"] == "code"}

    def errors(self) -> Locator:
        """Every traceback in the page."""
        return self.panel.locator(".jp-RenderedText[data-mime-type='application/vnd.jupyter.error']")

    def paste(self, place: int, code: str) -> None:
        """Replace what stands in a cell by ``code``, from the clipboard."""
        self.page.evaluate("code => navigator.clipboard.writeText(code)", code)
        self.cells.nth(place).locator(".cm-content").click()
        self.page.keyboard.press("ControlOrMeta+A")
        self.page.keyboard.press("ControlOrMeta+V")
        # a long line may be drawn in pieces, but its words are all there
        first = code.strip().splitlines()[0]
        expect(self.cells.nth(place).locator(".cm-content")).to_contain_text(first)

    def save(self) -> None:
        """Save, and wait until the file has changed."""
        before = self.path.stat().st_mtime_ns
        self.menu("File", "Save Notebook")
        until = time.monotonic() + 20
        while self.path.stat().st_mtime_ns == before and time.monotonic() < until:
            self.page.wait_for_timeout(100)
        assert self.path.stat().st_mtime_ns != before, "the notebook was not saved"

    def look(self, place: int, to: Path) -> None:
        """A picture of the window with a cell in view."""
        self.cells.nth(place).scroll_into_view_if_needed()
        self.page.screenshot(path=to)
