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
	want := regexp.MustCompile(`^ +BYTES +TICKS  TYPE\n +\d{7} +\d+  System\.Int64\[\]\n +\d{7} +\d+  System\.String\n( +\d+ +\d+  \S+\n)+$`)
	if !want.MatchString(out.String()) {
		t.Errorf("not as %s:\n%s", want, out.String())
	}
}
