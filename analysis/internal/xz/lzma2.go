package xz

import "encoding/binary"

// An lzma2 unpacks chunks, each of which is stored or packed.
type lzma2 struct {
	in    []byte
	out   []byte
	begin int // of the dictionary in out
	limit int
	lzma  *lzma
	// resets is how many numbers may be set to their begin yet: chunks of some bytes can
	// each have thousands set.
	resets *int
}

// resetsFor returns how many that are for a limit of bytes. Packers have all numbers set for a
// megabyte or more.
func resetsFor(limit int) int {
	const least = 1 << 20
	return 2*limit + least
}

// unpack unpacks chunks up to their end.
func (d *lzma2) unpack() error {
	needs := needDictionary
	for {
		control, ok := d.byte()
		if !ok {
			return ErrFormat
		}
		switch {
		case control == 0:
			return nil
		case control >= 0x80:
			if err := d.packed(control, &needs); err != nil {
				return err
			}
		case control > 2:
			return ErrFormat
		default:
			if control == 1 {
				d.begin = len(d.out)
				needs = min(needs, needProperties)
			}
			if err := d.stored(needs); err != nil {
				return err
			}
		}
	}
}

// The state that must be set before a chunk can be unpacked: each includes those below.
const (
	needNothing = iota
	needState
	needProperties
	needDictionary
)

func (d *lzma2) byte() (byte, bool) {
	if len(d.in) == 0 {
		return 0, false
	}
	b := d.in[0]
	d.in = d.in[1:]
	return b, true
}

// stored copies a chunk that is not packed.
func (d *lzma2) stored(needs int) error {
	if needs == needDictionary || len(d.in) < 2 {
		return ErrFormat
	}
	n := int(binary.BigEndian.Uint16(d.in)) + 1
	if len(d.in) < 2+n {
		return ErrFormat
	}
	if n > d.limit-len(d.out) {
		return ErrSize
	}
	d.out = append(d.out, d.in[2:2+n]...)
	d.in = d.in[2+n:]
	return nil
}

// packed unpacks a chunk. Its control byte says which state is set anew with it.
func (d *lzma2) packed(control byte, needs *int) error {
	if len(d.in) < 4 {
		return ErrFormat
	}
	size := (int(control&0x1f)<<16 | int(binary.BigEndian.Uint16(d.in))) + 1
	from := int(binary.BigEndian.Uint16(d.in[2:])) + 1
	d.in = d.in[4:]
	sets := int(control >> 5 & 3)
	if sets < *needs {
		return ErrFormat
	}
	*needs = needNothing
	if sets == needDictionary {
		d.begin = len(d.out)
	}
	if sets >= needProperties {
		properties, ok := d.byte()
		if !ok || !d.lzma.setProperties(properties) {
			return ErrFormat
		}
	}
	if sets >= needState {
		if *d.resets -= d.lzma.numbers(); *d.resets < 0 {
			return ErrSize
		}
		d.lzma.reset()
	}
	if len(d.in) < from {
		return ErrFormat
	}
	if size > d.limit-len(d.out) {
		return ErrSize
	}
	out, ok := d.lzma.unpack(d.in[:from], d.out, d.begin, size)
	if !ok {
		return ErrFormat
	}
	d.in, d.out = d.in[from:], out
	return nil
}
