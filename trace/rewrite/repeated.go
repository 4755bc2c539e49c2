package rewrite

import (
	"hash/maphash"
	"slices"

	"github.com/etwgen/etwgen/internal/same"
	"github.com/etwgen/etwgen/runtime/etw"
)

// duplicates finds the records that several traces have, among those of one time. Of
// records that are alike in one trace each counts.
type duplicates struct {
	seed  maphash.Seed
	time  etw.FileTime
	held  int
	files []*sameTime // those that have records of that time, in the order of the traces
}

// A sameTime is the records of one time in one file.
type sameTime struct {
	file string
	heldRecords
}

// heldRecords are records that are yet to be written.
type heldRecords []heldRecord

type heldRecord struct {
	hash  uint64
	write func() error
}

// maxSameTime bounds the records that are held. Those of one time are some tens.
const maxSameTime = 4096

// isLater reports whether a record is of a later time than those that are held.
func (d *duplicates) isLater(r *etw.Record) bool {
	return d.held > 0 && r.Clock.FileTime(r.Timestamp) != d.time || d.held >= maxSameTime
}

// hold holds a record.
func (d *duplicates) hold(r *etw.Record, write func() error) {
	d.time = r.Clock.FileTime(r.Timestamp)
	d.held++
	var of *sameTime
	for _, f := range d.files {
		if f.file == r.File {
			of = f
		}
	}
	if of == nil {
		of = &sameTime{file: r.File}
		d.files = append(d.files, of)
	}
	of.heldRecords = append(of.heldRecords, heldRecord{same.Sum(d.seed, r), write})
}

// release writes the held records, those of several files once, and returns how often it was
// there more than once. The order is that of the file that has most; the others fill it up.
func (d *duplicates) release() (repeated int64, err error) {
	if len(d.files) == 0 {
		return 0, nil
	}
	longest, all := 0, 0
	for i, f := range d.files {
		all += len(f.heldRecords)
		if len(f.heldRecords) > len(d.files[longest].heldRecords) {
			longest = i
		}
	}
	list := d.files[longest].heldRecords
	for i, f := range d.files {
		if i != longest {
			list = list.with(f.heldRecords, i < longest)
		}
	}
	d.files, d.held = d.files[:0], 0
	for _, r := range list {
		if err := r.write(); err != nil {
			return 0, err
		}
	}
	return int64(all - len(list)), nil
}

// with returns a list that has all records of two: records that follow others in one of them
// do so in it. Before is the place for records that have nothing in common with l.
func (l heldRecords) with(more heldRecords, before bool) heldRecords {
	at := 0
	if !before && !slices.ContainsFunc(more, func(r heldRecord) bool { return l.index(r, 0) >= 0 }) {
		at = len(l)
	}
	for _, r := range more {
		if i := l.index(r, at); i >= 0 {
			at = i + 1
			continue
		}
		l = slices.Insert(l, at, r)
		at++
	}
	return l
}

// index returns where a record is from some index on, or -1.
func (l heldRecords) index(r heldRecord, from int) int {
	for i := from; i < len(l); i++ {
		if l[i].hash == r.hash {
			return i
		}
	}
	return -1
}
