package etl

import (
	"context"

	"github.com/etwgen/etwgen/runtime/etw"
)

// An Option changes how a Reader reads.
type Option func(*options)

type options struct {
	ctx         context.Context
	name        string
	schemas     bool
	attribution bool
	foresight   *foresight
	late        int64 // see mostLate
}

func optionsOf(opts []Option) options {
	o := options{ctx: context.Background(), schemas: true, attribution: true, late: mostLate}
	for _, set := range opts {
		set(&o)
	}
	return o
}

// WithContext ends opening and reading once ctx is done: Open and Next then return
// an error that wraps the cause. Both take long for a large file, Open since it
// looks for all buffers, and one of the first calls of Next since it goes over all
// records.
func WithContext(ctx context.Context) Option { return func(o *options) { o.ctx = ctx } }

// WithName gives a file that [NewReader] reads a name, for messages and for the File
// of records. Files that are opened by a path are named by it.
func WithName(name string) Option { return func(o *options) { o.name = name } }

// WithoutSchemas leaves the Schema of records empty, and the ProviderName of
// those that are not classic, and saves the pass over the file that finds schemas
// before their users.
func WithoutSchemas() Option { return func(o *options) { o.schemas = false } }

// WithoutAttribution leaves the ProcessID and the ThreadID of records as their
// headers have them, and saves the pass over the file that learns whom kernel
// events are about.
func WithoutAttribution() Option { return func(o *options) { o.attribution = false } }

// WithForesight has the pass over the file show some records before their time, such as the
// list of processes that a recording ends with: those whose Key wants asks for. They are
// shown in the order of time, as their headers have them, and are delivered in their time,
// too. Next calls see before it delivers those after the first records, which tell of the
// session and do not wait for the pass. How many records are shown is bounded by the size of
// the file. Several goroutines call wants at once.
func WithForesight(wants func(etw.Key) bool, see func(*etw.Record)) Option {
	return func(o *options) { o.foresight = &foresight{wants, see} }
}

// A foresight is the records that the user of a Reader wants to see before its time.
type foresight struct {
	wants func(etw.Key) bool
	see   func(*etw.Record)
}
