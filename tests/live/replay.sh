#!/usr/bin/env bash
# Runs the tests of ETW sessions under wine, with a stand-in for the library of Windows
# that replays traces through real callbacks. It takes wine64 and a cross-compiler for C,
# which Debian has. Exit code 3 says that they cannot be had. Without a corpus there is
# nothing to replay, and the tests that do say that they skip.
# Usage: replay.sh [DIR]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/etwgen-replay}
. "$here/prefix.sh"
x86_64-w64-mingw32-gcc -O2 -Wall -Wno-parentheses -Wno-attributes -shared -o "$dir/standin.dll" "$here/standin/standin.c"
corpus=${ETWGEN_CORPUS:-$here/../../../shared/corpus}
if [ -d "$corpus" ]; then
	ETWGEN_CORPUS=$(winepath -w "$corpus" 2>/dev/null)
	export ETWGEN_CORPUS
else
	unset ETWGEN_CORPUS ETWGEN_CORPUS_REQUIRED
fi
library=$(winepath -w "$dir/standin.dll" 2>/dev/null)
cd "$here/../../runtime/session"
GOOS=windows GOARCH=amd64 go test -c -o "$dir/session.test.exe" -ldflags "-X github.com/etwgen/etwgen/runtime/session.controlDLL=$library" .
timeout 400 wine "$dir/session.test.exe" -test.v >"$dir/log.txt" 2>&1 || { cat "$dir/log.txt"; exit 1; }
# What was replayed, and what was not.
grep -E '^ .*(are equal|collector|events .* ns|goroutines)|^--- SKIP' "$dir/log.txt"
tail -1 "$dir/log.txt"
