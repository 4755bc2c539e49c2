package pick

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/internal/blocks"
	"github.com/etwgen/etwgen/trace"
)

// followEvery is how often a growing file is looked at.
const followEvery = 100 * time.Millisecond

// nettraceMagic begins the files that can be followed.
const nettraceMagic = "Nettrace"

// openGrowing opens a file that is being written.
func openGrowing(cmd *cobra.Command, path string, opts []trace.Option) (*trace.Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	g := &growing{ctx: cmd.Context(), f: f}
	magic := make([]byte, len(nettraceMagic))
	if _, err = io.ReadFull(g, magic); err == nil && string(magic) != nettraceMagic {
		err = errors.New("not a .nettrace file, of which alone the end can be followed")
	}
	if err != nil {
		f.Close()
		return nil, &trace.Error{File: path, Err: err}
	}
	g.head = bytes.NewReader(magic)
	return trace.Read(path, g, append(opts, trace.WithFileOrder())...)
}

// A growing is a file of which the end is not the end: more may come, until its
// blocks say that they are all.
type growing struct {
	ctx     context.Context
	head    *bytes.Reader // what was read already, nil if nothing was
	f       *os.File
	checked int64 // the size at which the blocks were looked at
}

func (g *growing) Read(p []byte) (int, error) {
	if g.head != nil && g.head.Len() > 0 {
		return g.head.Read(p)
	}
	for {
		n, err := g.f.Read(p)
		if n > 0 || err != io.EOF || g.ended() {
			return n, err
		}
		select {
		case <-g.ctx.Done():
			return 0, g.ctx.Err()
		case <-time.After(followEvery):
		}
	}
}

// ended reports whether the file has its end.
func (g *growing) ended() bool {
	info, err := g.f.Stat()
	if err != nil || info.Size() == g.checked {
		return false
	}
	g.checked = info.Size()
	return blocks.List(g.f, info.Size(), func(blocks.Block) error { return nil }) == nil
}

// Close closes the file.
func (g *growing) Close() error { return g.f.Close() }
