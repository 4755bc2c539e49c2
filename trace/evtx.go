package trace

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/evtx"
)

// An evtxReader is an event log of Windows.
type evtxReader struct {
	*evtx.Reader
	channels, computers []string // of the records so far
}

// maxListed bounds the channels and computers that are listed. A log of events that were
// forwarded has many.
const maxListed = 16

// An evtxFormat is that of event logs.
type evtxFormat struct{}

func (evtxFormat) recognizes(head []byte) bool { return evtx.Recognizes(head) }

func (evtxFormat) extensions() []string { return []string{"evtx"} }

func (evtxFormat) file(o *opening, src io.ReaderAt, size int64) ([]*File, error) {
	r, err := evtx.NewReader(src, size)
	if err != nil {
		return nil, err
	}
	if o.keepXML {
		r.KeepXML()
	}
	return []*File{o.found(&evtxReader{Reader: r})}, nil
}

func (r *evtxReader) reader() etw.Source { return r.Reader }

func (r *evtxReader) Next(rec *etw.Record) error {
	err := r.Reader.Next(rec)
	if err == nil {
		e := r.Event()
		r.channels = listed(r.channels, e.Channel)
		r.computers = listed(r.computers, e.Computer)
	}
	return err
}

// listed adds a text to a list that lacks it.
func listed(list []string, text string) []string {
	if text == "" || len(list) == maxListed || slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

func (r *evtxReader) format() string {
	h := r.Header()
	return fmt.Sprintf("evtx %d.%d", h.Major, h.Minor)
}

func (r *evtxReader) clock() etw.Clock { return r.Clock() }

func (r *evtxReader) stats() Stats {
	s := r.Stats()
	return Stats{Records: s.Records, Undecodable: s.Undecodable}
}

func (r *evtxReader) head() Head { return Head{Recorder: OtherRecorder} }

func (r *evtxReader) share(*File) float64 { return r.Progress() }

func (r *evtxReader) facts(of *File) facts {
	var f facts
	f.packing(of.packing)
	h, s := r.Header(), r.Stats()
	f.text("channels", strings.Join(r.channels, ", "))
	f.text("computers", strings.Join(r.computers, ", "))
	if start := r.Clock().Start; start != 0 {
		f.time("start", start)
	}
	f.number("chunks", s.Chunks, "with records")
	state := "closed"
	if h.Dirty {
		state = "in use when it was copied, or not closed"
	}
	if h.Full {
		state += ", full"
	}
	f.text("state", state)
	f.nonzero("carved", s.Carved, "records found where the log has none any more")
	f.nonzero("remnants", s.Remnants, "records there that are overwritten in part")
	f.nonzero("missing", s.Missing, "records of chunks that are not there")
	f.nonzero("checksumMismatches", s.Mismatches, "chunks")
	return f
}
