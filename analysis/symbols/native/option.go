package native

import "github.com/etwgen/etwgen/analysis/symbols"

// An Option adds to a [Dir].
type Option func(*Dir)

// Demangle has names that compilers made shown as f returns them. It returns a name that
// it cannot read as it is.
func Demangle(f func(string) string) Option { return func(d *Dir) { d.demangler = f } }

// Usual has files looked for in the folders in which a machine keeps them, if the file there
// has the identity that a trace tells.
func Usual(p Places) Option { return func(d *Dir) { d.usual = newPlaces(p) } }

// Elsewhere has f asked for files that may name a place in native code where the folder and
// the usual ones have none: it returns their paths. Who hands in f decides where it looks.
func Elsewhere(f func(*symbols.Native) []string) Option { return func(d *Dir) { d.elsewhere = f } }

// LinesElsewhere has f asked for the portable PDB of a module where the folder has none: it
// returns its path, or "". The text is the checksum of the PDB, where the assembly is at hand.
func LinesElsewhere(f func(m symbols.Module, checksum string) string) Option {
	return func(d *Dir) { d.linesAt = f }
}

// Places are folders in which a machine keeps its files.
type Places struct {
	// Libraries are folders of programs and libraries: a file is opened by the path that a
	// trace has of it.
	Libraries []string
	// DotNet are folders of .NET, whose files are found by their names, too.
	DotNet []string
	// Debug are folders of debug files, such as /usr/lib/debug.
	Debug []string
}
