#!/usr/bin/env python3
"""Writes the outlines of the letters of captions: outlines.py DejaVuSans.ttf > dejavu_sans.hpp

Needs fonttools. A contour of the font is made of straight lines and quadratic curves. Here all are curves: the control
point of a line is its end. The contours of a letter are joined by lines there and back, which bound nothing.
"""
import sys

from fontTools.pens.basePen import decomposeQuadraticSegment
from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.ttLib import TTFont

CODES = [*range(32, 127), *map(ord, "°±²³µ·×")]


def contours(glyphs, name):
    """Points, each as a pair: the first one, and then control point and end of each curve, back to the first one."""
    pen, points = DecomposingRecordingPen(glyphs), []
    glyphs[name].draw(pen)
    for operation, values in pen.value:
        if operation == "moveTo":
            points = [values[0]]
        elif operation == "lineTo":
            points += [values[0], values[0]]
        elif operation == "qCurveTo":
            points += [point for curve in decomposeQuadraticSegment(values) for point in curve]
        elif operation == "closePath":
            yield points if points[-1] == points[0] else points + [points[0], points[0]]


def joined(all_contours):
    """One closed path."""
    path = []
    for points in all_contours:
        path += points if not path else [points[0], *points]
    for points in reversed(all_contours[:-1]):
        path += [points[0], points[0]]
    return path


def main():
    font = TTFont(sys.argv[1])
    glyphs, names, path, rows = font.getGlyphSet(), font.getBestCmap(), [], []
    for code in CODES:
        rows.append((code, glyphs[names[code]].width, len(path)))
        path += joined(list(contours(glyphs, names[code])))
    version = font["name"].getDebugName(5).split(" Copyright")[0].lower()
    print(f"// Outlines of letters of DejaVu Sans, {version}. Made by outlines.py; the licence is in LICENSE.md.")
    print("#pragma once\n\n// clang-format off\nnamespace dejavu_sans {\n")
    print("/// Lengths are in units, of which an em has this number. y points up from the line on which letters stand.")
    print(f"constexpr int em = {font['head'].unitsPerEm}, x_height = {font['glyf']['x'].yMax};\n")
    print("/// A letter, with the number of its first point. Letters without points are blank.")
    print("struct Glyph {\n  unsigned code;\n  int advance, first;\n};\n")
    print("/// The first point of each letter, then control point and end of each curve, up to the points of the next one.")
    print("constexpr short points[][2] = {")
    line = ""
    for x, y in [(round(x), round(y)) for x, y in path]:
        line += f"{{{x},{y}}},"
        if len(line) > 105:
            print(line)
            line = ""
    print(line + "\n};\n\nconstexpr Glyph glyphs[] = {")
    for k in range(0, len(rows), 6):
        print("    " + " ".join(f"{{{c}, {a}, {f}}}," for c, a, f in rows[k:k + 6]))
    print(f"    {{0, 0, {len(path)}}},  // the end\n}};\n\n}}  // namespace dejavu_sans")


main()
