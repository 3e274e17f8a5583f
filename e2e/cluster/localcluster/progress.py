"""Progress on the terminal: one line a task, redrawn on a terminal, sparse elsewhere."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

_SECONDS_BETWEEN_LINES = 15.0
_SECONDS_BETWEEN_DRAWS = 0.2


class Task:
    """One step under way, with an optional count of what it is made of."""

    def __init__(self, name: str, total: int | None, clock: float) -> None:
        self.name = name
        self.total = total
        self.done = 0
        self.note = ""
        self.started = clock

    def advance(self) -> None:
        """Counts one more part as done."""
        self.done += 1

    def describe(self, now: float) -> str:
        """The task as one line, for example ``build kube 120/1800 34s``."""
        parts = [self.name]
        if self.total:
            parts.append(f"{min(self.done, self.total)}/{self.total}")
        if self.note:
            parts.append(self.note)
        parts.append(f"{now - self.started:.0f}s")
        return " ".join(parts)


class Progress:
    """Shows running tasks; safe to use from several threads."""

    def __init__(self, stream: TextIO = sys.stderr) -> None:
        self._stream = stream
        self._terminal = stream.isatty()
        self._lock = threading.Lock()
        self._tasks: list[Task] = []

    def say(self, text: str) -> None:
        """Prints a line of its own."""
        with self._lock:
            self._clear()
            print(text, file=self._stream, flush=True)

    @contextmanager
    def task(self, name: str, total: int | None = None) -> Iterator[Task]:
        """Shows ``name`` while the block runs, and how long it took when it ends."""
        task = Task(name, total, time.monotonic())
        with self._lock:
            self._tasks.append(task)
        stop = threading.Event()
        ticker = threading.Thread(target=self._tick, args=(task, stop), daemon=True)
        ticker.start()
        outcome = "failed"
        try:
            yield task
            outcome = "ok"
        finally:
            stop.set()
            ticker.join()
            with self._lock:
                self._tasks.remove(task)
                self._clear()
                seconds = time.monotonic() - task.started
                note = f" ({task.note})" if task.note else ""
                print(f"  {outcome:6} {name}{note} {seconds:.1f}s", file=self._stream, flush=True)

    def _tick(self, task: Task, stop: threading.Event) -> None:
        interval = _SECONDS_BETWEEN_DRAWS if self._terminal else _SECONDS_BETWEEN_LINES
        while not stop.wait(interval):
            with self._lock:
                now = time.monotonic()
                if not self._terminal:
                    print(f"  ...    {task.describe(now)}", file=self._stream, flush=True)
                elif self._tasks[0] is task:
                    self._clear()
                    line = " | ".join(running.describe(now) for running in self._tasks)
                    self._stream.write(line[:110])
                    self._stream.flush()

    def _clear(self) -> None:
        if self._terminal:
            self._stream.write("\r\x1b[K")
