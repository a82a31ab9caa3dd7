"""What an enemy writes: volumes with recipes, and what a killed run leaves."""

import socket
import struct
import zlib


def tiff(pixels, description):
    """A picture of 16 x 16 floats with a description, as a classic TIFF of one strip."""
    text = description.encode() + b"\0"
    text += b"\0" * (len(text) % 2)
    data = struct.pack("<256f", *pixels)
    at = 8 + len(data)
    entries = [(256, 4, 1, 16), (257, 4, 1, 16), (258, 3, 1, 32), (259, 3, 1, 1), (262, 3, 1, 1),
               (270, 2, len(text), at), (273, 4, 1, 8), (277, 3, 1, 1), (278, 4, 1, 16), (279, 4, 1, len(data)),
               (339, 3, 1, 3)]
    folder = struct.pack("<H", len(entries)) + b"".join(struct.pack("<HHII", *entry) for entry in entries) + bytes(4)
    return b"II*\0" + struct.pack("<I", at + len(text)) + data + text + folder


def forge_volume(case, recipe):
    """A TIFF volume of one slice, with this recipe."""
    case.path("stranger").mkdir()
    text = f"tandem 0.2.0\nslice: 0\nshape: 1 16 16\ntype: float32\nunit: 1/pixel\nrecipe: {recipe}\n"
    case.path("stranger/v_00000.tif").write_bytes(tiff([0.5] * 256, text))
    return "stranger/v_00000.tif"


def line_of_journal(text):
    return f"{text} {zlib.crc32(text.encode()):x}\n"


def leave_folder(case, output, journal, host=None, boot="another"):
    """What a killed run leaves, as far as an enemy can know it."""
    left = case.path(f".{output}.tandem")
    left.mkdir(mode=0o700)
    (left / "lock").write_text(f"tandem: process 7 on {host or socket.gethostname()}\n{boot}\n1234")
    (left / f"{output}.journal").write_text("".join(line_of_journal(line) for line in journal))
    return left
