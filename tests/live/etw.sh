#!/usr/bin/env bash
# Runs the tests of both ends of ETW under wine, with a small ETW of our own: what is
# written is read back. It takes wine64 and a cross-compiler for C, which Debian has. Exit
# code 3 says that they cannot be had.
# Usage: etw.sh [DIR]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/etwgen-etw}
. "$here/prefix.sh"
x86_64-w64-mingw32-gcc -O1 -Wall -shared -o "$WINEPREFIX/drive_c/tiny.dll" "$here/testdata/tiny.c"
cd "$here"
module=github.com/etwgen/etwgen/runtime
ours="-X $module/session.controlDLL=C:\\tiny.dll -X $module/provider.providerDLL=C:\\tiny.dll"
export GOOS=windows GOARCH=amd64
go test -c -o "$dir/live.test.exe" -ldflags "$ours" .
go build -o "$dir/etw.exe" -ldflags "$ours" ../../cmd/etw
go test -c -o "$dir/watch.test.exe" -ldflags "$ours" ../../cmd/etw
ETWGEN_ETW=tiny timeout 300 wine "$dir/live.test.exe" -test.v
ETWGEN_ETW=tiny timeout 120 wine "$dir/watch.test.exe" -test.run 'TestWatchMachine|TestRecordMachine|TestCheckMachine|TestControlMachine' -test.v
timeout 300 wine "$dir/etw.exe" sessions --self-test
timeout 60 wine "$dir/etw.exe" watch --providers clr:gc --kernel process --duration 1s
timeout 60 wine "$dir/etw.exe" sessions --stop-orphans
timeout 60 wine "$dir/etw.exe" events --registered
