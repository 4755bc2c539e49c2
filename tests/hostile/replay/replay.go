// Package replay decodes payloads whose values are known, and compares. Programs that the
// harness generates are made of it and of a generated package.
package replay

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A Case is a payload and its values, as JSON.
type Case struct {
	Number  uint64 // of the execution that made it
	ID      uint16
	Version uint8
	Ptr     etw.PtrSize
	Payload []byte
	Want    json.RawMessage
}

// A Result is the outcome of one case, or of all.
type Result struct {
	Number   uint64
	Class    string // of the promise that was broken, "" for the last result of all
	Problem  string
	Payloads int // that were decoded whole, by one decoder
	Cuts     int // truncated payloads that were decoded
}

// A Checker decodes cases in all ways that there are.
type Checker struct {
	Result
	descs map[etw.Key]*etw.EventDesc
	types map[*etw.EventDesc]etw.Event
	anys  map[uint16]etw.AnyVersion
	out   func(Result)
}

// NewChecker returns a Checker of the events of p. Broken promises go to out. Types are
// those of the events, and anys those for all versions of one.
func NewChecker(p *etw.Provider, out func(Result), types []etw.Event, anys ...etw.AnyVersion) *Checker {
	c := &Checker{
		descs: make(map[etw.Key]*etw.EventDesc), types: make(map[*etw.EventDesc]etw.Event),
		anys: make(map[uint16]etw.AnyVersion), out: out,
	}
	for _, d := range p.Events {
		c.descs[etw.Key{ID: d.ID, Version: d.Version}] = d
	}
	for _, e := range types {
		c.types[e.EventDesc()] = e
	}
	for _, a := range anys {
		c.anys[etw.Versions(a)[0].ID] = a
	}
	return c
}

// Check decodes one case.
func (c *Checker) Check(k *Case) {
	defer func() {
		if e := recover(); e != nil {
			c.fail(k, "panic", "%v", e)
		}
	}()
	d := c.descs[etw.Key{ID: k.ID, Version: k.Version}]
	if d == nil {
		c.fail(k, "missing", "there is no such event")
		return
	}
	c.dynamic(k, d)
	e := c.types[d]
	if e == nil {
		return
	}
	c.typed(k, e)
	if a := c.anys[k.ID]; a != nil {
		c.any(k, a, e)
	}
}

// fail hands on that a promise was broken.
func (c *Checker) fail(k *Case, class, format string, args ...any) {
	c.out(Result{Number: k.Number, Class: class, Problem: fmt.Sprintf("event %d version %d, pointers of %d bytes, payload %x: %s",
		k.ID, k.Version, k.Ptr, k.Payload, fmt.Sprintf(format, args...))})
}

// same checks the result of a decoder for a whole payload.
func (c *Checker) same(k *Case, by string, n int, err error, e etw.Described) bool {
	c.Payloads++
	if err != nil {
		c.fail(k, by, "%v", err)
		return false
	}
	if n != len(k.Payload) {
		c.fail(k, by, "%d bytes were read of %d", n, len(k.Payload))
	}
	got, err := etw.AppendJSON(nil, e)
	if err != nil {
		c.fail(k, by, "JSON: %v", err)
	} else if !equalJSON(got, k.Want) {
		c.fail(k, by, "it holds %s, and not %s", got, k.Want)
	}
	return true
}

// dynamic decodes by the description alone.
func (c *Checker) dynamic(k *Case, desc *etw.EventDesc) {
	var d etw.Dynamic
	n, err := d.Decode(desc, k.Payload, k.Ptr)
	c.same(k, "dynamic", n, err, &d)
	for cut := range k.Payload {
		c.Cuts++
		if _, err := d.Decode(desc, k.Payload[:cut], k.Ptr); err == nil {
			c.fail(k, "dynamic cut", "no error after %d bytes", cut)
			return
		}
		d.DecodeLoose(desc, k.Payload[:cut], k.Ptr)
		if b, err := etw.AppendJSON(nil, &d); err != nil || !json.Valid(b) {
			c.fail(k, "dynamic cut", "after %d bytes the JSON is %s (%v)", cut, b, err)
			return
		}
	}
}

// cut decodes the beginnings of a payload, which cannot go well.
func (c *Checker) cut(k *Case, rule string, decode func([]byte) error) {
	for cut := range k.Payload {
		c.Cuts++
		if decode(k.Payload[:cut:cut]) == nil {
			c.fail(k, rule, "no error after %d bytes", cut)
			break
		}
	}
}

// typed decodes by the generated type.
func (c *Checker) typed(k *Case, e etw.Event) {
	c.cut(k, "typed cut", func(p []byte) error { _, err := e.DecodePayload(p, k.Ptr); return err })
	n, err := e.DecodePayload(k.Payload, k.Ptr)
	if !c.same(k, "typed", n, err, e) {
		return
	}
	back, err := e.AppendPayload(nil, k.Ptr)
	if err != nil || string(back) != string(k.Payload) {
		c.fail(k, "append", "it is written as %x (%v)", back, err)
	}
	more := append(append([]byte(nil), k.Payload...), 0xaa, 0xbb)
	if n, err := e.DecodePayload(more, k.Ptr); err != nil || n != len(k.Payload) {
		c.fail(k, "typed", "with bytes behind it, %d of %d are read (%v)", n, len(k.Payload), err)
	}
	e.DecodePayload(k.Payload, k.Ptr)
}

// Main checks the cases on the standard input, and writes results to the standard
// output.
func Main(p *etw.Provider, types []etw.Event, anys ...etw.AnyVersion) {
	if err := run(os.Stdin, os.Stdout, p, types, anys...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(in io.Reader, w io.Writer, p *etw.Provider, types []etw.Event, anys ...etw.AnyVersion) error {
	out := json.NewEncoder(w)
	c := NewChecker(p, func(r Result) { out.Encode(r) }, types, anys...)
	cases := json.NewDecoder(bufio.NewReader(in))
	for {
		var k Case
		switch err := cases.Decode(&k); err {
		case nil:
			c.Check(&k)
		case io.EOF:
			return out.Encode(c.Result)
		default:
			return err
		}
	}
}
