#!/bin/sh
# Records the traces in this folder with real runtimes of .NET 9 and 10.
#
#   record.sh APP9 APP10 AHEAD10 [OUT]
#
# APP9 and APP10 are workload.cs as a program for each: with an SDK of .NET 10,
#
#   dotnet new console -f net10.0 -o app && cp workload.cs app/Program.cs
#   dotnet publish app -r linux-x64 --self-contained -o out10
#
# AHEAD10 is any program of .NET 10 that is compiled ahead (PublishReadyToRun) and finds
# work for some seconds: what is recorded of it is only what precompiled code it looks for.
#
# OUT is where the traces go; without it they replace those beside this script. The
# numbers in the traces change from run to run; the tests do not depend on them.
set -eu

app9=$(realpath "$1")
app10=$(realpath "$2")
ahead10=$(realpath "$3")
here=$(cd "$(dirname "$0")" && pwd)
out=${4:-$here}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# The paths of programs end up in the traces: run copies in a neutral folder.
cp "$app9" "$tmp/shop9"
cp "$app10" "$tmp/shop10"
cp "$ahead10" "$tmp/ahead10"
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1

clr=Microsoft-Windows-DotNETRuntime
tpl=System.Threading.Tasks.TplEventSource

# record VERSION NAME PROVIDERS THEME [SETTING...] records a program from its start.
record() {
	version=$1 name=$2 providers=$3 theme=$4
	shift 4
	env DOTNET_EnableEventPipe=1 DOTNET_EventPipeOutputPath="$tmp/new.nettrace" DOTNET_EventPipeRundown=0 \
		DOTNET_EventPipeConfig="$providers" "$@" "$tmp/shop$version" "$theme"
	mv "$tmp/new.nettrace" "$out/$name-$version.nettrace"
}

for v in 9 10; do
	# Two heaps that stay, heaps whose number adapts, and one heap.
	record $v gc-server $clr:1:4 gc DOTNET_gcServer=1 DOTNET_GCHeapCount=2
	record $v gc-datas $clr:1:4 gc DOTNET_gcServer=1
	record $v gc-background $clr:1:4 gc
	record $v alloc $clr:80001:5 alloc
	record $v waits $clr:40000010000:5 waits
	record $v locks $clr:4000:4 locks
	record $v pool $clr:10000:5 pool
	record $v exceptions $clr:8000:4 throw
	record $v requests "Etwgen-Shop:ffffffffffffffff:5,$tpl:80:4" requests
done
# A heap, asked for while the program runs: at its start, a runtime has none to show.
for v in 9 10; do
	"$tmp/shop$v" heap &
	sleep 1
	go run "$here/../../../cmd/etw" collect -p $! --providers $clr:0x1980001:5 --rundown none \
		--duration 1s --no-stacks -o "$out/heap-$v.nettrace"
	wait $!
	gzip -9 -f "$out/heap-$v.nettrace"
done
record 10 alloc-sampled $clr:80000080000:4 alloc
metrics="SessionId=1;Metrics=Etwgen.Shop;RefreshInterval=1;MaxTimeSeries=100;MaxHistograms=10"
record 10 counters "Etwgen-Shop:ffffffffffffffff:5:EventCounterIntervalSec=1,System.Diagnostics.Metrics:2:4:$metrics" counters

# Everything that a program compiles, from its start on, packs well.
record 10 jit $clr:1000000010:5 jit
# What it loads: assemblies and types.
record 10 loader $clr:800000000c:4 throw
gzip -9 -f "$out/jit-10.nettrace" "$out/loader-10.nettrace"

# The look-ups of precompiled code: of a while after the start, in which there are many.
"$tmp/ahead10" &
sleep 0.6
go run "$here/../../../cmd/etw" collect -p $! --providers $clr:0x2000000000:5 --rundown none \
	--duration 1s -o "$out/r2r-10.nettrace"
kill $! && wait $! || true
gzip -9 -f "$out/r2r-10.nettrace"
