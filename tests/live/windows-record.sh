#!/usr/bin/env bash
# Records what only a real Windows can, each time with what Windows' own tools say of it: traces
# that analyses are tested with. Each part goes on after the failures of others; out/STATUS says
# which are there. It needs an elevated prompt, as runners of CI have.
# Usage: windows-record.sh BIN OUT, with etw in BIN
set -uo pipefail
bin=$(cd "${1:?the folder with etw}" && pwd)
mkdir -p "${2:?the folder for the recordings}"
out=$(cd "$2" && pwd)
cd "$out"
: >STATUS
logs=$(mktemp -d)
export MSYS_NO_PATHCONV=1 # paths and flags of Windows stay as they are

# part NAME FUNCTION runs a part, for five minutes at most, and writes a line of STATUS: its name,
# ok or FAILED, and what it said last.
part() {
	local log=$logs/$1.log status=ok
	(set -e; export -f "$2"; timeout 300 bash -euo pipefail -c "$2" </dev/null) >"$log" 2>&1 || status=FAILED
	printf '%s\t%s\t%s\n' "$1" "$status" "$(tail -1 "$log" | tr -d '\r\t')" >>STATUS
	[ "$status" = ok ] || cp "$log" "$out/$1.log"
}
export bin out

machine() {
	wpr -start GeneralProfile -start CPU -filemode
	sleep 10
	wpr -stop machine.etl
	tracerpt machine.etl -summary machine-summary.txt -report machine.xml -o machine-events.csv -of CSV -y
	rm -f machine-events.csv
}
kernel() {
	"$bin/etw" record --kernel process+thread+image_load+registry+virtual_alloc+dpc+interrupt+dispatcher+cswitch --stacks --duration 10s -o kernel.etl
	tracerpt kernel.etl -summary kernel-summary.txt -o kernel-events.csv -of CSV -y
	rm -f kernel-events.csv
}
# What analyses say of the kernel's recording, which they have not seen before.
answers_switches() {
	"$bin/etw" threads --by switch --format csv kernel.etl >switches.csv
	"$bin/etw" threads --by interrupt --format csv kernel.etl >interrupts.csv
	[ "$(wc -l <switches.csv)" -gt 100 ] && [ "$(wc -l <interrupts.csv)" -gt 3 ]
}
answers_outstanding() {
	"$bin/etw" top --of virtual-memory --by stack --format csv kernel.etl >virtual-memory.csv
	"$bin/etw" files --registry --by access --format csv kernel.etl >registry.csv
	[ "$(wc -l <virtual-memory.csv)" -gt 3 ] && grep -q 'HKLM' registry.csv
}
packets() {
	pktmon start --capture --pkt-size 0 --file-name pktmon.etl
	curl -s https://go.dev/ >/dev/null || true
	pktmon stop
	pktmon etl2pcap pktmon.etl --out pktmon.pcapng
	"$bin/etw" export --format pcapng -o pktmon-etw.pcapng pktmon.etl
}
netsh_packets() {
	netsh trace start capture=yes report=disabled correlation=no tracefile="$(cygpath -w "$out")\\netsh.etl"
	curl -s https://go.dev/ >/dev/null || true
	netsh trace stop
	"$bin/etw" export --format pcapng -o netsh-etw.pcapng netsh.etl
}
logs_of_events() {
	local name
	for name in System Application; do
		wevtutil epl "$name" "$name.evtx" /ow:true
		wevtutil qe "$name.evtx" /lf /f:RenderedXml /c:2000 >"$name.xml"
	done
}
manifests() {
	local provider n=0
	mkdir -p manifests
	while read -r provider; do
		provider=${provider%$'\r'}
		if wevtutil gp "$provider" /ge /gm:true /f:xml >"manifests/${provider//[^A-Za-z0-9._-]/_}.xml" 2>/dev/null; then n=$((n + 1)); fi
	done < <(wevtutil ep)
	echo "$n providers"
	[ "$n" -gt 100 ]
}
dotnet_gc() {
	"$bin/etw" record --providers clr --kernel process+image_load --duration 20s -o dotnet.etl &
	sleep 5
	dotnet --info >/dev/null
	dotnet new console -o "$TEMP/app" --force >/dev/null
	wait
	"$bin/etw" gc --format json dotnet.etl >dotnet-gc.json
}
messages() { # of drivers and services that Windows traces anyway, with the formats that are public
	local kits tools
	logman create trace etwgen-wpp -ets -o wpp.etl -p '{9580d7dd-0379-4658-9870-d5be7d52d6de}' 0xff 5
	sleep 10
	logman stop etwgen-wpp -ets
	kits='/c/Program Files (x86)/Windows Kits/10/bin'
	tools=$(ls -d "$kits"/10.0.*/x64 | tail -1)
	"$tools/tracefmt.exe" wpp.etl -o wpp.txt -nosummary || true
	"$bin/etw" dump --limit 1000 wpp.etl >wpp-etw.txt
}
sessions() {
	"$bin/etw" sessions --format json >sessions.json
	logman query -ets >sessions.txt
}

export -f machine kernel answers_switches answers_outstanding packets netsh_packets logs_of_events manifests dotnet_gc messages sessions
for name in sessions machine kernel answers_switches answers_outstanding packets netsh_packets logs_of_events manifests dotnet_gc messages; do
	part "$name" "$name"
done
wpr -cancel >/dev/null 2>&1 || true
cat STATUS
! grep -q FAILED STATUS
