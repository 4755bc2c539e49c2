package eventpipe

import (
	"cmp"
	"slices"
	"time"
)

// DefaultRundown is the rundown that makes a trace complete: the modules loaded and methods
// compiled, by which the addresses of call stacks get names.
const DefaultRundown uint64 = 0x80020139

// DefaultBufferMB is ample for a reader that keeps up with half a million events in a
// second.
const DefaultBufferMB = 256

// DefaultStopTimeout is how long a session that was stopped may be silent.
const DefaultStopTimeout = 30 * time.Second

// A Config chooses the events of a session.
type Config struct {
	Providers []Provider

	// Rundown has the runtime list its modules and methods at the end, of which these
	// keywords choose. 0 means no rundown, and [DefaultRundown] the usual; others take .NET 9. For a
	// large program it takes minutes and hundreds of megabytes.
	Rundown uint64

	// WithoutStacks leaves call stacks out, which takes .NET 8.
	WithoutStacks bool

	// BufferMB bounds the memory for events that were not read yet. Past it the
	// newest are lost, and counted in the stream. 0 is [DefaultBufferMB].
	BufferMB int

	// Block has the threads of the program wait for the reader where events would
	// be lost, which takes .NET 11.
	Block bool

	// StopTimeout ends a session that was stopped when nothing was read of it for
	// so long, since runtimes can hang there. 0 is [DefaultStopTimeout].
	StopTimeout time.Duration
}

// maxBufferMB is far more than a session has ever needed.
const maxBufferMB = 1 << 20

// check reports values that the runtime would not take.
func (c *Config) check() error {
	switch {
	case len(c.Providers) == 0:
		return invalid("a session without providers")
	case len(c.Providers) > maxProviders:
		return invalid("%d providers; a session takes %d", len(c.Providers), maxProviders)
	case c.BufferMB < 0 || c.BufferMB > maxBufferMB:
		return invalid("a buffer of %d MB", c.BufferMB)
	case c.StopTimeout < 0:
		return invalid("a timeout of %v", c.StopTimeout)
	}
	for i := range c.Providers {
		if err := c.Providers[i].check(); err != nil {
			return err
		}
	}
	return nil
}

// command returns the oldest command that can carry the configuration.
func (c *Config) command() command {
	filtered := slices.ContainsFunc(c.Providers, func(p Provider) bool { return p.Filter != nil })
	switch {
	case c.Block:
		return collect6
	case filtered:
		return collect5
	case c.Rundown != 0 && c.Rundown != DefaultRundown:
		return collect4
	case c.WithoutStacks:
		return collect3
	}
	return collectTracing
}

// message returns the command that starts the session:
//
//	2, 3, 4: MB u32, format u32
//	5, 6:    type u32 (a stream), MB u32, format u32
//	2:       rundown bool
//	3:       rundown bool, stacks bool
//	4, 5, 6: rundown keywords u64, stacks bool
//	all:     number of providers u32, and them
//	6:       mode u32
func (c *Config) message() *message {
	cmd := c.command()
	m := newMessage(cmd)
	if cmd >= collect5 {
		m.u32(0)
	}
	m.u32(uint32(c.bufferMB()))
	m.u32(1) // nettrace
	if cmd >= collect4 {
		m.u64(c.Rundown)
	} else {
		m.bool(c.Rundown != 0)
	}
	if cmd >= collect3 {
		m.bool(!c.WithoutStacks)
	}
	m.u32(uint32(len(c.Providers)))
	for i := range c.Providers {
		c.Providers[i].append(m, cmd >= collect5)
	}
	if cmd == collect6 {
		m.u32(1) // block
	}
	return m
}

func (c *Config) bufferMB() int {
	return cmp.Or(c.BufferMB, DefaultBufferMB)
}
