package main

import (
	"os"
	"path/filepath"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// frontDoor opens a mutant as users do and checks that package trace says the
// same as the reader: as many records, and that the trace did not end cleanly if
// anything is missing.
func (t *traces) frontDoor(s *subject, data []byte, o outcome) error {
	path := filepath.Join(t.dir, s.Name)
	if err := os.WriteFile(path, data, 0o666); err != nil {
		return err
	}
	files, err := trace.OpenFiles(path)
	if err != nil || len(files) != 1 {
		if o.opened {
			t.find("front door", "the reader opens it, package trace does not: %v", err)
		}
		return nil
	}
	f := files[0]
	defer f.Close()
	var rec etw.Record
	n := 0
	for err = f.Next(&rec); err == nil; err = f.Next(&rec) {
		n++
	}
	if n != len(t.got) {
		t.find("front door", "%d records, but the reader has %d", n, len(t.got))
	}
	for _, fact := range f.Facts() {
		if fact.Key == "endedCleanly" && fact.Value == true && o.err != nil {
			t.find("front door", "ended cleanly, but the reader says %v", o.err)
		}
	}
	return nil
}
