package nettrace_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// A checker goes through a stream byte by byte, and accepts nothing but the rules of the
// format. It shares no code with the Reader.
type checker struct {
	b  []byte
	at int

	v6       bool
	rows     map[uint64]bool
	stacks   uint64 // the number of the last one
	labels   uint64
	threads  map[uint64]bool
	sequence map[uint64]uint32 // of the last event of each capture thread
	floor    int64             // nothing that follows is older
	unsorted bool              // its writer did not promise an order
	events   int
	points   int
}

type violation string

func (c *checker) fail(format string, args ...any) {
	panic(violation(fmt.Sprintf("offset %d: ", c.at) + fmt.Sprintf(format, args...)))
}

func (c *checker) take(n int) []byte {
	if n < 0 || n > len(c.b)-c.at {
		c.fail("%d bytes are wanted, and %d are left", n, len(c.b)-c.at)
	}
	c.at += n
	return c.b[c.at-n : c.at]
}

func (c *checker) u8() byte    { return c.take(1)[0] }
func (c *checker) u16() uint16 { return binary.LittleEndian.Uint16(c.take(2)) }
func (c *checker) u32() uint32 { return binary.LittleEndian.Uint32(c.take(4)) }
func (c *checker) i64() int64  { return int64(binary.LittleEndian.Uint64(c.take(8))) }

func (c *checker) uvar(most int) uint64 {
	v, n := binary.Uvarint(c.b[c.at:])
	if n <= 0 || n > most || n > 1 && c.b[c.at+n-1] == 0 {
		c.fail("a number of %d bytes", n)
	}
	c.at += n
	return v
}

func (c *checker) text(want string) {
	if got := string(c.take(len(want))); got != want {
		c.fail("%q, want %q", got, want)
	}
}

// checkStream returns the first breach of the rules.
func checkStream(b []byte) error { return check(b, false) }

func check(b []byte, unsorted bool) (err error) {
	c := &checker{b: b, unsorted: unsorted, rows: map[uint64]bool{}, threads: map[uint64]bool{}, sequence: map[uint64]uint32{}, floor: -1 << 63}
	defer func() {
		if v := recover(); v != nil {
			breach, ok := v.(violation)
			if !ok {
				panic(v)
			}
			err = errors.New(string(breach))
		}
	}()
	c.text("Nettrace")
	if c.v6 = bytes.HasPrefix(c.b[c.at:], make([]byte, 4)); c.v6 {
		c.text("\x00\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00")
		c.blocks()
	} else {
		c.text("\x14\x00\x00\x00!FastSerialization.1")
		c.objects()
	}
	if c.at != len(c.b) {
		c.fail("%d bytes follow the end", len(c.b)-c.at)
	}
	if c.points == 0 {
		c.fail("there is no sequence point")
	}
	return nil
}

// objects checks the objects of version 4.
func (c *checker) objects() {
	for n := 0; ; n++ {
		if c.u8() == 1 {
			return
		}
		c.at--
		c.text("\x05\x05\x01")
		version, least := c.u32(), c.u32()
		name := string(c.take(int(c.u32())))
		c.text("\x06")
		if want := map[bool]uint32{true: 4, false: 2}[name == "Trace"]; version != want || least != want || (n == 0) != (name == "Trace") {
			c.fail("object %d is %s of version %d, least %d", n, name, version, least)
		}
		if name == "Trace" {
			c.trace()
		} else {
			size := int(c.u32())
			for c.at%4 != 0 {
				c.text("\x00")
			}
			c.block(strings.TrimSuffix(name, "Block"), size)
		}
		c.text("\x06")
	}
}

// blocks checks the blocks of version 6.
func (c *checker) blocks() {
	names := []string{"End", "Trace", "Event", "Metadata", "SP", "Stack", "Thread", "RemoveThread", "LabelList"}
	for n := 0; ; n++ {
		word := c.u32()
		size, kind := int(word&0xffffff), int(word>>24)
		if kind >= len(names) || (n == 0) != (kind == 1) {
			c.fail("block %d is of kind %d", n, kind)
		}
		if kind == 0 {
			if size != 0 {
				c.fail("an end of %d bytes", size)
			}
			return
		}
		c.block(names[kind], size)
	}
}

