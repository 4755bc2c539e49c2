package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/private"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/generated/clr/stress"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/generated/universal/events"
	"github.com/etwgen/etwgen/generated/windows/auditing"
	"github.com/etwgen/etwgen/generated/windows/file"
	"github.com/etwgen/etwgen/generated/windows/network"
	"github.com/etwgen/etwgen/generated/windows/process"
	"github.com/etwgen/etwgen/generated/windows/tcpip"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/etwtest"
)

// decoders gives damaged payloads to the decoders of the packages that are in this module.
type decoders struct {
	*campaign
	types []etw.Event
	text  []byte
	// How many payloads were decoded, and how many of all were held against the description.
	decoded, compared int
}

// perBlock is how many executions have one type and one row of random numbers: what begins an
// execution costs more than a decoder does. A block is what -from counts.
const perBlock = 4096

// testDecoders runs generated decoders in this process, some millions in a second.
func testDecoders(c *campaign, _ config) error {
	d := &decoders{campaign: c, types: slices.Concat(clr.Types(), private.Types(), rundown.Types(), stress.Types(), kernel.Types(),
		events.Types(), auditing.Types(), file.Types(), network.Types(), process.Types(), tcpip.Types())}
	c.watch(5 * time.Minute)
	c.blocks(d.block)
	fmt.Fprintf(c.out, "%d types; %d payloads decode, %d were decoded by description and encoded too\n", len(d.types), d.decoded, d.compared)
	return nil
}

// block damages payloads of one type. It returns how many.
func (d *decoders) block(r *rand.Rand) int {
	like := d.types[r.IntN(len(d.types))]
	ptr := etw.Ptr64
	if r.IntN(4) == 0 {
		ptr = etw.Ptr32
	}
	whole := etwtest.Payload(like.EventDesc(), ptr, r.Uint64())
	e := etwtest.New(like)
	room := make([]byte, 0, len(whole)+8)
	for i := range perBlock {
		p := damage(r, append(room[:0], whole...))
		d.mutant = p
		n, err := e.DecodePayload(p, ptr)
		if n < 0 || n > len(p) {
			d.find("bounds", "%T reads %d of %d bytes: %x", like, n, len(p), p)
		}
		if err == nil {
			d.decoded++
		}
		if i%64 == 0 {
			d.compare(e, ptr, p, n, err)
		}
	}
	return perBlock
}

// compare holds a decoder against the description of its event, and against what it encodes.
func (d *decoders) compare(e etw.Event, ptr etw.PtrSize, p []byte, n int, err error) {
	d.compared++
	var dyn etw.Dynamic
	m, dynErr := dyn.Decode(e.EventDesc(), p, ptr)
	if (err == nil) != (dynErr == nil) || err == nil && m != n {
		d.find("differ", "%T of %x: %d bytes, %v; by description %d, %v", e, p, n, err, m, dynErr)
		return
	}
	if err != nil {
		return
	}
	d.text = etw.AppendText(d.text[:0], e)
	if by := etw.AppendText(nil, &dyn); !bytes.Equal(d.text, by) {
		d.find("differ", "%T of %x: %s; by description %s", e, p, d.text, by)
	}
	b, err := e.AppendPayload(nil, ptr)
	if err != nil || !bytes.Equal(b, p[:n]) && !shortened(e.EventDesc(), ptr, b, p[:n]) {
		d.find("round trip", "%T: %x is written as %x (%v)", e, p[:n], b, err)
	}
}

// damage changes a few places of a small input: bits, numbers, its end.
func damage(r *rand.Rand, p []byte) []byte {
	for range 1 + r.IntN(3) {
		if len(p) == 0 {
			return append(p, byte(r.Uint32()))
		}
		x := r.Uint64()
		at := int(x>>33) % len(p)
		switch x & 7 {
		case 0, 1, 2:
			p[at] ^= 1 << (x >> 8 & 7)
		case 3:
			p[at] = byte(x >> 8)
		case 4:
			p[at] = 0
		case 5:
			p = p[:at]
		case 6:
			if len(p)-at >= 4 {
				binary.LittleEndian.PutUint32(p[at:], edges[x>>8&0xff%uint64(len(edges))])
			}
		case 7:
			p = append(p, byte(x>>8))
		}
	}
	return p
}

// edges are numbers that sizes and counts do not expect.
var edges = [...]uint32{0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff}
