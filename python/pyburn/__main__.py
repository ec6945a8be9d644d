"""``python -m pyburn``: the version and the devices."""

from __future__ import annotations

import pyburn


def main() -> None:
    """Prints the version, each backend with its devices or why it has none, and the threads."""
    print(f"pyburn {pyburn.__version__}")
    for backend in pyburn.backends():
        print(f"  {backend!r}")
    print(f"  threads: {pyburn.get_num_threads()}")


if __name__ == "__main__":
    main()
