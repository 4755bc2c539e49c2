// Package wevt reads and writes the binary form of manifests: the resource WEVT_TEMPLATE, in
// which Windows keeps the forms of a provider's events, and the message tables with their
// texts. Use it to take a manifest out of a program of Windows, or to put one in.
//
// The message compiler of Windows, mc.exe, makes both of a manifest, and they are
// linked into the program or library that the manifest names. [ReadPE] takes them
// out of such a file, [Decode] makes a manifest of them, and [Encode] makes them
// of a manifest, without Windows: its output is that of mc.exe byte by byte, but
// for the GUIDs of templates, which only have to be unique.
//
// # Losses of the binary form
//
// The names that only C code uses: the symbols of everything and the tids of
// templates; which of the files the texts are in; the types and settings of
// channels; whether an outType was written or is that of the inType; comments.
// Decode makes up symbols and tids of tasks, opcodes and versions, and they are
// the same for the same resource. Version 3 of the form does not have the
// provider's name, either.
package wevt

import (
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/internal/each"
)

// An Error is one thing that is wrong with a binary form.
type Error struct {
	File   string
	Offset int // in the resource or table
	Msg    string
}

// Error returns the error as file: offset 0x12: message.
func (e *Error) Error() string { return fmt.Sprintf("%s: offset %#x: %s", e.File, e.Offset, e.Msg) }

// An ErrorList is all that is wrong with a binary form, in the order in which it
// was found.
type ErrorList []*Error

// Error returns the first error, and how many more there are.
func (l ErrorList) Error() string {
	switch len(l) {
	case 0:
		return "no errors"
	case 1:
		return l[0].Error()
	}
	return fmt.Sprintf("%v (and %d more)", l[0], len(l)-1)
}

// Unwrap gives errors.Is and errors.As access to the single errors.
func (l ErrorList) Unwrap() []error { return each.Of(l, func(e *Error) error { return e }) }

// Resources are compiled manifests.
type Resources struct {
	// Templates is the resource WEVT_TEMPLATE.
	Templates []byte
	// Messages has a message table for each language.
	Messages map[Language][]byte
}

// A Language is the number by which Windows knows one, such as 0x409.
type Language uint16

// English is the language of the United States.
const English Language = 0x409

// String returns the name of the language, such as en-US, or its number.
func (l Language) String() string {
	if name := languages[l]; name != "" {
		return name
	}
	return fmt.Sprintf("%#04x", uint16(l))
}

// ParseLanguage returns the language of a name such as en-US or of a number such as
// 0x409.
func ParseLanguage(name string) (Language, bool) {
	for l, n := range languages {
		if strings.EqualFold(n, name) {
			return l, true
		}
	}
	var l Language
	n, err := fmt.Sscanf(name, "0x%x", &l)
	return l, n == 1 && err == nil
}
