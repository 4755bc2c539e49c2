#!/usr/bin/env bash
# Lays DuckDB out in a folder, for the tests of this one, and prints its name. It takes
# some 25 MB from npm the first time.
# Usage: get.sh [DIR]
set -euo pipefail
dir=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/etwgen-duckdb}
command -v node >/dev/null && command -v npm >/dev/null || { echo "there is no node with npm" >&2; exit 1; }
mkdir -p "$dir"
cd "$dir"
if [ ! -d node_modules/@duckdb/node-api ]; then
	echo '{"private":true}' >package.json
	timeout 120 npm install --silent --no-audit --no-fund @duckdb/node-api@1.5.6-r.1 >&2
fi
node -e 'require("@duckdb/node-api")'
echo "$dir"
