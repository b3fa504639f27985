"""What a git and its children hold in memory: a server may name branches, or files of a pack, without an end."""

from contextlib import suppress

ENOUGH = 250_000_000


def most_memory(most_bytes: int) -> int:
    """Give what git may hold while it receives so many bytes at most: what is allowed to be large needs room."""
    return max(ENOUGH, 5 * most_bytes // 2)


def memory_of(process: int) -> int:
    """Give the bytes that a process and all below it hold for themselves; 0 where the system does not tell."""
    total, todo = 0, [process]
    while todo:
        at = todo.pop()
        with suppress(OSError, ValueError):  # it has ended this very moment, or this is no Linux
            with open(f"/proc/{at}/status", "rb") as file:
                held = next((line.split()[1] for line in file if line.startswith(b"RssAnon:")), b"0")
            total += int(held) * 1024
            with open(f"/proc/{at}/task/{at}/children", "rb") as file:
                todo += [int(word) for word in file.read().split()]
    return total
