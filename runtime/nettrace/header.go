package nettrace

import (
	"math"
	"strconv"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/internal/layout"
)

// A Header describes a stream as a whole.
type Header struct {
	// Version is 3 for netperf, 4 for the nettrace of .NET Core 3.0 to .NET 10,
	// and 6. Version 5 cannot be told from 4.
	Version int
	// Minor is the second number of the version, of version 6 and later.
	Minor int

	// Clock relates time stamps to UTC. Its start has a precision of 1 ms.
	Clock       etw.Clock
	PointerSize etw.PtrSize
	// ProcessID is -1 where a trace of version 6 is of several processes.
	ProcessID  int64
	Processors int // 0 is unknown
	// SamplingInterval is the time between two samples of a thread.
	SamplingInterval time.Duration
	// Keys are all keys of a version 6 header, in the order of the stream.
	Keys []KeyValue
}

// Start returns when the session started.
func (h Header) Start() time.Time { return h.Clock.Start.Time() }

// read reads a trace header:
//
//	SYSTEMTIME 16, clock at that time u64, ticks per second u64,
//	pointer size u32, process id u32, processors u32, sampling interval u32
//
// In version 6 number and names of the values after the pointer size vary.
//
// Senseless values are replaced, so that the events can be read. It reports whether the
// bytes are those of a header, and the faults of their values.
func (h *Header) read(b []byte, v6 bool) (fits bool, err error) {
	c := layout.Cursor{B: b}
	h.Clock.Start = systemTime(&c)
	h.Clock.Origin = int64(c.U64())
	h.Clock.Frequency = int64(c.U64())
	size := c.U32()
	if v6 {
		h.readKeys(&c)
	} else {
		h.ProcessID = int64(c.U32())
		h.Processors = int(int32(c.U32()))
		h.SamplingInterval = time.Duration(c.U32())
	}
	if size != 4 && size != 8 {
		err = layout.Damaged("pointers of %d bytes", size)
		size = 8
	}
	h.PointerSize = etw.PtrSize(size)
	if n := h.Clock.Frequency; n <= 0 {
		err = layout.Damaged("a clock with %d ticks per second", n)
		if h.Clock.Frequency = n & math.MaxInt64; h.Clock.Frequency == 0 {
			h.Clock.Frequency = 1e9
		}
	}
	return !c.Bad && (c.Left() == 0 || h.Minor > 0), err
}

// maxKeys bounds the keys of a header. Writers have four.
const maxKeys = 1 << 12

// readKeys reads the keys and values of version 6 and picks out those with a
// place in the header.
func (h *Header) readKeys(c *layout.Cursor) {
	h.ProcessID, h.Keys = -1, nil
	for i := range c.U32() {
		if i == maxKeys {
			c.Bad = true
			return
		}
		kv := KeyValue{c.Vstr(), c.Vstr()}
		if c.Bad {
			return
		}
		h.Keys = append(h.Keys, kv)
		n, err := strconv.ParseInt(kv.Value, 10, 64)
		if err != nil {
			continue
		}
		switch kv.Key {
		case "ProcessId":
			h.ProcessID = n
		case "HardwareThreadCount":
			h.Processors = int(n)
		case "ExpectedCPUSamplingRate":
			h.SamplingInterval = time.Duration(n)
		}
	}
}

// systemTime reads a SYSTEMTIME: year, month, day of the week, day, hour,
// minute, second and millisecond as u16. The day of the week is not to be
// trusted.
func systemTime(c *layout.Cursor) etw.FileTime {
	var v [8]int
	for i := range v {
		v[i] = int(c.U16())
	}
	t := time.Date(v[0], time.Month(v[1]), v[3], v[4], v[5], v[6], v[7]*int(time.Millisecond), time.UTC)
	return etw.FileTimeOf(t)
}
