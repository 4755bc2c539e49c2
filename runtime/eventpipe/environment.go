package eventpipe

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// maxEnvironment bounds the environment of a process. Linux has room for some
// megabytes.
const maxEnvironment = 64 << 20

// Environment returns the environment of a process as it is now, each as NAME=value.
// It takes .NET 5.
func (c *Client) Environment(ctx context.Context) ([]string, error) {
	k, err := c.send(ctx, newMessage(environment))
	if err != nil {
		return nil, err
	}
	p, err := k.answer()
	if err != nil {
		return nil, err
	}
	defer k.close()
	n := p.u32()
	p.u16()
	if err := p.err(environment); err != nil {
		return nil, k.wrap(err)
	}
	if n > maxEnvironment {
		return nil, k.wrap(fmt.Errorf("%w: an environment of %d bytes", ErrProtocol, n))
	}
	// Memory grows with arriving bytes, not with claims.
	data, err := io.ReadAll(io.LimitReader(k.conn, int64(n)))
	if err == nil && len(data) < int(n) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, k.wrap(err)
	}
	p = &parser{b: data}
	var list []string
	for count := p.u32(); count > 0 && !p.bad; count-- {
		list = append(list, p.text())
	}
	if err := p.err(environment); err != nil {
		return nil, k.wrap(err)
	}
	return list, nil
}

// SetEnvironment sets a variable in the environment of a process, which has an effect on
// later readers. It takes .NET 6.
func (c *Client) SetEnvironment(ctx context.Context, name, value string) error {
	if name == "" || strings.Contains(name, "=") {
		return invalid("%q cannot be the name of a variable", name)
	}
	if err := checkText("the name of the variable", name); err != nil {
		return err
	}
	if err := checkText("the value of "+name, value); err != nil {
		return err
	}
	m := newMessage(setVariable)
	m.text(name)
	m.text(value)
	return c.tell(ctx, m)
}
