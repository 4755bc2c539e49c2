package main

import (
	"regexp"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(&out, "../../tests/recorded/gc.nettrace"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`(?m)^ +\d+\.\d{3} ms  paused +\d+\.\d{3} ms  collection 1 of generation \d, \w+`,
		`(?m)^[1-9]\d* pauses$`,
	} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
