"""What a disk may hold after a power cut, computed from what a program did to it.

The model.  A write is safe once its file was synced after it; what happened to names in a folder,
once that folder was.  Of the rest a cut keeps anything: of the writes to each file any selection,
in any order (a later one without an earlier one), each whole, not at all, or some of its sectors of
512 bytes and not others; of the changes of names in a folder the first so many.  A file that grew
for a write that did not arrive holds zeros there, or has not grown.

Invariant: pure computing; nothing here touches a real file but :meth:`State.put`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path, PurePosixPath
from random import Random

from tests.crash.shim import Kind, Operation

SECTOR = 512
#: So many unsynced writes to a file are tried in all selections; of more, some.
MOST_EXHAUSTIVE = 5
#: Shared memory of running programs, which a power cut ends; SQLite makes it anew.
VOLATILE = "-shm"


@dataclass
class Inode:
    """A file whatever its name: what is safe, and what was done since."""

    safe: bytearray = field(default_factory=bytearray)
    waiting: list[Operation] = field(default_factory=list)

    def sync(self) -> None:
        for operation in self.waiting:
            apply(self.safe, operation)
        self.waiting.clear()


def apply(content: bytearray, operation: Operation, sectors: frozenset[int] | None = None) -> None:
    """Do a write or a truncation, or only some sectors of a write, counted from its start."""
    if operation.kind is Kind.TRUNCATE:
        del content[operation.offset :]
        content.extend(bytes(operation.offset - len(content)))
        return
    end = operation.offset + len(operation.data)
    content.extend(bytes(max(0, end - len(content))))
    if sectors is None:
        content[operation.offset : end] = operation.data
        return
    for sector in sectors:
        start = sector * SECTOR
        part = operation.data[start : start + SECTOR]
        content[operation.offset + start : operation.offset + start + len(part)] = part


@dataclass(frozen=True)
class State:
    """What is found after a cut.

    Attributes:
        files: the content of each file, by its whole name.
        folders: the folders there are.
        marks: what the program had promised before the cut.
        place: how many operations had been done.
        how: which of the unsafe ones are there, in words.
    """

    files: dict[str, bytes]
    folders: tuple[str, ...]
    marks: tuple[str, ...]
    place: int
    how: str

    @property
    def digest(self) -> bytes:
        """Equal for states in which the same is found."""
        sha = hashlib.sha256()
        for name, content in sorted(self.files.items()):
            sha.update(f"{name} {len(content)} ".encode())
            sha.update(content)
        return sha.digest()

    def put(self, recorded: Path, folder: Path) -> None:
        """Make real files of it, in ``folder`` what lay in ``recorded``."""
        for name in self.folders:
            (folder / PurePosixPath(name).relative_to(recorded)).mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            path = folder / PurePosixPath(name).relative_to(recorded)
            if path.parent.is_dir():
                path.write_bytes(content)


class Disk:
    """A disk on which recorded operations are done one by one.

    Args:
        files: what lies on it, safely, before the first.
        folders: the folders, likewise.
    """

    def __init__(self, files: dict[str, bytes], folders: Iterable[str]) -> None:
        self._inodes = {name: Inode(bytearray(content)) for name, content in files.items()}
        #: Names that are safe, and those that the running program sees.
        self._safe_names: dict[str, Inode | None] = {**self._inodes, **dict.fromkeys(folders)}
        self._names = dict(self._safe_names)
        self._name_changes: dict[str, list[tuple[str, Inode | None, bool]]] = {}
        self._handles: dict[int, tuple[str, Inode | None]] = {}
        self.marks: list[str] = []
        self.done = 0

    def do(self, operation: Operation) -> None:
        """Do one operation."""
        self.done += 1
        match operation.kind:
            case Kind.MARK:
                self.marks.append(operation.path)
            case Kind.CREATE:
                self._name(operation.path, Inode())
            case Kind.MKDIR:
                self._name(operation.path, None)
            case Kind.OPEN:
                inode = self._names.get(operation.path)
                self._handles[operation.handle] = operation.path, inode
            case Kind.WRITE | Kind.TRUNCATE:
                path, inode = self._handles[operation.handle]
                assert inode is not None
                if not path.endswith(VOLATILE):
                    inode.waiting.append(operation)
            case Kind.SYNC:
                path, inode = self._handles[operation.handle]
                if inode is not None:
                    inode.sync()
                else:
                    for change in self._name_changes.pop(path, []):
                        self._safe_names = renamed(self._safe_names, change)
            case Kind.UNLINK:
                self._unname(operation.path)
            case Kind.RENAME:
                inode = self._names.get(operation.path)
                self._name(operation.other, inode)
                # Both at once: a cut between the two never shows.
                self._unname(operation.path, together=True)

    def _name(self, path: str, inode: Inode | None) -> None:
        self._names[path] = inode
        self._changes_in(path).append((path, inode, True))

    def _unname(self, path: str, *, together: bool = False) -> None:
        self._names.pop(path, None)
        self._changes_in(path).append((path, None, False))
        if together:
            changes = self._changes_in(path)
            (gone, _, _), (new, inode, _) = changes.pop(), changes.pop()
            changes.append((f"{new}\0{gone}", inode, True))

    def _changes_in(self, path: str) -> list[tuple[str, Inode | None, bool]]:
        return self._name_changes.setdefault(str(PurePosixPath(path).parent), [])

    # -- cuts -----------------------------------------------------------------------------------

    def states(self, rng: Random, few: int | None = None) -> Iterator[State]:
        """What may be found after a cut at this moment.

        Args:
            rng: which of the many selections are tried.
            few: no more than so many states, chosen at random; None is all that are tried.
        """
        names = [
            dict(zip(self._name_changes, counts, strict=True))
            for counts in product(*(range(len(c) + 1) for c in self._name_changes.values()))
        ]
        unsafe = [inode for inode in self._all_inodes() if inode.waiting]
        selections = list(self._selections(unsafe, rng))
        pairs = list(product(names, selections))
        if few is not None and len(pairs) > few:
            pairs = rng.sample(pairs, few)
        for counts, (kept, how) in pairs:
            found = self._safe_names
            for folder, count in counts.items():
                for change in self._name_changes[folder][:count]:
                    found = renamed(found, change)
            yield State(
                {
                    name: content_of(inode, kept.get(id(inode), ()))
                    for name, inode in found.items()
                    if inode is not None and not name.endswith(VOLATILE)
                },
                tuple(name for name, inode in found.items() if inode is None),
                tuple(self.marks),
                self.done,
                f"names {list(counts.values())}, {how}",
            )

    def _all_inodes(self) -> list[Inode]:
        found = {id(inode): inode for inode in self._safe_names.values() if inode is not None}
        for changes in self._name_changes.values():
            found |= {id(inode): inode for _, inode, _ in changes if inode is not None}
        return list(found.values())

    def _selections(
        self, unsafe: Sequence[Inode], rng: Random
    ) -> Iterator[tuple[dict[int, tuple[Part, ...]], str]]:
        """For each file with unsafe writes, which parts of them are there."""
        if not unsafe:
            yield {}, "all safe"
            return
        for choice in product(*(list(selections_of(inode.waiting, rng)) for inode in unsafe)):
            kept = {id(inode): parts for inode, (parts, _) in zip(unsafe, choice, strict=True)}
            yield kept, "; ".join(how for _, how in choice)


#: A write or truncation, and which of its sectors are there; None is all.
Part = tuple[Operation, frozenset[int] | None]


def renamed(
    names: dict[str, Inode | None], change: tuple[str, Inode | None, bool]
) -> dict[str, Inode | None]:
    """The names after one change."""
    path, inode, there = change
    new, _, gone = path.partition("\0")
    changed = dict(names)
    if gone:
        changed.pop(gone, None)
    if there:
        changed[new] = inode
    else:
        changed.pop(new, None)
    return changed


def content_of(inode: Inode, parts: Sequence[Part]) -> bytes:
    """What the file holds when some of what was done to it is there."""
    content = bytearray(inode.safe)
    for operation, sectors in parts:
        apply(content, operation, sectors)
    return bytes(content)


def selections_of(
    waiting: Sequence[Operation], rng: Random
) -> Iterator[tuple[tuple[Part, ...], str]]:
    """Selections of what is not safe: all of them when they are few, else the telling ones."""
    count = len(waiting)
    if count <= MOST_EXHAUSTIVE:
        masks = set(range(1 << count))
    else:
        masks = {(1 << n) - 1 for n in range(count + 1)}  # the first n
        masks |= {((1 << count) - 1) ^ (1 << n) for n in range(count)}  # all but one
        masks |= {1 << n for n in range(count)}  # one alone
        masks |= {rng.getrandbits(count) for _ in range(16)}
    for mask in sorted(masks):
        kept = [operation for n, operation in enumerate(waiting) if mask >> n & 1]
        yield tuple((operation, None) for operation in kept), f"writes {mask:0{count}b}"
        torn = [n for n, operation in enumerate(kept) if operation.kind is Kind.WRITE]
        if torn:
            # One of them only in part.
            index = rng.choice(torn)
            sectors = -(-len(kept[index].data) // SECTOR)
            some = frozenset(n for n in range(sectors) if rng.random() < 0.5)
            parts = [(operation, None) for operation in kept]
            yield (
                (*parts[:index], (kept[index], some), *parts[index + 1 :]),
                f"writes {mask:0{count}b}, {len(some)} of {sectors} sectors of number {index}",
            )
