#!/usr/bin/env bash
# Prints of tests in JSON, on its input, those that fail with what they say, and how many pass.
# Exit code 1 says that some fail, or that there was none.
set -euo pipefail
awk '
	function field(name,   at, text) {
		at = index($0, "\"" name "\":\"")
		if (!at) return ""
		text = substr($0, at + length(name) + 4)
		return substr(text, 1, match(text, /[^\\]"|^"/))
	}
	{ test = field("Package") " " field("Test"); action = field("Action") }
	action == "output" && length(said[test]) < 20000 { said[test] = said[test] field("Output") "\n" }
	action == "pass" && field("Test") != "" { pass++ }
	action == "skip" && field("Test") != "" { skip++ }
	action == "fail" { fail++; print "FAIL " test "\n" said[test] }
	END { printf "%d pass, %d skip, %d fail\n", pass, skip, fail; exit fail > 0 || pass == 0 }
'
