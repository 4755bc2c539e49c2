package main

import "testing"

// TestSubcommands: for a command line that begins with a name, the command of that name is
// made, and it alone.
func TestSubcommands(t *testing.T) {
	for _, c := range subcommands() {
		if name := c.build().Name(); name != c.name {
			t.Errorf("%s is listed as %s", name, c.name)
		}
		if made := len(rootFor([]string{c.name, "--help"}).Commands()); made != 1 && c.name != "man" {
			t.Errorf("%d commands are made for %s", made, c.name)
		}
	}
	for _, args := range [][]string{nil, {"help", "stat"}, {"man", "stat"}, {"statt"}, {"--help"}, {"__complete", "st"}} {
		if made := len(rootFor(args).Commands()); made != len(subcommands()) {
			t.Errorf("%d commands are made for %q", made, args)
		}
	}
}
