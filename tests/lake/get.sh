#!/usr/bin/env bash
# Lays an engine out in a folder, for the tests of this one, and prints its name: DuckDB, of which
# some 25 MB come from npm the first time, or ClickHouse as a library, which takes 550 MB of disk; or the types
# that Grafana and Kubernetes give their files, 60 MB with what reads them.
# Usage: get.sh [duckdb|chdb|schemas [DIR]]
set -euo pipefail
name=${1:-duckdb}
dir=${2:-${XDG_CACHE_HOME:-$HOME/.cache}/etwgen-$name}
case $name in
duckdb) package=@duckdb/node-api@1.5.6-r.1 ;;
chdb) package=chdb@3.4.0 ;;
schemas) package=typescript@7.0.2 others="@grafana/schema@13.2.3 kubernetes-types@1.30.0 js-yaml@5.5.0" ;;
*) echo "$name: there are duckdb, chdb and schemas" >&2; exit 2 ;;
esac
command -v node >/dev/null && command -v npm >/dev/null || { echo "there is no node with npm" >&2; exit 1; }
mkdir -p "$dir"
cd "$dir"
if [ ! -d "node_modules/${package%@*}" ]; then
	echo '{"private":true}' >package.json
	timeout 300 npm install --silent --no-audit --no-fund "$package" ${others:-} >&2
fi
node -e "require('${package%@*}')"
echo "$dir"
