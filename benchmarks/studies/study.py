"""The command line of measurements that are run by themselves and keep what they found."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Entries = list[dict[str, Any]]


def run(
    doc: str,
    results: Path,
    measure: Callable[[int], Entries],
    render: Callable[[Entries], str],
    draw: Callable[[Entries, Path], None] | None = None,
) -> None:
    """Measure, or read what was measured, and print the table; draw it if asked for."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--render", action="store_true", help="from what was measured")
    parser.add_argument("--seeds", type=int, default=3)
    if draw is not None:
        parser.add_argument("--chart", type=Path, metavar="FILE", help="draw it too")
    options = parser.parse_args()
    if not options.render:
        lines = ",\n".join(json.dumps(entry) for entry in measure(options.seeds))
        results.write_text(f"[\n{lines}\n]\n")
    entries = json.loads(results.read_text())
    print(render(entries))
    if draw is not None and options.chart is not None:
        draw(entries, options.chart)
