"""Public headers as Markdown for Sphinx's C++ domain: what they declare, with their docstrings.

The headers have one layout (.clang-format) and one way of docstrings (`///` before, `///<` behind), so no compiler is
needed to read them.
"""
import pathlib
import re


def version(root):
    return re.search(r'TANDEM_VERSION "(.*)"', (root / "core" / "version.hpp").read_text())[1]


def public_headers(root):
    """The headers that are installed, as CMakeLists.txt lists them."""
    return sorted(re.search(r"set\(public_headers(.*?)\)", (root / "CMakeLists.txt").read_text(), re.DOTALL)[1].split())


def declarations(text):
    """(docstring, code, whether it follows the one before at once) of what a scope declares. Code keeps its bodies."""
    found, docs, code, depth, gap = [], [], [], 0, True
    for line in text.splitlines():
        bare = line.strip()
        if not code and bare.startswith("///") and not bare.startswith("///<"):
            docs.append(bare[3:].removeprefix(" "))
            continue
        if not code and (not bare or bare.startswith(("//", "#"))):
            gap = gap or not bare
            continue
        code.append(line)
        plain = re.sub(r'"(\\.|[^"])*"|//.*', "", line)
        depth += sum(plain.count(c) for c in "{(") - sum(plain.count(c) for c in "})")
        if depth == 0 and plain.rstrip().endswith((";", "}")):
            behind = [part.split("///<")[1].strip() for part in code if "///<" in part]
            if not is_type("\n".join(code)):
                docs += behind
            found.append(("\n".join(docs), "\n".join(code), not gap and not docs))
            docs, code, gap = [], [], False
    if code:
        raise ValueError(f"no end of a declaration was found: {code[0]}")
    return found


def without_comments(code):
    return re.sub(r"\s*//.*", "", code)


def is_type(code):
    return bool(re.match(r"(template\s*<[^{;]*?>\s*)?(struct|class|enum|concept)\b", without_comments(code).strip()))


def body_at(code):
    """Where the body in braces of a function begins, or its list of initialisers; else -1."""
    depth = 0
    for i, c in enumerate(code):
        depth += (c in "(<") - (c in ")" or (c == ">" and code[i - 1] != "-"))
        before = code[:i].rstrip()
        if depth == 0 and c in "{:" and re.search(r"(\)|const|noexcept|&)$", before) and code[i:i + 2] != "::":
            return i
    return -1


def signature(code):
    """A declaration on one line, without body and semicolon."""
    code = " ".join(without_comments(code).split())
    code = code.replace("( ", "(")
    code = re.sub(r"operator(<|>|<=|>=|<<|>>)\(", r"operator\1 (", code)
    at = body_at(code)
    return (code[:at] if at >= 0 else code.rstrip(";")).strip().removeprefix("inline ").removeprefix("constexpr ")


def members(code, kind):
    """The public part of the body of a type, as it stands in the header, without bodies of functions."""
    inside, public, shown = code[code.index("{") + 1:code.rindex("}")], kind != "class", []
    if kind.startswith("enum"):
        shown = inside.splitlines()
    else:
        last = code.rstrip().splitlines()[-1]
        own = " " * (len(last) - len(last.lstrip()) + 1)  # members of a class within are further in
        for block in re.split(rf"^{own}(public|private|protected):.*\n", inside, flags=re.MULTILINE):
            if block in ("public", "private", "protected"):
                public = block == "public"
            elif public:
                shown += [line for part in kept(block) for line in cut(part).splitlines()]
    indent = min((len(line) - len(line.lstrip()) for line in shown if line.strip()), default=0)
    return "\n".join(line[indent:] for line in shown).strip("\n")


def kept(block):
    """Docstrings and declarations of members, each with its lines; friends that only open a door are left out."""
    for docs, code, _ in declarations(block):
        if code.strip().startswith("friend class"):
            continue
        if any("///<" in line for line in code.splitlines()):
            docs = "" if not is_type(code) else docs
        pad = re.match(r" *", code)[0]
        yield from (f"{pad}/// {line}".rstrip() for line in docs.splitlines())
        yield code


def cut(code):
    if is_type(code) or code.lstrip().startswith("///"):
        return code
    bare = without_comments(code)
    at = body_at(bare)
    behind = re.search(r"///<.*", code)
    return code if at < 0 else bare[:at].rstrip() + ";" + (f"  {behind[0]}" if behind else "")


def text_of(docs):
    """A docstring as Markdown."""
    docs = re.sub(r"(`[^`]*`)|([<$|])", lambda m: m[1] or "\\" + m[2], docs)
    return re.sub(r"@throws\s+", "Throws ", docs)


def entry_of(kind, head, docs, code=""):
    code = f"\n```cpp\n{code}\n```\n" if code else ""
    return f"`````{{cpp:{kind}}} {head}\n{text_of(docs)}\n{code}`````\n"


def directive(docs, code):
    """An entry of the reference."""
    bare = without_comments(code).strip()
    opening = r"(template\s*<[^{;]*?>\s*)?(struct|class|enum class|enum|concept|using)?\b"
    template, kind = re.match(opening, bare).groups()
    head = bare[len(template or "") + len(kind or ""):]
    template = template.strip() + " " if template else ""
    if kind in ("struct", "class", "enum class", "enum"):
        if "{" not in bare:
            return ""  # a name that is declared before its time
        head = " ".join(head[:head.index("{")].split()).removesuffix(" final")
        return entry_of(kind.replace(" ", "-"), template + head, docs, members(code, kind))
    if kind == "concept":
        name, needs = head.split("=", 1)
        return entry_of(kind, template + name.strip(), docs, code[code.index(needs.strip()[:10]):])
    if kind == "using":
        return entry_of("type", template + signature(head), docs)
    if "(" in bare:
        return entry_of("function", signature(code), docs)
    return f"```cpp\n{code.strip()}\n```\n"


def page_of(root, folder):
    """The headers of a folder as Markdown."""
    parts = ["```{cpp:namespace} tandem\n```\n"]
    for name in public_headers(root):
        if not name.startswith(folder + "/"):
            continue
        spaces = re.findall(r"^namespace TANDEM_PUBLIC tandem \{\n(.*?)^\}  // namespace tandem",
                            (pathlib.Path(root) / name).read_text(), re.DOTALL | re.MULTILINE)
        found = [entry for space in spaces for entry in declarations(space)]
        entries = [directive(*entry[:2]) for entry in shared(found)]
        if any(entries):
            parts += [f"## `tandem/{name}`\n", *filter(None, entries)]
    return "\n".join(parts)


def shared(found):
    """Functions that follow one another at once share the docstring of the first, which then stands below the last."""
    entries = []
    for docs, code, follows in found:
        if follows and entries and not is_type(code) and not is_type(entries[-1][1]) and "///<" not in entries[-1][1]:
            docs, entries[-1] = entries[-1][0], ("", entries[-1][1])
        entries.append((docs, code))
    return entries
