// Package ecma335 reads the metadata of managed files: assemblies of .NET, and
// portable PDBs, whose tables are of the same kind. ECMA-335 describes the format.
//
// [ParseImage] takes a program or library apart, [Image.Metadata] and
// [ParseMetadata] find the tables and heaps, and everything else is read when it is
// asked for: a row of a table, a signature, an attribute, the instructions of a
// method.
//
// Files may be damaged or made to do harm. The places of sections, streams and tables are
// checked before anything else is read: a wrong one is an error. Whatever refers to
// something that does not exist refers to the zero row, the empty string or no bytes. No
// size in a file is allocated by.
//
// All of it may be used by several goroutines at a time.
package ecma335

import "fmt"

// An Error is a fault of a file.
type Error struct {
	Offset uint64 // in the file, or in what was given
	Msg    string
}

// Error returns the error as offset 0x12: message.
func (e *Error) Error() string { return fmt.Sprintf("offset %#x: %s", e.Offset, e.Msg) }

func fault(offset uint64, format string, args ...any) error {
	return &Error{offset, fmt.Sprintf(format, args...)}
}
