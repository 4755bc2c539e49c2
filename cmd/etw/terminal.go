package main

import (
	"io"
	"os"
)

// terminal returns the file that w is, if it is a terminal.
func terminal(w any) (*os.File, bool) {
	f, ok := w.(*os.File)
	return f, ok && isTerminal(f)
}

// wantsColor reports whether text that is written to w may have colours.
func wantsColor(w io.Writer) bool {
	f, ok := terminal(w)
	return ok && os.Getenv("NO_COLOR") == "" && !isDumb() && enableColor(f)
}

// isDumb reports whether the terminal can do nothing but print.
func isDumb() bool { return os.Getenv("TERM") == "dumb" }
