package trace

import (
	"context"
	"io"
	"os"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/perfdata"
	"github.com/etwgen/etwgen/runtime/profile"
)

// An Option says how to open a trace.
type Option func(*options)

type options struct {
	ctx           context.Context
	stdin         io.Reader
	inFileOrder   bool
	noAttribution bool
	noSchemas     bool
	keepXML       bool
	mapFiles      bool
	apart         bool // .etl files are not opened by their reader
	repeated      bool
	unpackLimit   int64
	excerptOver   int64
	excerptBlocks int // how many blocks a file may have for that, if not maxBlocks
	openFile      func(path string) (*os.File, error)
	through       func(*os.File) io.ReaderAt
	foresight     *foresight
	perf          []perfdata.Option
	readProfile   func([]byte) (*profile.Profile, error) // nil in OpenEvents and ReadEvents
}

// A foresight is the request of [WithForesight].
type foresight struct {
	wants func(etw.Key) bool
	see   func(*etw.Record)
}

func newOptions(opts []Option) options {
	o := eventOptions(opts)
	o.readProfile = profile.Read
	return o
}

// eventOptions are those of a program that has no use for profiles. The linker leaves the
// readers of profiles out of it, for nothing else refers to them.
func eventOptions(opts []Option) options {
	o := options{ctx: context.Background(), openFile: os.Open, through: func(f *os.File) io.ReaderAt { return f }}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// WithStdin has the path - read r in place of the standard input.
func WithStdin(r io.Reader) Option { return func(o *options) { o.stdin = r } }

// WithOpen has open open the files of paths in place of [os.Open]. It can refuse some, such
// as those outside of a folder: its result is read.
func WithOpen(open func(path string) (*os.File, error)) Option {
	return func(o *options) { o.openFile, o.apart = open, true }
}

// WithReaderAt has the files of paths be read through the result of through for each. It can
// watch how reading goes: whether the medium failed, for one, which to a trace is but one
// more damage. Pipes and the standard input are read as they are.
func WithReaderAt(through func(*os.File) io.ReaderAt) Option {
	return func(o *options) { o.through, o.apart = through, true }
}

// WithContext ends opening and reading once ctx is done, with an error in which errors.Is
// finds that of ctx. Opening a pipe, and the pass over an .etl file before its first record,
// can take long.
func WithContext(ctx context.Context) Option { return func(o *options) { o.ctx = ctx } }

// WithFileOrder leaves the records of one .nettrace file in the order in which they
// lie there, which is that of time for each thread alone. It saves the time and
// the memory that sorting takes. Traces that are merged are sorted in any case.
func WithFileOrder() Option { return func(o *options) { o.inFileOrder = true } }

// WithoutAttribution leaves the processes and threads of kernel events in .etl
// files as their headers have them, which do not always say whom an event is
// about. It saves the pass over the file that finds them out.
func WithoutAttribution() Option { return func(o *options) { o.noAttribution = true } }

// WithoutSchemas does without the schemas in .etl files. Together with [WithoutAttribution]
// it saves the pass over the file that comes before the first records, so that these are
// there at once.
func WithoutSchemas() Option { return func(o *options) { o.noSchemas = true } }

// WithRepeated has each of several .etl files of a session deliver the records that others have, too.
// Otherwise such a record comes once: adjoining parts of a trace both have those at their ends.
func WithRepeated() Option { return func(o *options) { o.repeated = true } }

// WithXML has the records of event logs carry their XML: see [evtx.Reader.KeepXML].
func WithXML() Option { return func(o *options) { o.keepXML = true } }

// WithForesight has the pass over an .etl file show some records before their time, such
// as the list of processes that a recording ends with: see [etl.WithForesight]. Other
// files have no such pass.
func WithForesight(wants func(etw.Key) bool, see func(*etw.Record)) Option {
	return func(o *options) { o.foresight = &foresight{wants, see} }
}

// WithCode has the copies of stacks in a perf.data unwound: see [perfdata.WithCode]. Without it
// no file is opened because of a trace.
func WithCode(open func(perfdata.Code) perfdata.CodeFile) Option {
	code := perfdata.WithCode(open)
	return func(o *options) { o.perf = append(o.perf, code) }
}

// WithMapping maps .nettrace files of up to 64 MiB into memory, where the system can, which
// saves copying them. An .etl file is read twice, and must say the same both times: it is
// not mapped. The option is for programs that end after reading: where a file becomes
// shorter while it is mapped, touching its lost part is a fault that ends the program,
// unless [runtime/debug.SetPanicOnFault] makes it a panic.
func WithMapping() Option { return func(o *options) { o.mapFiles = true } }

// WithUnpackLimit lets a compressed file unpack to so many bytes. Otherwise it is 250
// times its size and 256 MiB, at most 64 GiB.
func WithUnpackLimit(bytes int64) Option { return func(o *options) { o.unpackLimit = bytes } }
