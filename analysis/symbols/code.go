package symbols

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Which addresses are code: recorders of Linux unwind stacks further than they reach, and
// then take other memory for addresses.

// learnCode takes where in a file its code begins, from a recorder's event of the file.
func (a *Analysis) learnCode(id uint64, text string) {
	var facts struct {
		Type   string `json:"type"`
		Offset string `json:"p_offset"`
	}
	if json.Unmarshal([]byte(text), &facts) != nil || facts.Type != "ELF" {
		return
	}
	offset, err := strconv.ParseUint(strings.TrimPrefix(facts.Offset, "0x"), 16, 64)
	if err != nil {
		return
	}
	if a.codeAt == nil {
		a.codeAt = make(map[uint64]uint64)
	}
	a.codeAt[id] = offset
}

// pageBits are the sizes of pages, in bits: of most machines, and of some with arm64.
var pageBits = [...]uint{12, 14, 16}

// holdsCode reports whether a mapping is of code, as far as is known.
func (a *Analysis) holdsCode(m *mapping) bool {
	if m == nil {
		return false
	}
	switch {
	case m.path == "", m.path == "[heap]", strings.HasPrefix(m.path, "[stack"), strings.HasPrefix(m.path, "anon_inode:"):
		return false
	}
	begin, known := a.codeAt[m.metadata]
	if !known || m.metadata == 0 {
		return true
	}
	// Of an ELF file, the part with code is mapped from the page on in which that begins.
	for _, bits := range pageBits {
		if m.offset == begin>>bits<<bits {
			return true
		}
	}
	return false
}

// isData reports whether an address of a process of which the files are known is not in
// code. Memory of no file is code where a symbol is, which is asked for before.
func (a *Analysis) isData(pid int64, x *memory, m *mapping) bool {
	return pid > 0 && x.files && !a.holdsCode(m)
}
