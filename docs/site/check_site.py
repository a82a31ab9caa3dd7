#!/usr/bin/env python3
"""Looks whether the pages of a site ask for anything that does not lie beside them. Links that a reader may follow to
other sites do not count.

usage: check_site.py FOLDER       Exit code 1 if something is asked for, or is missing.
"""
import pathlib
import re
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlparse


class Resources(HTMLParser):
    """What a browser fetches to show a page, and the pages that it links to."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        fetched = attrs.get("src") or (attrs.get("href") if tag in ("link", "image", "use") else None)
        if fetched:
            self.found.append(fetched)
        elif tag == "a" and not urlparse(attrs.get("href") or "").scheme:
            self.found.append(attrs.get("href") or "")


def wanted_by(file):
    text = file.read_text(errors="replace")
    if file.suffix == ".css":
        return re.findall(r"""(?:url\(|@import\s+(?!url))\s*["']?([^"')\s;]+)""", text)
    page = Resources()
    page.feed(text)
    return page.found


def wrong(file, wanted):
    at = urlparse(wanted)
    if at.scheme == "data":
        return False
    return at.scheme or at.netloc or (at.path and not (file.parent / unquote(at.path)).exists())


def main():
    folder = pathlib.Path(sys.argv[1])
    files = [f for f in sorted(folder.rglob("*")) if f.suffix in (".html", ".css")]
    faults = [f"{f.relative_to(folder)} asks for {w}" for f in files for w in wanted_by(f) if wrong(f, w)]
    print("\n".join(faults) or f"site: {len(files)} pages and styles ask for nothing from elsewhere")
    return bool(faults) or not files


sys.exit(main())
