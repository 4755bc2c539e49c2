package etw

import (
	"context"
	"io"
)

// A Pusher is a [Source] that calls a function with its records, which is faster than
// Next, and may leave out records that nobody wants. [Mux.Run] makes use of it.
type Pusher interface {
	Source
	// Push calls do with each record that is left and wanted, in the order of Next. The
	// record and the memory that it points to are valid until do returns. All records
	// are wanted if w is nil.
	//
	// After the last record Push returns nil, or the error that Next would return there.
	// It ends before, with the error of do or of ctx, at which it looks now and then; the
	// records behind the last one that do was called with are left.
	Push(ctx context.Context, w *Wants, do func(*Record) error) error
}

// A Wants says which records a [Pusher] need not deliver.
type Wants struct {
	// Kind reports whether there may be a use for records with the Kind, Provider, ID,
	// Version and Schema of r. The answer stands for all of them.
	Kind func(r *Record) bool
	// Turn is another number once Kind may answer otherwise than before.
	Turn uint64
	// Skipped counts the records that were left out.
	Skipped uint64
}

// Push calls do with the records that are left of s, as a [Pusher] does. Other sources
// leave out none.
func Push(ctx context.Context, s Source, w *Wants, do func(*Record) error) error {
	if p, ok := s.(Pusher); ok {
		return p.Push(ctx, w, do)
	}
	var r Record
	for n := 0; ; n++ {
		if n%pollEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		switch err := s.Next(&r); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		if err := do(&r); err != nil {
			return err
		}
	}
}

// pollEvery is the number of records between two looks at a context.
const pollEvery = 256
