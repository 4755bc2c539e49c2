package pcapng

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A LinkType says which headers packets begin with, by the numbers that pcap files have.
type LinkType uint16

// The link types of packets that Windows traces.
const (
	Ethernet LinkType = 1
	RawIP    LinkType = 101 // no link header: IPv4 or IPv6
	WiFi     LinkType = 105 // 802.11
)

// An Interface is where packets were seen.
type Interface struct {
	Name string
	Link LinkType
}

// A Direction is that of a packet.
type Direction uint8

// The directions.
const (
	Unknown Direction = iota
	Received
	Sent
)

// A Packet is one that was seen at an interface.
type Packet struct {
	Interface Interface
	Time      etw.FileTime
	Data      []byte // from the link header on
	Original  int    // its length on the wire, where Data is only the begin of it
	Direction Direction
	ID        uint64 // that all sightings of one packet share, or 0
	Dropped   bool
	Comment   string
}

// A Writer writes a pcapng file of one section.
type Writer struct {
	w          *bufio.Writer
	interfaces map[Interface]uint32
	block      []byte
	err        error
}

// NewWriter returns a writer to w. Flush writes the bytes it holds back.
func NewWriter(w io.Writer) *Writer {
	p := &Writer{w: bufio.NewWriterSize(w, 1<<16), interfaces: make(map[Interface]uint32)}
	p.begin(0x0a0d0d0a)
	p.u32(0x1a2b3c4d) // by which readers know the order of bytes
	p.u16(1)
	p.u16(0)
	p.u32(1<<32 - 1) // the length of the section is not known
	p.u32(1<<32 - 1)
	p.option(4, []byte("etwgen")) // the program that writes
	p.option(0, nil)
	p.end()
	return p
}

// maxInterfaces is the most that a file has: as many as a damaged trace may name.
const maxInterfaces = 1 << 16

// Packet writes a packet, and its interface before the first one of it.
func (p *Writer) Packet(k *Packet) error {
	number, ok := p.interfaces[k.Interface]
	if !ok {
		if len(p.interfaces) == maxInterfaces {
			return fmt.Errorf("pcapng: more than %d interfaces", maxInterfaces)
		}
		number = uint32(len(p.interfaces))
		p.interfaces[k.Interface] = number
		p.describe(k.Interface)
	}
	p.begin(6)
	p.u32(number)
	since := uint64(k.Time - unixEpoch) // before 1970 it wraps around, as readers see it
	p.u32(uint32(since >> 32))
	p.u32(uint32(since))
	p.u32(uint32(len(k.Data)))
	p.u32(uint32(max(k.Original, len(k.Data))))
	p.block = append(p.block, k.Data...)
	p.pad()
	p.options(k)
	p.end()
	return p.err
}

// unixEpoch is 1970 as Windows counts, from 1601 on.
const unixEpoch etw.FileTime = 116444736000000000

// options writes the facts about a packet beside its bytes.
func (p *Writer) options(k *Packet) {
	if k.Comment != "" {
		p.option(1, []byte(k.Comment))
	}
	if k.Direction != Unknown {
		p.option(2, binary.LittleEndian.AppendUint32(nil, uint32(k.Direction)))
	}
	if k.ID != 0 {
		p.option(5, binary.LittleEndian.AppendUint64(nil, k.ID))
	}
	p.option(0, nil)
}

// describe writes the block of an interface.
func (p *Writer) describe(i Interface) {
	p.begin(1)
	p.u16(uint16(i.Link))
	p.u16(0)
	p.u32(0) // packets are not cut at one length
	p.option(2, []byte(i.Name))
	p.option(9, []byte{7}) // times are in 10 to the -7 seconds
	p.option(0, nil)
	p.end()
}

// Flush writes the bytes held back, and returns the first error there was.
func (p *Writer) Flush() error {
	if p.err == nil {
		p.err = p.w.Flush()
	}
	return p.err
}

// begin begins a block of a kind.
func (p *Writer) begin(kind uint32) {
	p.block = p.block[:0]
	p.u32(kind)
	p.u32(0) // its length, which end knows
}

// end writes the block: its length stands in front and behind.
func (p *Writer) end() {
	n := uint32(len(p.block) + 4)
	p.u32(n)
	binary.LittleEndian.PutUint32(p.block[4:], n)
	if p.err == nil {
		_, p.err = p.w.Write(p.block)
	}
}

func (p *Writer) u16(v uint16) { p.block = binary.LittleEndian.AppendUint16(p.block, v) }

func (p *Writer) u32(v uint32) { p.block = binary.LittleEndian.AppendUint32(p.block, v) }

// option writes an option, whose length has 16 bits. 0 is behind the last one.
func (p *Writer) option(code uint16, value []byte) {
	value = value[:min(len(value), 1<<16-1)]
	p.u16(code)
	p.u16(uint16(len(value)))
	p.block = append(p.block, value...)
	p.pad()
}

// pad fills the block to 4 bytes.
func (p *Writer) pad() {
	for len(p.block)%4 != 0 {
		p.block = append(p.block, 0)
	}
}