// block checks the content of a block, which ends where its size says.
func (c *checker) block(name string, size int) {
	if size > len(c.b)-c.at {
		c.fail("%s of %d bytes", name, size)
	}
	whole := c.b
	end := c.at + size
	c.b = c.b[:end]
	switch name {
	case "Trace":
		c.trace()
		for range c.u32() {
			c.take(int(c.uvar(5)))
			c.take(int(c.uvar(5)))
		}
	case "Event":
		c.eventBlock(size)
	case "Metadata":
		c.metadata()
	case "SP":
		c.sequencePoint()
	case "Stack":
		c.stackBlock()
	case "Thread":
		for c.at < end {
			row := int(c.u16()) + c.at
			index := c.uvar(10)
			if c.threads[index] {
				c.fail("thread %d twice", index)
			}
			c.threads[index] = true
			c.take(row - c.at)
		}
	case "LabelList":
		c.labelBlock()
	default:
		c.fail("a block %s", name)
	}
	if c.at != end {
		c.fail("%s ends at %d", name, end)
	}
	c.b = whole
}

func (c *checker) trace() {
	for i, most := range []uint16{9999, 12, 6, 31, 23, 59, 59, 999} {
		if v := c.u16(); v > most {
			c.fail("member %d of the time is %d", i, v)
		}
	}
	c.i64()
	if f := c.i64(); f <= 0 {
		c.fail("%d ticks per second", f)
	}
	if p := c.u32(); p != 4 && p != 8 {
		c.fail("pointers of %d bytes", p)
	}
	if !c.v6 {
		c.take(12)
	}
}

// eventsHeader checks the header of a block of events or rows.
func (c *checker) eventsHeader() (low, high int64) {
	if size, flags := c.u16(), c.u16(); size != 20 || flags != 1 {
		c.fail("a header of %d bytes with flags %#x", size, flags)
	}
	return c.i64(), c.i64()
}

type checkedEvent struct {
	metadata, capture, thread, stack, labels, size uint64
	sequence                                       uint32
	time                                           int64
	sorted                                         bool
}

// event reads one event and its header.
func (c *checker) event(e *checkedEvent) (payload []byte) {
	flags := c.u8()
	if flags&0x01 != 0 {
		e.metadata = c.uvar(5)
	}
	if flags&0x02 != 0 {
		e.sequence += uint32(c.uvar(5)) + 1
		e.capture = c.uvar(10)
		c.uvar(5)
	} else if e.metadata != 0 || c.v6 {
		e.sequence++
	}
	if flags&0x04 != 0 {
		e.thread = c.uvar(10)
	}
	if flags&0x08 != 0 {
		e.stack = c.uvar(5)
	}
	e.time += int64(c.uvar(10))
	switch {
	case c.v6 && flags&0x10 != 0:
		e.labels = c.uvar(5)
	case flags&0x10 != 0:
		c.take(16)
	}
	if flags&0x20 != 0 {
		if c.v6 {
			c.fail("flag 0x20")
		}
		c.take(16)
	}
	e.sorted = flags&0x40 != 0
	if flags&0x80 != 0 {
		e.size = c.uvar(5)
	}
	return c.take(int(e.size))
}

