#!/usr/bin/env bash
# Writes the table of docs/windows.md out of claims.tsv. With folders, each of a run of CI, it
# first notes in claims.tsv which claims were shown there: folder NAME has self-test.json, of etw,
# tests.json, of go test, and STATUS, of windows-record.sh.
# Usage: claims.sh [FOLDER...]
set -euo pipefail
for folder in "$@"; do
	[ -f "$folder/self-test.json" ] || { echo "$folder has no self-test.json" >&2; exit 1; }
	set -- "$@" "$(cd "$folder" && pwd)"
	shift
done
cd "$(dirname "$0")"
page=../../docs/windows.md
shows() { # shows FOLDER TEST: whether the step of the self-test, the test, or the part is passed there
	grep -qsE "\"step\": *\"$2\", *\"result\": *\"ok\"" <(tr -d '\n' <"$1/self-test.json" | sed 's/  */ /g') ||
		grep -qs "^$2	ok" "$1/STATUS" ||
		{ grep -sF "\"Test\":\"$2\"" "$1/tests.json" || true; } | grep -qF '"Action":"pass"'
}
if [ $# -gt 0 ]; then
	on=$(date -u +%F)
	while IFS=$'\t' read -r claim test proof; do
		case $claim in '#'*) printf '%s\n' "$claim"; continue ;; esac
		where=
		for folder in "$@"; do
			if [ -n "$test" ] && shows "$folder" "$test"; then where="${where:+$where, }$(basename "$folder")"; fi
		done
		printf '%s\t%s\t%s\n' "$claim" "$test" "${where:+$where ($on)}${where:-$proof}" | sed -E "s/(\($on\)).*/\1/"
	done < <(sed 's/\t\t/\t \t/' claims.tsv) | sed 's/\t \t/\t\t/' >claims.new
	mv claims.new claims.tsv
fi
awk -F'\t' '
	FILENAME == "claims.tsv" { if (!/^#/) rows = rows "| " $1 " | " $3 " |\n"; next }
	/^\| claim \| shown \|$/ { print; print "|---|---|"; printf "%s", rows; skip = 1; next }
	skip && /^\|/ { next }
	{ skip = 0; print }
' claims.tsv "$page" >page.new
mv page.new "$page"
