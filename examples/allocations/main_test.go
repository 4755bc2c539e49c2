package main

import (
	"regexp"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(&out, "../../tests/recorded/alloc.nettrace"); err != nil {
		t.Fatal(err)
	}
	if want := `(?m)^ +[1-9]\d{4,} +[1-9]\d*  System\.`; !regexp.MustCompile(want).MatchString(out.String()) {
		t.Errorf("no %q in\n%s", want, out.String())
	}
}
