"""The packages that are compared. A new one is a file of this folder, as scikit_image.py is, and a line of PEERS.

The file has a function of each beam that the package can do: parallel(case, device), fan(...), cone(...), and where it
takes any place of each view, fan_vectors(...) and cone_vectors(...). It returns a Tool, or raises NotHere with the
reason why this device or this beam does not go.
"""
import dataclasses
import importlib
from typing import Callable, Optional


@dataclasses.dataclass(frozen=True)
class Peer:
    package: str  # as PyPI has it; its version is in requirements.txt
    module: str  # the file of this folder
    title: str = ""
    options: tuple = ()  # handed to its functions

    @property
    def name(self):
        return self.title or self.package


PEERS = [
    Peer("tandem", "tandem_"),
    Peer("tandem", "tandem_", "tandem, Fourier", ("fourier",)),
    Peer("astra-toolbox", "astra_", "ASTRA"),
    Peer("itk-rtk", "rtk", "RTK"),
    Peer("diffct", "diffct_"),
    Peer("mbirtorch", "mbirtorch_"),
    Peer("torchtomo", "torchtomo_"),
    Peer("algotom", "algotom_"),
    Peer("scikit-image", "scikit_image"),
]


class NotHere(Exception):
    """What a package cannot do here, in words for the table."""


@dataclasses.dataclass
class Tool:
    """What a package does for one case: functions of arrays of its own kind, in its own layout, where it takes them.

    to_* and from_* change NumPy's (slice, y, x) and (view, row, bin) to these and back; they are not timed.
    """
    model: str
    to_volume: Callable
    from_volume: Callable
    to_data: Callable
    from_data: Callable
    forward: Optional[Callable] = None
    back: Optional[Callable] = None
    reconstruct: Optional[Callable] = None
    slices: Optional[int] = None  # how many it takes in a call; None: all
    off: float = 0.0  # where it has the axis, see Case
    transfers: bool = False  # to the device and from it, in each call
    lacks: dict = dataclasses.field(default_factory=dict)  # operation: why there is none


def named(name):
    return next(peer for peer in PEERS if peer.name == name)


def tool_of(peer, case, device):
    module = importlib.import_module(f"peers.{peer.module}")
    make = getattr(module, case.beam, None)
    if make is None:
        raise NotHere(f"no {case.beam.replace('_', ' beam by ')}{'' if '_' in case.beam else ' beam'}, or none that is "
                      "tried here")
    return make(case, device, *peer.options)
