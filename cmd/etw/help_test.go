package main

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestHelpFits: the table of commands fits a screen of 80 x 40, and so does the help of each
// command in one of 50 lines. Sets of flags have no flag that there is not.
func TestHelpFits(t *testing.T) {
	text, _, _ := output("--help")
	if n := strings.Count(text, "\n"); n > 40 {
		t.Errorf("etw --help has %d lines", n)
	}
	for line := range strings.Lines(text) {
		if utf8.RuneCountInString(strings.TrimSpace(line)) > 80 {
			t.Errorf("it is wide: %s", line)
		}
	}
	for _, c := range subcommands() {
		text, _, _ := output("help", c.name)
		if n := strings.Count(text, "\n"); n > 50 {
			t.Errorf("etw help %s has %d lines", c.name, n)
		}
	}
	for _, s := range flagSets {
		cmd, _, err := newRoot().Find([]string{s.of})
		if err != nil {
			t.Fatal(err)
		}
		text, _, _ := output("help", s.name)
		for _, name := range s.flags {
			if cmd.Flags().Lookup(name) != nil && !strings.Contains(text, "--"+name+" ") {
				t.Errorf("etw help %s says nothing of --%s", s.name, name)
			}
		}
	}
}
