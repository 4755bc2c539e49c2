#!/usr/bin/env bash
# Runs the tests of live processes on Windows, or rather under wine, with a real .NET 10
# for Windows: named pipes, sessions, ports that programs connect to. It takes wine64 and
# a cross-compiler for C, which Debian has, and some 40 MB from npm the first time.
# Exit code 3 says that something of these cannot be had.
# Usage: wine.sh [DIR]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/etwgen-wine}
. "$here/prefix.sh"
command -v npm >/dev/null || lacking "npm, and .NET for Windows,"
cd "$dir"
if [ ! -d win10 ]; then
	archive=$(timeout 100 npm pack --silent @azure/mcp-win32-x64@2.0.5 2>/dev/null | tail -1) || lacking ".NET for Windows"
	rm -rf win10.part
	mkdir win10.part
	tar xzf "$archive" -C win10.part
	rm "$archive"
	mv win10.part win10
fi
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1
cd "$here/../.."
for package in runtime/eventpipe tests/live; do
	GOOS=windows GOARCH=amd64 go test -c -o "$dir/package.test.exe" "./$package"
	(cd "$package" && ETWGEN_DOTNET=$(winepath -w "$dir" 2>/dev/null) timeout 300 wine "$dir/package.test.exe")
done
