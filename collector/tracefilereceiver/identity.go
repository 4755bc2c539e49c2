package tracefilereceiver

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// errNothingYet says that a trace has no events, so that it cannot be told from others
// that have none.
var errNothingYet = errors.New("it has no events yet")

// errProfile says that a file has stacks and weights alone.
var errProfile = errors.New("it is a profile")

// identities returns the identities of the traces in a file: their content, unpacked, as far
// as it never changes. That is when they were begun, and by whom, and the first event. The
// names, the sizes and the values that recorders put into the header at the end are not part
// of it.
func identities(ctx context.Context, path string, watch *watch) ([]string, error) {
	files, err := trace.OpenFiles(path, trace.WithFileOrder(), trace.WithoutSchemas(), trace.WithoutAttribution(), trace.WithContext(ctx), trace.WithReaderAt(watch.file))
	if err != nil {
		return nil, err
	}
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	var all []string
	for _, f := range files {
		if f.Profile() != nil {
			return nil, fmt.Errorf("%w (%s), which has no events; etw top reads it", errProfile, f.Format())
		}
		id, err := identity(f)
		if err != nil && !errors.Is(err, errNothingYet) {
			return nil, err
		}
		all = append(all, id) // "" of one without events
	}
	return all, nil
}

func identity(f *trace.File) (string, error) {
	var rec etw.Record
	if err := f.Next(&rec); err != nil {
		if err == io.EOF || errors.Is(err, etw.ErrIncomplete) {
			return "", errNothingYet
		}
		return "", err
	}
	h := sha256.New()
	number := func(v ...int64) { binary.Write(h, binary.LittleEndian, v) }
	clock := f.Clock()
	number(int64(clock.Start), clock.Frequency)
	h.Write(f.Head().Identity)
	number(rec.Timestamp, rec.ProcessID, rec.ThreadID, int64(rec.ID), int64(rec.Version), int64(rec.Opcode), int64(len(rec.Payload)))
	h.Write(rec.Provider[:])
	h.Write(rec.Payload)
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}
