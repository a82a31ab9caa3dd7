"""Pages that show scans, in notebooks and in browsers."""
from __future__ import annotations

import html
import os
import sys
import tempfile
import warnings
import webbrowser

from ._errors import RunWarning

_HEIGHT = 640


def in_notebook(page: str) -> str:
    """The page as a part of another one, with its own scripts."""
    return (f'<iframe srcdoc="{html.escape(page)}" width="100%" height="{_HEIGHT}" style="border:0" '
            'sandbox="allow-scripts"></iframe>')


class Page:
    """A page of HTML, complete in itself."""

    def __init__(self, text: str):
        self.text = text

    def _repr_html_(self) -> str:
        return in_notebook(self.text)


def browser_shows(address: str) -> bool:
    """Opens a browser with windows, or the one that BROWSER names. A browser of text would take the terminal."""
    try:
        is_of_text = type(webbrowser.get()) is webbrowser.GenericBrowser and "BROWSER" not in os.environ
    except webbrowser.Error:
        return False
    return not is_of_text and webbrowser.open(address)


def show(scan, grid=None):
    """Shows a page. In a notebook it is returned, and the notebook shows it; else a browser opens it from a file."""
    page = Page(scan.page(grid))
    if "ipykernel" in sys.modules:
        return page
    file, path = tempfile.mkstemp(".html", "tandem-")
    with os.fdopen(file, "w", encoding="utf-8") as out:
        out.write(page.text)
    if not browser_shows("file://" + path):
        warnings.warn(f"no browser is found; the page is {path}", RunWarning, stacklevel=2)
    return None
