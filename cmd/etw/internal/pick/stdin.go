package pick

import (
	"context"
	"io"
	"os"
)

// stdinOf returns the standard input such that reading it ends when ctx does. A
// file needs no such thing.
func stdinOf(ctx context.Context, stdin io.Reader) io.Reader {
	if f, ok := stdin.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return f
		}
	}
	return &interruptible{ctx: ctx, r: stdin}
}

// An interruptible reads ahead in a goroutine, which a read that never returns
// holds up in its place.
type interruptible struct {
	ctx  context.Context
	r    io.Reader
	full chan chunk
	free chan []byte
	now  chunk
	rest []byte // of now
}

type chunk struct {
	buf []byte
	n   int
	err error
}

func (i *interruptible) start() {
	i.full = make(chan chunk)
	i.free = make(chan []byte, 2)
	i.free <- make([]byte, 64<<10)
	i.free <- make([]byte, 64<<10)
	go func() {
		for buf := range i.free {
			n, err := i.r.Read(buf)
			select {
			case i.full <- chunk{buf, n, err}:
			case <-i.ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
}

func (i *interruptible) Read(p []byte) (int, error) {
	if i.full == nil {
		i.start()
	}
	for len(i.rest) == 0 {
		if i.now.err != nil {
			return 0, i.now.err
		}
		if i.now.buf != nil {
			i.free <- i.now.buf
		}
		select {
		case i.now = <-i.full:
			i.rest = i.now.buf[:i.now.n]
		case <-i.ctx.Done():
			i.now = chunk{err: i.ctx.Err()}
		}
	}
	n := copy(p, i.rest)
	i.rest = i.rest[n:]
	return n, nil
}
