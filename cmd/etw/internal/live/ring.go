package live

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/internal/each"
)

// ringFlags are those of recordings in several files.
type ringFlags struct {
	size  string
	files int

	limit  int64         // bytes of a file
	before time.Duration // of which files are kept, if that decides
}

// check reads the flags.
func (r *ringFlags) check(before time.Duration) error {
	r.before, r.limit = before, math.MaxInt64
	if r.files < 2 {
		return cli.Usagef("--max-files %d: a ring has two files at least", r.files)
	}
	if r.size == "" {
		return nil
	}
	var err error
	if r.limit, err = pick.ParseSize(r.size); err != nil {
		return cli.Usagef("--max-size: %w", err)
	}
	return nil
}

// open opens the file to record to, or the first of several.
func (r *ringFlags) open(path string) (*recordingFile, error) {
	if r.size == "" && r.before == 0 {
		f, err := openOutput(path)
		return &recordingFile{path: path, file: f}, err
	}
	s := &splitter{path: path, base: strings.TrimSuffix(path, ".nettrace"), flags: *r, now: time.Now}
	return &recordingFile{path: path, split: s}, s.next()
}

// A part is one file of a ring.
type part struct {
	path  string
	begun time.Time
}

// A splitter writes a stream into a ring of files.
//
//  1. What the stream begins with, and what describes its events, is remembered, and
//     stands at the begin of every file.
//  2. A file may end behind a sequence point, from which on nothing refers to call
//     stacks that stand before it. The runtime writes such points every ten megabytes
//     or so. The point stands at the begin of the next file, too: events are counted as
//     lost from there on.
//  3. When another file begins, those that are not wanted any more are removed.
//
// A stream of another form than that of .NET Core 3 to .NET 10 goes into one file.
type splitter struct {
	path  string
	base  string
	flags ringFlags
	now   func() time.Time

	frames frames.Frames
	head   []byte         // of the stream, up to the first block
	meta   []frames.Frame // blocks that describe events
	parts  []part
	count  int
	file   *os.File
	size   int64
	keeps  bool        // nothing is removed any more
	last   atomic.Bool // no other file begins
	broken error
	out    []byte
}

// next begins another file.
func (s *splitter) next() error {
	if s.file != nil {
		if err := s.end(); err != nil {
			return err
		}
	}
	s.count++
	path := fmt.Sprintf("%s.%d.nettrace", s.base, s.count)
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	s.file, s.size = f, 0
	s.parts = append(s.parts, part{path, s.now()})
	return s.prune()
}

// end ends a file as a stream ends.
func (s *splitter) end() error {
	if err := s.put([]byte{frames.FrameEnd}); err != nil {
		return err
	}
	return s.file.Close()
}

// prune removes files that are not wanted any more.
func (s *splitter) prune() error {
	for len(s.parts) > 2 && !s.keeps {
		if s.flags.before > 0 {
			// The second file is enough if it has all of the time.
			if s.now().Sub(s.parts[1].begun) < s.flags.before {
				return nil
			}
		} else if len(s.parts) <= s.flags.files {
			return nil
		}
		if err := os.Remove(s.parts[0].path); err != nil {
			return err
		}
		s.parts = s.parts[1:]
	}
	return nil
}

// stay has all that follows go into the file that is written now. It may be called while
// another goroutine writes.
func (s *splitter) stay() { s.last.Store(true) }

func (s *splitter) names() []string {
	return each.Of(s.parts, func(p part) string { return p.path })
}

func (s *splitter) put(b []byte) error {
	n, err := s.file.Write(b)
	s.size += int64(n)
	return err
}

// Write takes the stream.
func (s *splitter) Write(b []byte) (int, error) {
	if s.broken != nil {
		return 0, s.broken
	}
	s.frames.Buf = append(s.frames.Buf, b...)
	for s.broken == nil {
		f, ok := s.frames.Next()
		if !ok {
			break
		}
		s.broken = s.frame(f)
	}
	if s.broken != nil {
		return 0, s.broken
	}
	return len(b), nil
}

// frame writes a frame of the stream.
func (s *splitter) frame(f frames.Frame) error {
	switch {
	case f.Name == frames.FrameRaw:
		return s.put(f.Data)
	case f.Name == frames.FrameHead:
		s.head = append(s.head, f.Data...)
		return s.put(f.Data)
	case f.Name == "SPBlock" && s.due():
		if err := s.block(f); err != nil {
			return err
		}
		if err := s.another(); err != nil {
			return err
		}
	case f.Name == "MetadataBlock":
		s.meta = append(s.meta, frames.Frame{Name: f.Name, Kind: bytes.Clone(f.Kind), Data: bytes.Clone(f.Data)})
	}
	return s.block(f)
}

// another begins another file, with the common begin of all files.
func (s *splitter) another() error {
	if err := s.next(); err != nil {
		return err
	}
	if err := s.put(s.head); err != nil {
		return err
	}
	for _, m := range s.meta {
		if err := s.block(m); err != nil {
			return err
		}
	}
	return nil
}

// due reports whether another file is to begin.
func (s *splitter) due() bool {
	if s.last.Load() {
		return false
	}
	if s.flags.before > 0 {
		return s.now().Sub(s.parts[len(s.parts)-1].begun) >= s.flags.before/2 || s.size >= s.flags.limit
	}
	return s.size >= s.flags.limit
}

// block writes a block, which is aligned to its place in the file.
func (s *splitter) block(f frames.Frame) error {
	s.out = frames.AppendBlock(s.out[:0], f, s.size)
	return s.put(s.out)
}

// Close ends the last file, with the rest of a stream that was cut off. Where the time before a
// condition fits into one file, that has the name that was asked for.
func (s *splitter) Close() error {
	err := s.broken
	if err == nil {
		err = s.put(s.frames.Buf)
	}
	if closeErr := s.file.Close(); err == nil {
		err = closeErr
	}
	if err == nil && s.count == 1 && s.flags.before > 0 {
		if err = os.Rename(s.parts[0].path, s.path); err == nil {
			s.parts[0].path = s.path
		}
	}
	return err
}
