"""Takes the README's picture: the demo's profile in the tab, in Chromium. Needs the test environment.

python docs/take_picture.py docs/images/views.png
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from stepscope.cli.demo import free_port, tensorboard, write_profile

STATE = "&p.stepscope.lens=views&p.stepscope.view=scope"


def main() -> None:
    """Writes the demo's profile, shows it and takes the picture."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        write_profile(Path(folder))
        port = free_port()
        with tensorboard(Path(folder), port):
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = browser.new_page(viewport={"width": 1400, "height": 640})
            page.goto(f"http://localhost:{port}/#stepscope{STATE}")
            page.frame_locator("iframe").get_by_role("row").nth(10).wait_for()
            page.screenshot(path=sys.argv[1])
            browser.close()


if __name__ == "__main__":
    main()