func (c *checker) eventBlock(size int) {
	low, high := c.eventsHeader()
	var e, before checkedEvent
	least, most := int64(1<<63-1), int64(-1<<63)
	for n := 0; c.at < len(c.b); n++ {
		c.event(&e)
		least, most = min(least, e.time), max(most, e.time)
		switch {
		case !c.rows[e.metadata]:
			c.fail("metadata %d is not there", e.metadata)
		case e.stack > c.stacks:
			c.fail("stack %d of %d", e.stack, c.stacks)
		case e.labels > c.labels:
			c.fail("label list %d of %d", e.labels, c.labels)
		case c.v6 && (!c.threads[e.thread] || !c.threads[e.capture]):
			c.fail("thread %d or %d is not there", e.thread, e.capture)
		case n > 0 && e.capture != before.capture && !e.sorted && !c.unsorted:
			c.fail("another thread, at no sort point")
		case e.time < c.floor:
			c.fail("time %d, after the promise of %d", e.time, c.floor)
		}
		if last, ok := c.sequence[e.capture]; e.sequence == 0 || ok && e.sequence <= last {
			c.fail("number %d of thread %d after %d", e.sequence, e.capture, last)
		}
		c.sequence[e.capture] = e.sequence
		if e.sorted {
			c.floor = e.time
		}
		before = e
		c.events++
	}
	if least != low || most != high {
		c.fail("times from %d to %d, and %d to %d are said", least, most, low, high)
	}
	if size > 100<<10 && e.size < 100<<10-200 && c.events > 1 {
		c.fail("a block of %d bytes", size)
	}
}

func (c *checker) metadata() {
	if c.v6 {
		c.take(int(c.u16()))
		for c.at < len(c.b) {
			row := int(c.u16()) + c.at
			c.row(c.uvar(5))
			c.take(row - c.at)
		}
		return
	}
	c.eventsHeader()
	var e checkedEvent
	for c.at < len(c.b) {
		payload := c.event(&e)
		if e.metadata != 0 || e.sequence != 0 {
			c.fail("a row is an event")
		}
		c.row(uint64(binary.LittleEndian.Uint32(payload)))
	}
}

func (c *checker) row(id uint64) {
	if id == 0 || c.rows[id] {
		c.fail("row %d twice", id)
	}
	c.rows[id] = true
}

func (c *checker) stackBlock() {
	first := c.u32()
	if uint64(first) != c.stacks+1 {
		c.fail("stacks from %d on, after %d", first, c.stacks)
	}
	n := c.u32()
	for range n {
		if size := c.u32(); size%4 != 0 {
			c.fail("a stack of %d bytes", size)
		} else {
			c.take(int(size))
		}
	}
	c.stacks += uint64(n)
}

func (c *checker) labelBlock() {
	first, n := c.u32(), c.u32()
	if uint64(first) != c.labels+1 || n == 0 {
		c.fail("%d lists from %d on, after %d", n, first, c.labels)
	}
	for range n {
		for last := false; !last; {
			kind := c.u8()
			last = kind&0x80 != 0
			switch kind & 0x7f {
			case 1, 2, 3:
				c.take(16)
			case 4, 8:
				c.take(8)
			case 5:
				c.take(int(c.uvar(5)))
				c.take(int(c.uvar(5)))
			case 6:
				c.take(int(c.uvar(5)))
				c.uvar(10)
			case 7, 9, 10:
				c.take(1)
			default:
				c.fail("label %d", kind)
			}
		}
	}
	c.labels += uint64(n)
}

func (c *checker) sequencePoint() {
	at := c.i64()
	if at < c.floor {
		c.fail("a sequence point at %d, after %d", at, c.floor)
	}
	flags := uint32(0)
	if c.v6 {
		flags = c.u32()
	}
	numbers := make(map[uint64]uint32)
	for range c.u32() {
		if c.v6 {
			numbers[c.uvar(10)] = uint32(c.uvar(5))
		} else {
			numbers[uint64(c.i64())] = c.u32()
		}
	}
	for id, last := range c.sequence {
		if numbers[id] < last {
			c.fail("number %d of thread %d, after %d", numbers[id], id, last)
		}
	}
	c.sequence = numbers
	c.stacks, c.labels = 0, 0
	if flags&1 != 0 {
		clear(c.threads)
		clear(c.sequence)
	}
	c.floor = max(c.floor, at)
	c.points++
}
