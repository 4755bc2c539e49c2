#!/usr/bin/env bash
# Runs the tests of live processes on Windows, or rather under wine, with a real .NET 10
# for Windows: named pipes, sessions, ports that programs connect to. It takes wine64 and
# a cross-compiler for C, which Debian has, and some 40 MB from npm the first time.
# Exit code 3 says that something of these cannot be had.
# Usage: wine.sh [DIR]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/etwgen-wine}
lacking() { echo "$* cannot be had here" >&2; exit 3; }
[ "$(uname -sm)" = "Linux x86_64" ] || lacking "wine for x86-64"
if ! command -v wine >/dev/null || ! command -v x86_64-w64-mingw32-gcc >/dev/null; then
	command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] || lacking wine
	{ timeout 120 apt-get update && timeout 240 apt-get install -y --no-install-recommends wine64 wine gcc-mingw-w64-x86-64; } >/dev/null 2>&1 || lacking wine
fi
command -v npm >/dev/null || lacking "npm, and .NET for Windows,"
mkdir -p "$dir"
cd "$dir"
if [ ! -d win10 ]; then
	archive=$(timeout 100 npm pack --silent @azure/mcp-win32-x64@2.0.5 2>/dev/null | tail -1) || lacking ".NET for Windows"
	rm -rf win10.part
	mkdir win10.part
	tar xzf "$archive" -C win10.part
	rm "$archive"
	mv win10.part win10
fi
export WINEPREFIX=$dir/prefix WINEDEBUG=-all DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1
trap 'wineserver -k || true' EXIT
if [ ! -d prefix ]; then
	timeout 120 wineboot -i >/dev/null 2>&1 || lacking "a folder of wine"
	# Go wants a function for random numbers that this wine does not have yet.
	cat >random.c <<-'C'
		#include <windows.h>
		#include <ntsecapi.h>
		BOOL WINAPI ProcessPrng(void *p, size_t n) { return RtlGenRandom(p, (ULONG)n); }
	C
	x86_64-w64-mingw32-gcc -shared -o prefix/drive_c/windows/system32/bcryptprimitives.dll random.c -ladvapi32
fi
cd "$here/../.."
for package in runtime/eventpipe tests/live; do
	GOOS=windows GOARCH=amd64 go test -c -o "$dir/package.test.exe" "./$package"
	(cd "$package" && ETWGEN_DOTNET=$(winepath -w "$dir" 2>/dev/null) timeout 300 wine "$dir/package.test.exe")
done
