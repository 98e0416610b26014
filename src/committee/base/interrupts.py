"""Ends work in other threads: Python gives Ctrl-C to the main thread only."""

from __future__ import annotations

import ctypes
import threading


class WorkingThreads:
    """The threads that are inside a ``with`` statement of this object, to be interrupted.

    Examples
    --------
    >>> working = WorkingThreads()
    >>> with working:
    ...     len(working)
    1
    """

    def __init__(self) -> None:
        self._idents: set[int] = set()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._idents)

    def __enter__(self) -> None:
        with self._lock:
            self._idents.add(threading.get_ident())

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._idents.discard(threading.get_ident())

    def interrupt(self) -> None:
        """Raise KeyboardInterrupt in all of them, as soon as they run Python again."""
        with self._lock:  # nobody leaves meanwhile and is hit elsewhere
            for ident in self._idents:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(ident), ctypes.py_object(KeyboardInterrupt)
                )
