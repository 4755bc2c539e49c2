package linux

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/etwgen/etwgen/internal/device"
	"github.com/etwgen/etwgen/internal/unwind"
	"github.com/etwgen/etwgen/runtime/internal/universal"
)

// An elfIdentity is the form in which recorders write the identity of an ELF file.
type elfIdentity struct {
	Type    string `json:"type"`
	BuildID string `json:"build_id"`
	Address string `json:"p_vaddr,omitempty"`
	Offset  string `json:"p_offset,omitempty"`
}

// identity returns the identity of the file of an area, "" if nothing does. The file is read
// as the process sees it. If the kernel told another build id than the file has, that is not
// the one which is mapped.
func identity(pid int, a *universal.Area) string {
	var told elfIdentity
	if len(a.BuildID) > 0 {
		told = elfIdentity{Type: "ELF", BuildID: hex.EncodeToString(a.BuildID)}
	}
	found := fileIdentity(pid, a)
	if e, ok := found.(elfIdentity); told.BuildID != "" && (!ok || e.BuildID != told.BuildID) {
		found = told
	}
	if found == nil {
		return ""
	}
	text, err := json.Marshal(found)
	if err != nil {
		return ""
	}
	return string(text)
}

// fileIdentity reads a file of code: an unreadable file is not identified.
func fileIdentity(pid int, a *universal.Area) (identity any) {
	withFile(pid, a, func(r io.ReaderAt) { identity = imageIdentity(r) })
	return identity
}

// code returns how the code in an area is unwound. That which the kernel puts into processes
// is in their memory alone.
func code(pid int, a *universal.Area) (f *unwind.File) {
	read := func(r io.ReaderAt) { f, _ = unwind.Open(r) } // others than ELF files do not tell
	if a.Path != "[vdso]" {
		withFile(pid, a, read)
	} else if memory, err := os.Open(procFile(pid, "mem")); err == nil {
		defer memory.Close()
		read(io.NewSectionReader(memory, int64(a.Start), int64(a.End-a.Start)))
	}
	return f
}

// withFile has the file of an area read, as the process sees it. Of a process that has ended,
// it is the file of this path if that is the one by device and number.
func withFile(pid int, a *universal.Area, read func(io.ReaderAt)) {
	root, err := os.OpenRoot(procFile(pid, "root"))
	ended := errors.Is(err, os.ErrNotExist)
	if ended {
		root, err = os.OpenRoot("/")
	}
	if err != nil {
		return
	}
	defer root.Close()
	path := strings.TrimPrefix(a.Path, "/")
	info, err := root.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || ended && (a.Device == "" || device.Of(info) != a.Device) {
		return
	}
	f, err := root.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	read(f)
}

// imageIdentity reads the identity of an ELF or a PE file.
func imageIdentity(r io.ReaderAt) any {
	var magic [4]byte
	if _, err := r.ReadAt(magic[:], 0); err != nil {
		return nil
	}
	switch {
	case string(magic[:]) == "\x7fELF":
		return readELF(r)
	case string(magic[:2]) == "MZ":
		return readPE(r)
	}
	return nil
}

// buildIDOf finds the build id among notes: lengths of name and text, kind, name, text,
// each of the last two padded to four bytes.
func buildIDOf(notes []byte, order binary.ByteOrder) []byte {
	const header, kindBuildID, most = 12, 3, 64
	for len(notes) >= header {
		name, text, kind := uint64(order.Uint32(notes)), uint64(order.Uint32(notes[4:])), order.Uint32(notes[8:])
		notes = notes[header:]
		begin := (name + 3) &^ 3
		end := begin + text
		if end > uint64(len(notes)) {
			return nil
		}
		if kind == kindBuildID && text <= most && bytes.Equal(notes[:name], []byte("GNU\x00")) {
			return notes[begin:end]
		}
		notes = notes[min((end+3)&^3, uint64(len(notes))):]
	}
	return nil
}
