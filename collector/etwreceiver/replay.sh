#!/usr/bin/env bash
# Runs the tests of the receiver under wine, with a stand-in for the library of Windows
# that replays traces: see tests/live/replay.sh, which has the same needs. It takes a
# corpus, and compiles the libraries of the collector for Windows.
# Usage: replay.sh [DIR]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/etwgen-replay}
. "$here/../../tests/live/prefix.sh"
x86_64-w64-mingw32-gcc -O2 -Wall -Wno-parentheses -Wno-attributes -shared -o "$dir/standin.dll" "$here/../../tests/live/standin/standin.c"
corpus=${ETWGEN_CORPUS:-$here/../../../shared/corpus}
ETWGEN_CORPUS=$(winepath -w "$corpus" 2>/dev/null)
ETWGEN_STANDIN=$(winepath -w "$dir/standin.dll" 2>/dev/null)
export ETWGEN_CORPUS ETWGEN_STANDIN
cd "$here"
GOOS=windows GOARCH=amd64 go test -c -o "$dir/etwreceiver.test.exe" -ldflags "-X github.com/etwgen/etwgen/runtime/session.controlDLL=$ETWGEN_STANDIN" .
timeout 300 wine "$dir/etwreceiver.test.exe" -test.v
