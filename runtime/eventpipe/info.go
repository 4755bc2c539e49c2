package eventpipe

import (
	"context"
	"errors"
	"fmt"

	"github.com/etwgen/etwgen/runtime/etw"
)

// An Info is a runtime's facts about its process.
type Info struct {
	PID         int64 // in the namespace of the process
	Cookie      etw.GUID
	CommandLine string
	OS          string // such as Linux
	Arch        string // such as x64
	Assembly    string // the one with the entry point; "" before .NET 6
	Runtime     string // the version of the runtime; "" before .NET 6
	RID         string // the runtime identifier, such as linux-x64; "" before .NET 8
}

// Info asks a process for its facts, which takes .NET 5. Before it is resumed, a process
// that waits knows its command line only in part.
func (c *Client) Info(ctx context.Context) (Info, error) {
	for _, cmd := range []command{processInfo3, processInfo2} {
		info, err := c.info(ctx, cmd)
		if !errors.Is(err, errors.ErrUnsupported) {
			return info, err
		}
	}
	return c.info(ctx, processInfo)
}

// info sends one of the three commands, each of which has the fields of those before it:
//
//	version u32 (third), pid u64, cookie, command line, OS, architecture,
//	assembly, runtime (second, third), RID (third)
func (c *Client) info(ctx context.Context, cmd command) (Info, error) {
	p, err := c.ask(ctx, newMessage(cmd))
	if err != nil {
		return Info{}, err
	}
	if cmd == processInfo3 {
		p.u32()
	}
	i := Info{PID: int64(p.u64()), Cookie: p.guid(), CommandLine: p.text(), OS: p.text(), Arch: p.text()}
	if cmd != processInfo {
		i.Assembly, i.Runtime = p.text(), p.text()
	}
	if cmd == processInfo3 {
		i.RID = p.text()
	}
	if err := p.err(cmd); err != nil {
		return Info{}, fmt.Errorf("eventpipe: %s: %w", c.name, err)
	}
	return i, nil
}
