"""Keys that wait to be reconciled: each at most once, by one worker at a time.

A key that is added while it is being worked on is worked on once more afterwards, so that no
change is missed; a key that is added many times while it waits is worked on once.
"""

import asyncio
import heapq
import time
from collections.abc import Hashable
from typing import Generic, NamedTuple, TypeVar

Key = TypeVar("Key", bound=Hashable)


class _Due(NamedTuple):
    """When a key is to be worked on, monotonic seconds; after all that are due but not `behind`."""

    behind: bool
    at: float


class Workqueue(Generic[Key]):
    """A delaying, deduplicating queue. All calls come from one event loop."""

    def __init__(self) -> None:
        self._due: dict[Key, _Due] = {}
        self._heap: list[tuple[_Due, int, Key]] = []
        self._active: set[Key] = set()
        self._again: dict[Key, _Due] = {}
        self._changed = asyncio.Event()
        self._serial = 0

    def __len__(self) -> int:
        return len(self._due)

    def add(self, key: Key, delay: float = 0.0) -> None:
        """Have the key worked on in `delay` seconds, or earlier if it is due earlier already."""
        self._add(key, _Due(True, time.monotonic() + delay))

    def add_first(self, key: Key) -> None:
        """Have the key worked on before all that are due, but others that were added so."""
        self._add(key, _Due(False, time.monotonic()))

    def _add(self, key: Key, due: _Due) -> None:
        if key in self._active:
            self._again[key] = min(due, self._again.get(key, due))
            return
        if key in self._due and self._due[key] <= due:
            return
        self._due[key] = due
        self._serial += 1
        heapq.heappush(self._heap, (due, self._serial, key))
        self._changed.set()

    async def get(self) -> tuple[Key, float]:
        """The next key that is due, and for how long it has been, seconds.

        Must be followed by `done`.
        """
        while True:
            self._changed.clear()
            while self._heap and self._due.get(self._heap[0][2]) != self._heap[0][0]:
                heapq.heappop(self._heap)  # replaced by an earlier entry, or worked on since
            now = time.monotonic()
            if self._heap and self._heap[0][0].at <= now:
                due, _, key = heapq.heappop(self._heap)
                del self._due[key]
                self._active.add(key)
                return key, now - due.at
            wait = self._heap[0][0].at - now if self._heap else None
            try:
                await asyncio.wait_for(self._changed.wait(), wait)
            except TimeoutError:
                continue

    def done(self, key: Key) -> None:
        """The key is not worked on any more."""
        self._active.discard(key)
        if key in self._again:
            self._add(key, self._again.pop(key))
