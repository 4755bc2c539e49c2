#!/bin/sh
# Makes the pictures of the README from recorded traces, as Chromium shows them: front.png, a
# report and a flame graph, and view.png and requests.png, the page of etw view. It wants Go and Chromium.
set -eu
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
recorded=tests/recorded/answers

go build -o "$tmp/etw" ./cmd/etw
"$tmp/etw" report "$recorded/gc-datas-10.nettrace" -o "$tmp/report.html"
"$tmp/etw" flame --of jit "$recorded/jit-10.nettrace.gz" -o "$tmp/flame.html"

# shoot PAGE PNG SIZE
shoot() {
	timeout 60 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars \
		--force-color-profile=srgb --window-size="$3" --virtual-time-budget=4000 \
		--screenshot="$2" "file://$1" >/dev/null 2>&1
}

shoot "$tmp/report.html" "$tmp/report.png" 1000,880
shoot "$tmp/flame.html" "$tmp/flame.png" 1000,880
cat >"$tmp/both.html" <<'HTML'
<!doctype html>
<style>
body { margin: 0; background: #fff; display: flex; gap: 12px; padding: 6px }
img { width: 638px; border: 1px solid #ccc; border-radius: 8px }
</style>
<img src="report.png"><img src="flame.png">
HTML
shoot "$tmp/both.html" "$PWD/docs/pictures/front.png" 1304,576

# The page is there as long as its server.
"$tmp/etw" view --no-open tests/recorded/causes/cause-10.nettrace.gz >"$tmp/address" &
server=$!
trap 'kill $server; rm -rf "$tmp"' EXIT
until [ -s "$tmp/address" ]; do sleep 0.1; done
# view PNG ADDRESS
view() {
	timeout 60 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --force-color-profile=srgb \
		--window-size=1180,700 --virtual-time-budget=9000 --screenshot="$PWD/docs/pictures/$1" \
		"$(cat "$tmp/address")$2" >/dev/null 2>&1
}

view view.png "overview?from=1080.000ms&to=1600.000ms"
view requests.png "requests/%2F%2323707%2F1%2F1%2F"
