package mutate

// A Format is a kind of trace, in so far as damage affects it differently.
type Format string

// The formats.
const (
	ETL           Format = ".etl"
	ETLCompressed Format = ".etl compressed"
	Netperf       Format = ".netperf 3"
	Nettrace      Format = ".nettrace 4"
	Nettrace6     Format = ".nettrace 6"
	EVTX          Format = ".evtx"
	Perf          Format = "perf.data"
	PerfPacked    Format = "perf.data packed"
)

// IsETL reports whether f is one of the formats of Windows.
func (f Format) IsETL() bool { return f == ETL || f == ETLCompressed }

// IsPerf reports whether f is one of the formats of perf.
func (f Format) IsPerf() bool { return f == Perf || f == PerfPacked }

// A Trace is a file with a map of it.
type Trace struct {
	Name   string
	Format Format
	Data   []byte
	// Head is the size of the file's own header, before which there is no part.
	// An .etl file has none: its header is a record in the first buffer.
	Head int
	// Parts are the buffers of an .etl file, the blocks of the others.
	Parts []Part
}

// A Part is a buffer or a block: a header from Start to Body, and its contents, from Body to
// End.
type Part struct{ Start, Body, End int }

// A Span is a range of bytes of a trace.
type Span struct{ Start, End int }

// Touches reports whether one of the spans has a byte of p.
func (p Part) Touches(spans []Span) bool {
	for _, s := range spans {
		if s.Start < p.End && p.Start < s.End {
			return true
		}
	}
	return false
}

// Headers returns the headers of all parts.
func (t *Trace) Headers() []Span {
	spans := make([]Span, len(t.Parts))
	for i, p := range t.Parts {
		spans[i] = Span{p.Start, p.Body}
	}
	return spans
}

// Bodies returns the bytes in no header of a part, nor in that of the file.
func (t *Trace) Bodies() []Span {
	var spans []Span
	for _, p := range t.Parts {
		if p.Body < p.End {
			spans = append(spans, Span{p.Body, p.End})
		}
	}
	return spans
}

// New maps a trace. It returns nil if the file is not one, or is damaged.
func New(name string, data []byte) *Trace {
	t := &Trace{Name: name, Data: data}
	for _, read := range []func(*Trace) bool{readETL, readObjects, readBlocks, readEVTX, readPerf} {
		if read(t) && len(t.Parts) > 0 {
			return t
		}
		t.Head, t.Parts = 0, nil
	}
	return nil
}
