package cli

import (
	"io"
	"os"
)

// Terminal returns the file that w is, if it is a terminal.
func Terminal(w any) (*os.File, bool) {
	f, ok := w.(*os.File)
	return f, ok && isTerminal(f)
}

// WantsColor reports whether text that is written to w may have colours.
func WantsColor(w io.Writer) bool {
	f, ok := Terminal(w)
	return ok && os.Getenv("NO_COLOR") == "" && !IsDumb() && enableColor(f)
}

// IsDumb reports whether the terminal can do nothing but print.
func IsDumb() bool { return os.Getenv("TERM") == "dumb" }
