"""Everything that users meet has a docstring."""
import inspect

import pytest

import tandem


def said(name, value):
    """Its docstring, without the signatures that nanobind writes into it."""
    lines = (getattr(value, "__doc__", None) or "").splitlines()
    return " ".join(line for line in lines if not line.startswith((f"{name}(", f"{name}[", "(self")) or "\\" in line)


def members(kind):
    """The members that a user can name; fields of dataclasses have their words beside them in the source."""
    fields = set(getattr(kind, "__dataclass_fields__", ())) | set(getattr(kind, "_fields", ()))
    return {name: value for name, value in vars(kind).items() if not name.startswith("_") and name not in fields}


PUBLIC = {name: getattr(tandem, name) for name in tandem.__all__}
KINDS = {name: value for name, value in PUBLIC.items() if inspect.isclass(value)}


@pytest.mark.parametrize("name", [n for n, v in PUBLIC.items() if callable(v)])
def test_every_public_name_says_what_it_is(name):
    assert said(name, PUBLIC[name]).strip(), f"tandem.{name} has no docstring"


@pytest.mark.parametrize("kind", list(KINDS))
def test_members_of_public_classes_say_what_they_are(kind):
    bare = [name for name, value in members(KINDS[kind]).items() if not said(name, value).strip()]
    assert not bare, f"tandem.{kind}: no docstring of {', '.join(bare)}"
