"""Pages of volumes and scans, asked as a browser asks them."""
import gc
import json
import socket
import urllib.error
import urllib.parse
import urllib.request
import webbrowser

import numpy as np
import pytest

import tandem
from conftest import random_array

SHAPE = (3, 5, 7)


def get(address):
    with urllib.request.urlopen(address, timeout=30) as answer:
        return answer.headers, answer.read()


def post(address, **command):
    request = urllib.request.Request(address, json.dumps(command).encode(), {"Content-Type": "application/json"})
    return get(request)[1]


def plane(page, **command):
    """The head and the pixels of a plane."""
    line, _, pixels = post(page.address + "plane", **command).partition(b"\n")
    head = json.loads(line)
    return head, np.frombuffer(pixels, np.float32).reshape(head["height"], head["width"])


def is_gone(address):
    try:
        socket.create_connection(("127.0.0.1", urllib.parse.urlsplit(address).port), timeout=5).close()
    except ConnectionRefusedError:
        return True
    return False


def test_look_shows_an_array_as_it_is_now():
    volume = random_array(SHAPE)
    grid = tandem.VolumeGrid(SHAPE[::-1], (0.5, 0.5, 0.25), (1, 2, 3))
    with tandem.look(volume, grid, show=False) as page:
        about = json.loads(get(page.address + "about.json")[1])["volumes"]
        assert [about[0][name] for name in ("shape", "pitch", "centre", "unit_of_length")] == [
            list(SHAPE), [0.25, 0.5, 0.5], [3, 2, 1], "mm"]
        assert np.array_equal(plane(page, axis="z", at=2)[1], volume[2])
        assert np.array_equal(plane(page, axis="y", at=4)[1], volume[:, 4])
        assert np.array_equal(plane(page, axis="x", at=6)[1], volume[:, :, 6])
        volume[2, 1, 3] = 17
        assert json.loads(post(page.address + "value", at=[2, 1, 3]))["values"] == [17]


def test_look_shows_another_array_beside_it():
    one, other = random_array(SHAPE, 1), random_array(SHAPE, 2).astype(np.float64)
    with tandem.look(one, beside=other, show=False) as page:
        assert np.array_equal(plane(page, axis="z", at=0, of=1)[1], other[0].astype(np.float32))
    with pytest.raises(tandem.SpaceError, match=r"beside: shape \(2, 5, 7\)"):
        tandem.look(one, beside=other[:2], show=False)
    with pytest.raises(tandem.SpaceError, match="the grid has"):
        tandem.look(one, tandem.VolumeGrid((7, 5, 4), (1, 1, 1)), show=False)
    with pytest.raises(tandem.SpaceError, match="slice, y, x"):
        tandem.look(np.zeros((0, 5, 7), np.float32), show=False)


def test_look_is_for_those_who_know_the_secret_and_for_notebooks():
    with tandem.look(random_array(SHAPE), show=False) as page:
        headers, text = get(page.address)
        assert b"tandem look" in text
        assert "frame-ancestors http://127.0.0.1:* http://localhost:*" in headers["Content-Security-Policy"]
        assert f'<iframe src="{page.address}"' in page._repr_html_()
        with pytest.raises(urllib.error.HTTPError, match="403"):
            get(page.address[:-33] + "0" * 32 + "/about.json")


def test_look_ends_when_it_is_closed_or_nobody_has_it():
    page = tandem.look(random_array(SHAPE), show=False)
    address = page.address
    assert not is_gone(address)
    page.close()
    page.close()
    assert is_gone(address) and page.closed and "closed" in repr(page) and "iframe" not in page._repr_html_()
    page = tandem.look(random_array(SHAPE), show=False)
    address = page.address
    del page
    gc.collect()
    assert is_gone(address)


def test_look_opens_a_browser_or_prints_the_address(monkeypatch, capsys):
    monkeypatch.setattr("webbrowser.get", object)
    for finds, printed in ((True, ""), (False, "look at ")):
        opened = []
        monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or finds)
        with tandem.look(random_array(SHAPE)) as page:
            assert opened == [page.address]
            assert capsys.readouterr().out == (printed + page.address + "\n" if printed else "")


def test_a_browser_of_text_does_not_take_the_terminal(monkeypatch, capsys):
    opened = []
    monkeypatch.setattr("webbrowser.get", lambda: webbrowser.GenericBrowser("lynx"))
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    monkeypatch.delenv("BROWSER", raising=False)
    with tandem.look(random_array(SHAPE)) as page:
        assert capsys.readouterr().out == f"look at {page.address}\n" and not opened
    monkeypatch.setenv("BROWSER", "lynx")
    with tandem.look(random_array(SHAPE)) as page:
        assert opened == [page.address]


def test_look_shows_files_and_scans(tmp_path):
    volume = random_array(SHAPE)
    for name in ("v.h5", "v.zarr", "v.mha", "v.nrrd"):
        tandem.write_volume(tmp_path / name, volume)
        assert np.array_equal(tandem.read_volume(tmp_path / name), volume)
        with tandem.look(tmp_path / name, beside=tmp_path / "v.h5", show=False) as page:
            assert np.array_equal(plane(page, axis="x", at=1, of=0)[1], volume[:, :, 1])
    scan = tandem.simulate(tmp_path / "scan.h5", size=24, bins=40, rows=3, views=30, progress=False)
    made = tandem.reconstruct(tmp_path / "scan.h5", fbp_filter="hann", slices=(1, 2), progress=False).volume[0]
    with scan.look(fbp_filter="hann", show=False) as page:
        start = json.loads(get(page.address + "about.json")[1])["start"]
        assert start == {"fbp-filter": "hann"}
        line, _, pixels = post(page.address + "slice", options=start, z=1).partition(b"\n")
        head = json.loads(line)
        assert np.array_equal(np.frombuffer(pixels, np.float32).reshape(head["height"], head["width"]), made)
    with pytest.raises(tandem.FileError, match="lost"):
        tandem.look(tmp_path / "lost.h5", show=False)
    with pytest.raises(tandem.UsageError, match="output"):
        scan.look(output="v.h5", show=False)
