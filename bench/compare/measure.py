"""One package on one case, in a process of its own: writes a line of JSON for each finding as soon as it is there.

    measure.py PEER CASE.json FOLDER DEVICE REPEAT SECONDS        (compare.py calls it)
"""
import dataclasses
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import threading
import time

import numpy as np

import cases
import peers

OPERATIONS = ("forward", "back", "reconstruct")


def say(**finding):
    print("FOUND " + json.dumps(finding), flush=True)


def waiting(device):
    if device == "cpu":
        return lambda: None
    import torch
    return torch.cuda.synchronize


class Memory:
    """The largest memory of the process in between, MiB. On the host, Linux counts it. On a GPU, it is all memory in
    use, less what was in use before the process began, and is asked for every 20 ms."""

    def __init__(self, device):
        self.device, self.before = device, 0
        if device == "cuda":
            self.before = int(subprocess.check_output([*self.asked, "-i", "0"], text=True).split()[0])

    asked = ("nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits")

    def __enter__(self):
        if self.device == "cuda":
            self.seen = []
            self.child = subprocess.Popen([*self.asked, "-i", "0", "-lms", "20"], text=True, stdout=subprocess.PIPE)
            self.seen.append(int(self.child.stdout.readline()))
            self.reader = threading.Thread(target=lambda: self.seen.extend(map(int, self.child.stdout)))
            self.reader.start()
        else:
            pathlib.Path("/proc/self/clear_refs").write_text("5")  # forgets the peak (proc(5))
        return self

    def __exit__(self, *_):
        if self.device == "cuda":
            time.sleep(0.05)
            self.child.terminate()
            self.reader.join()
            self.peak = max(self.seen) - self.before
        else:
            lines = pathlib.Path("/proc/self/status").read_text().splitlines()
            self.peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def cpu_seconds():
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def timed(work, given, wait, repeat, seconds):
    """The result of the first call, which touches memory and compiles; then times, and how many cores were busy."""
    begin = time.perf_counter()
    result = work(given)
    wait()
    first, walls, cpu = time.perf_counter() - begin, [], []
    while len(walls) < repeat and (not walls or time.perf_counter() - begin < seconds):
        used, start = cpu_seconds(), time.perf_counter()
        work(given)
        wait()
        walls.append(time.perf_counter() - start)
        cpu.append(cpu_seconds() - used)
    return result, {"first_s": first, "best_s": min(walls), "median_s": statistics.median(walls), "calls": len(walls),
                    "cpu_s": min(cpu), "cores": sum(cpu) / sum(walls)}


def judged(operation, case, result, tool, volume, data):
    """How far the result is from the closed form."""
    if operation == "forward":
        return {"error": cases.error(tool.from_data(result), data)}
    found = np.asarray(tool.from_volume(result))
    if operation == "reconstruct":
        found, exact = cases.judged(case, found), cases.judged(case, volume)
        return {"error": cases.error(found, exact), "scale": cases.scale(found, exact)}
    known = cases.exact_back(case)
    if known is None:
        return {}
    pixels, exact = known
    found = np.asarray(found[0], np.float64).reshape(-1)[pixels]
    factor = np.vdot(exact, found) / np.vdot(exact, exact)
    return {"error": cases.error(found / factor, exact), "scale": float(factor)}


def matching(case, tool, trials=8):
    """kappa and mu, as docs/kernels.md has them, and what is strict: |<Ax,y> - <x,By>| / <Ax,y> of positive vectors."""
    inside = cases.circle(case)  # some packages leave the corners out
    random = np.random.default_rng(1)
    inner = lambda a, b: float(np.vdot(np.asarray(a, np.float64), np.asarray(b, np.float64)))

    def products(draw):
        x, y = draw(case.volume_shape) * inside, draw(case.data_shape)
        forward = inner(tool.from_data(tool.forward(tool.to_volume(x))), y)
        return forward, inner(x, tool.from_volume(tool.back(tool.to_data(y))))

    positive = [products(lambda shape: random.random(shape, np.float32)) for _ in range(2)]
    kappa = statistics.mean(f / b for f, b in positive)
    signs = np.array([-1, 1], np.float32)
    signed = [products(lambda shape: random.choice(signs, shape)) for _ in range(trials)]
    rest = math.sqrt(sum((f - kappa * b) ** 2 for f, b in signed) / sum(f * f for f, _ in signed))
    return {"kappa": kappa, "mu": rest, "strict": max(abs(f - b) / f for f, b in positive)}


def known(case, tool, folder):
    """The case as the package takes it, and what is exact there."""
    if tool.off:
        own = dataclasses.replace(case.with_slices(tool.slices), off=tool.off)
        return own, cases.exact_volume(own), cases.exact_data(own)
    volume, data = (np.load(folder / name, mmap_mode="r") for name in ("volume.npy", "data.npy"))
    if tool.slices in (None, case.slices):
        return case, volume, data
    return case.with_slices(tool.slices), volume[:tool.slices], data[:, :tool.slices]


def attempt(operation, work):
    say(begins=operation)
    try:
        say(operation=operation, **work())
    except Exception as error:  # any kind of error: the next operation may work
        said = str(error).strip().splitlines()
        say(failed=operation, reason=f"{type(error).__name__}: {said[-1].strip()[:200] if said else ''}")


def main():
    name, file, folder, device, repeat, seconds = sys.argv[1:]
    peer, folder = peers.named(name), pathlib.Path(folder)
    case = cases.Case(**json.loads(pathlib.Path(file).read_text()))
    memory = Memory(device)
    try:
        tool = peers.tool_of(peer, case, device)
        slices = tool.slices or case.slices
        say(model=tool.model, slices=slices, transfers=tool.transfers, lacks=tool.lacks)
    except peers.NotHere as reason:
        say(not_here=str(reason))
        return
    wait = waiting(device)
    case, volume, data = known(case, tool, folder)
    for operation in filter(lambda operation: getattr(tool, operation), OPERATIONS):
        work = getattr(tool, operation)

        def measured():
            given = tool.to_volume(volume) if operation == "forward" else tool.to_data(data)
            limits = int(repeat), float(seconds)
            if device == "cpu":
                with memory:
                    result, times = timed(work, given, wait, *limits)
            else:  # asking a GPU for its memory costs time
                result, times = timed(work, given, wait, *limits)
                with memory:
                    timed(work, given, wait, 100, 0.5)
            return {**times, "peak_mib": memory.peak, **judged(operation, case, result, tool, volume, data)}

        attempt(operation, measured)
    if tool.forward and tool.back:
        small = cases.smaller(case)
        attempt("pair", lambda: matching(small, peers.tool_of(peer, small, device)))


if __name__ == "__main__":
    main()
