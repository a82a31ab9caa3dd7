"""The exceptions of the library, one class for each kind, below the builtin that fits."""


class Error(Exception):
    """The base of everything that the library raises: one line with the place, the value and what would be right."""


class GeometryError(Error, ValueError):
    """Numbers that describe no scan, grid or reconstruction."""


class SpaceError(Error, ValueError):
    """Operator and array do not meet: another shape, or the data of another scan."""


class DeviceError(Error, RuntimeError):
    """A device failed or is not there, or memory does not suffice."""


class FileError(Error, OSError):
    """A file is missing, unreadable, or not what it claims."""


class UsageError(Error, ValueError):
    """Options that are not known, or that do not go together."""


class CopyWarning(UserWarning):
    """An array had to be copied, because it was not float32 in C order."""


class RunWarning(UserWarning):
    """A command warns that its result may be wrong."""
