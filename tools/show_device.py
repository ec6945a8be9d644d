"""Print every backend, and fail unless the named one can be used.

python tools/show_device.py wgpu
"""

from __future__ import annotations

import sys

import pyburn


def main() -> int:
    """The command line."""
    name = sys.argv[1]
    found = {entry.name: entry for entry in pyburn.backend.backends()}
    print(*found.values(), sep="\n")
    if name not in found:
        print(f"there is no backend {name}, expected one of {', '.join(found)}", file=sys.stderr)
        return 2
    return 0 if found[name].available else 1


if __name__ == "__main__":
    sys.exit(main())
