package etwtest

import (
	"bytes"
	"slices"

	"github.com/etwgen/etwgen/runtime/etw"
)

// Poison returns a source that delivers the records of src, and destroys each record's
// payload, stack and extended items when the next one is asked for. A test of a program that
// reads from it fails if the program keeps a view that it should have copied: strings become
// U+FFFD, numbers 0xdb in each byte, and lists that end at a NUL run off their end and
// panic.
//
// Without Poison such a program may well pass its tests, since the readers
// overwrite their buffers only now and then.
func Poison(src etw.Source) etw.Source { return &poison{src: src} }

// poisonByte fills destroyed memory: no valid UTF-8, and in UTF-16 half of a surrogate pair.
const poisonByte = 0xdb

type poison struct {
	src etw.Source
	// lent is the memory of the last record. It is not used again, so that a view
	// which was kept never looks right by chance.
	lent [][]byte
}

func (s *poison) Next(r *etw.Record) error {
	for _, b := range s.lent {
		for i := range b {
			b[i] = poisonByte
		}
	}
	s.lent = s.lent[:0]
	if err := s.src.Next(r); err != nil {
		return err
	}
	r.Payload = s.lend(r.Payload)
	r.Stack.Addresses = s.lend(r.Stack.Addresses)
	r.Extended = slices.Clone(r.Extended)
	for i := range r.Extended {
		r.Extended[i].Data = s.lend(r.Extended[i].Data)
	}
	return nil
}

// Interrupt implements [etw.Interrupter], if the source under it does.
func (s *poison) Interrupt() {
	if live, ok := s.src.(etw.Interrupter); ok {
		live.Interrupt()
	}
}

// lend returns a copy of b that lasts until the next record.
func (s *poison) lend(b []byte) []byte {
	b = bytes.Clone(b)
	s.lent = append(s.lent, b)
	return b
}
