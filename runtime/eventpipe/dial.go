package eventpipe

import (
	"context"
	"fmt"
)

// DialPID returns a client of the process with a pid, in our own namespace of pids. It
// connects once to see that a runtime answers.
func DialPID(ctx context.Context, pid int) (*Client, error) {
	path, err := findSocket(pid)
	if err != nil {
		return nil, fmt.Errorf("eventpipe: process %d: %w", pid, err)
	}
	return dial(ctx, nameOf(pid), path)
}

// DialSocket returns a client of the process whose diagnostics socket, or on Windows
// pipe, is at path. It connects once to see that a runtime answers.
func DialSocket(ctx context.Context, path string) (*Client, error) {
	return dial(ctx, path, path)
}

func dial(ctx context.Context, name, path string) (*Client, error) {
	c := socketClient(name, path)
	if _, err := c.Info(ctx); err != nil && !isRefused(err) { // .NET Core 3.1 knows no such command
		return nil, err
	}
	return c, nil
}

// socketClient returns a client that connects to a socket or pipe.
func socketClient(name, path string) *Client {
	return &Client{name: name, timeout: DefaultTimeout, connect: func(ctx context.Context) (conn, error) { return connect(ctx, path) }}
}
