package rewrite

import (
	"errors"
	"hash/maphash"
	"io"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/trace"
)

// Options of a Writer. The zero value keeps the format.
type Options struct {
	// Nettrace writes a .nettrace file of .etl files, too. It has no room for classic
	// events, and none for tasks, channels and extended items of others.
	Nettrace bool
	// Compress compresses an .etl file, as Windows does.
	Compress bool
	// Redactor replaces texts that are in no record: in headers, and in the table of
	// threads of .nettrace 6. Records are redacted before Write.
	Redactor *Redactor
	// Wakers keeps the switches of processors that tell when threads ran, and who made them ready, of which
	// a part of one .etl file has the events: [Writer.Passed] is to have the records that are not written.
	Wakers bool
	// Part is the part of another trace that the new one names in its mark; nil for no mark. Its Lacks
	// may be set until Close, for an .etl file that is an io.WriterAt.
	Part *trace.Part
}

// Extensions are how the names of files end that a [Writer] writes.
var Extensions = []string{"etl", "nettrace", "netperf"}

// ErrCompress says that only .etl files can be compressed.
var ErrCompress = errors.New("a .nettrace file cannot be compressed")

// A Writer writes records of a trace to another one: an .etl file if the trace consists of
// .etl files, else a .nettrace file. If the trace has several files, records that two of
// them have are written once.
type Writer struct {
	sink   sink
	twice  *duplicates // nil if the trace is one file
	etl    bool
	stays  *stays       // or nil
	headed bool         // a header of a file was there
	part   *trace.Part  // to be told of before the first record
	last   func() error // writes the record of Last, or nil
	stats  Stats
}

// A sink writes the records that a trace delivers to a file of some format.
type sink interface {
	write(*etw.Record) error
	// hold returns a function that writes a record later.
	hold(*etw.Record) func() error
	close() error
}

// Stats count records that are not in the new trace.
type Stats struct {
	Repeated int64 // of several files, beyond the one that was written
	Headers  int64 // of several .etl files, beyond the first: the new file has one
	Wakers   int64 // in the new trace, though they were passed

	// Those that a .nettrace file has no room for:
	Unnamed       int64 // nothing says which events they are
	Classic       int64 // of the kernel, and messages
	OtherPointers int64 // of programs with pointers of another size than the machine
}

// NewWriter begins a trace. Nothing must have been read of the one that its records come
// from, which may also be live.
func NewWriter(w io.Writer, t *trace.Trace, o Options) (*Writer, error) {
	var etls []*etl.Reader
	var nets []*nettrace.Reader
	for _, f := range t.Files() {
		switch r := f.Reader().(type) {
		case *etl.Reader:
			etls = append(etls, r)
		case *nettrace.Reader:
			nets = append(nets, r)
		}
	}
	if o.Redactor == nil {
		o.Redactor = new(Redactor)
	}
	out := &Writer{part: o.Part}
	if len(t.Files()) > 1 || len(etls) == 1 && len(etls[0].Headers()) > 1 {
		out.twice = &duplicates{seed: maphash.MakeSeed()}
	}
	var err error
	switch isETL := !o.Nettrace && len(etls) == len(t.Files()); {
	case o.Compress && !isETL:
		return nil, ErrCompress
	case isETL:
		out.etl = true
		var to *etlSink
		if to, err = newETLSink(w, t, etls, o); o.Wakers && out.twice == nil && err == nil {
			out.stays = &stays{w: to.w, raw: func() etl.Origin { return to.reader().Origin() }, hold: to.hold, of: make(map[int32]*stay)}
		}
		out.sink = to
	case len(nets) == len(t.Files()):
		out.sink, err = newNetSink(w, t, nets, o.Redactor, &out.stats)
	default:
		out.sink, err = newMixedSink(w, t, etls, o.Redactor, &out.stats)
	}
	return out, err
}

// Write writes the record that the trace delivered last. If the trace has several files,
// records of one time wait for each other.
func (w *Writer) Write(rec *etw.Record) error {
	if w.etl && isHeader(rec) {
		if w.headed {
			w.stats.Headers++
			return nil
		}
		w.headed = true
	}
	if w.last = nil; w.part != nil {
		if err := w.tellPart(rec); err != nil {
			return err
		}
	}
	if w.stays != nil {
		if waits, err := w.stays.write(rec); waits || err != nil {
			return err
		}
	}
	if w.twice == nil {
		return w.sink.write(rec)
	}
	if w.twice.isLater(rec) {
		if err := w.release(); err != nil {
			return err
		}
	}
	w.twice.hold(rec, w.sink.hold(rec))
	return nil
}

// tellPart writes the mark of a .nettrace file before the first record. That of an .etl file is in
// its header.
func (w *Writer) tellPart(first *etw.Record) error {
	to, ok := w.sink.(*netSink)
	if !ok {
		return nil
	}
	mark := w.part.MarkEvent(first)
	if w.part = nil; mark == nil {
		return nil
	}
	return errors.Join(to.w.Write(mark), to.w.Flush())
}

// Last has the record that the trace delivered last, which is not to be written, end the new one if
// none is written after it: so it tells how long the session was.
func (w *Writer) Last(rec *etw.Record) {
	if s, ok := w.sink.(*netSink); ok {
		w.last = s.hold(rec)
	}
	if w.stays != nil {
		w.stays.mayEnd(rec)
	}
}

// Passed takes the record that the trace delivered last, which is not to be written, and reports
// whether it is all the same.
func (w *Writer) Passed(rec *etw.Record) (needed bool, err error) {
	if w.stays == nil {
		return false, nil
	}
	return w.stays.pass(rec)
}

// release writes the records that wait.
func (w *Writer) release() error {
	n, err := w.twice.release()
	w.stats.Repeated += n
	return err
}

// Close ends the trace, with the losses of the one that was read. It does not close the
// io.Writer.
func (w *Writer) Close() error {
	if w.twice != nil {
		if err := w.release(); err != nil {
			return err
		}
	}
	if w.stays != nil {
		if err := w.stays.close(); err != nil {
			return err
		}
		w.stats.Wakers = w.stays.kept
	}
	if w.last != nil {
		if err := w.last(); err != nil {
			return err
		}
	}
	return w.sink.close()
}

// Stats returns the counts so far.
func (w *Writer) Stats() Stats { return w.stats }
