"""What the tests of pages have in common: they end with a line, read PNG files, and find a browser."""
import pathlib
import re
import shutil
import struct
import sys
import zlib


def require(holds, *what):
    if not holds:
        sys.exit(pathlib.Path(sys.argv[0]).stem + ": " + " ".join(str(w) for w in what))


def greys_of(png):
    """(width, height, rows of bytes, bytes a pixel) of a PNG file of 8 bits, without interlace."""
    require(png[:8] == b"\x89PNG\r\n\x1a\n", "no PNG")
    at, data, head = 8, b"", None
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + length]
        require(zlib.crc32(kind + body) == struct.unpack(">I", png[at + 8 + length:at + 12 + length])[0], "CRC")
        head = struct.unpack(">IIBBBBB", body) if kind == b"IHDR" else head
        data += body if kind == b"IDAT" else b""
        at += 12 + length
    width, height, bits, colour, _, _, interlace = head
    require(bits == 8 and interlace == 0, "another PNG")
    step = {0: 1, 4: 2}[colour]
    raw, rows, above, long = zlib.decompress(data), [], bytes(width * step), width * step + 1
    for y in range(height):
        kind, line = raw[y * long], bytearray(raw[y * long + 1:(y + 1) * long])
        for k in range(len(line)):
            a, b, c = line[k - step] if k >= step else 0, above[k], above[k - step] if k >= step else 0
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line[k] = (line[k] + [0, a, b, (a + b) // 2, paeth][kind]) & 255
        rows.append(bytes(line))
        above = line
    return width, height, rows, step


def require_preview(path, planes):
    """The file of --preview shows these PNG files of the planes z, y and x, which are as wide as each other.

    Each of their pixels is a square there. What the scale bar of plane z may cover is left out.
    """
    wide, _, sheet, step = greys_of(path.read_bytes())
    require(step == 1, "another preview")
    for k, (name, png) in enumerate(zip("zyx", planes)):
        width, height, rows, step = greys_of(png)
        side = -(-256 // width)
        left = k * (side * width + 10)
        require(wide >= left + side * width, "a preview of", wide, "pixels")
        for y in range(side * height):
            first = width // 2 if name == "z" and 4 * y > 3 * side * height else 0
            shown = sheet[y][left + side * first:left + side * width]
            wanted = b"".join(bytes([grey]) * side for grey in rows[y // side][first * step::step])
            require(shown == wanted, "plane", name, "is not that of the preview in row", y)


def browser():
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        if found := shutil.which(name):
            return found
    print("skipped: no Chromium is installed")
    return sys.exit(77)


def text_in(page, element):
    """The text of the element with this id."""
    found = re.search(rf'<(\w+)[^>]* ?id="{element}"[^>]*>(.*?)</\1>', page, re.DOTALL)
    require(found, "the page has no", element)
    return re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", found[2])).strip()
