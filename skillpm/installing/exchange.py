"""Exchange two folders in one step, where the system can: then nobody ever sees the name empty."""

import errno
import os
import sys

AT_FDCWD = -100
RENAME_EXCHANGE = 2  # Linux, renameat2(2)
RENAME_SWAP = 2  # macOS, renamex_np(2)
# EXDEV: one of them came with the image of a container.
CANNOT = frozenset([errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM, errno.EXDEV])


def exchange(one: str, other: str) -> bool:
    """Swap what is at two paths of one file system; False where the system cannot, and nothing has happened."""
    if os.name != "posix":
        return False
    import ctypes  # noqa: PLC0415  (only who replaces a folder pays for it)

    library = ctypes.CDLL(None, use_errno=True)
    first, second = os.fsencode(one), os.fsencode(other)
    if sys.platform == "linux" and hasattr(library, "renameat2"):
        result = library.renameat2(AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE)
    elif sys.platform == "darwin" and hasattr(library, "renamex_np"):
        result = library.renamex_np(first, second, RENAME_SWAP)
    else:
        return False
    if result == 0:
        return True
    number = ctypes.get_errno()
    if number in CANNOT:
        return False
    raise OSError(number, os.strerror(number), other)
