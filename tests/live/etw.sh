#!/usr/bin/env bash
# Runs the tests of both ends of ETW under wine, with a small ETW of our own: what is
# written is read back. It takes wine64 and a cross-compiler for C, which Debian has. Exit
# code 3 says that they cannot be had.
# Usage: etw.sh [DIR]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/etwgen-etw}
lacking() { echo "$* cannot be had here" >&2; exit 3; }
[ "$(uname -sm)" = "Linux x86_64" ] || lacking "wine for x86-64"
if ! command -v wine >/dev/null || ! command -v x86_64-w64-mingw32-gcc >/dev/null; then
	command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] || lacking wine
	{ timeout 120 apt-get update && timeout 240 apt-get install -y --no-install-recommends wine64 wine gcc-mingw-w64-x86-64; } >/dev/null 2>&1 || lacking wine
fi
mkdir -p "$dir"
export WINEPREFIX=$dir/prefix WINEDEBUG=-all
trap 'wineserver -k || true' EXIT
if [ ! -d "$WINEPREFIX" ]; then
	timeout 120 wineboot -i >/dev/null 2>&1 || lacking "a folder of wine"
	# Go wants a function for random numbers that this wine does not have yet.
	cat >"$dir/random.c" <<-'C'
		#include <windows.h>
		#include <ntsecapi.h>
		BOOL WINAPI ProcessPrng(void *p, size_t n) { return RtlGenRandom(p, (ULONG)n); }
	C
	x86_64-w64-mingw32-gcc -shared -o "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" "$dir/random.c" -ladvapi32
fi
x86_64-w64-mingw32-gcc -O1 -Wall -shared -o "$WINEPREFIX/drive_c/tiny.dll" "$here/testdata/tiny.c"
cd "$here"
module=github.com/etwgen/etwgen/runtime
ours="-X $module/session.controlDLL=C:\\tiny.dll -X $module/provider.providerDLL=C:\\tiny.dll"
export GOOS=windows GOARCH=amd64
go test -c -o "$dir/live.test.exe" -ldflags "$ours" .
go build -o "$dir/etw.exe" -ldflags "$ours" ../../cmd/etw
go test -c -o "$dir/watch.test.exe" -ldflags "$ours" ../../cmd/etw
ETWGEN_ETW=tiny timeout 300 wine "$dir/live.test.exe" -test.run 'TestWrite|TestSelfDescribing|TestControls' -test.v
ETWGEN_ETW=tiny timeout 120 wine "$dir/watch.test.exe" -test.run TestWatchMachine -test.v
timeout 300 wine "$dir/etw.exe" self-test
timeout 60 wine "$dir/etw.exe" watch --providers clr:gc --kernel process --duration 1s
timeout 60 wine "$dir/etw.exe" sessions --stop-orphans
timeout 60 wine "$dir/etw.exe" providers
