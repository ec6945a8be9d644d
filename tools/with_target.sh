#!/bin/sh
# Run a command that calls Cargo, alone in Cargo's target folder and on honest file times.
#
#     tools/with_target.sh cargo test
#
# Several checkouts may share one target folder, so that dependencies are compiled once. Cargo then
# knows our own crates by their place in the workspace, and takes a source for unchanged if it is
# older than what was built last, even if that was built from another checkout. So the sources count
# as new whenever another checkout was here in between.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
mkdir -p "$target"

if command -v flock >/dev/null; then
    exec 9>"$target/.pyburn-lock"
    flock 9
fi
checkout=$(ls -di "$root") # its number too: another checkout may have been at the same place
if [ "$(cat "$target/.pyburn-checkout" 2>/dev/null || true)" != "$checkout" ]; then
    find "$root/crates" "$root/examples" -type f -exec touch {} +
    echo "$checkout" >"$target/.pyburn-checkout"
fi
"$@"
