package etl

import (
	"encoding/binary"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// append appends the record TRACE_LOGFILE_HEADER, padded to a multiple of 8, in the layout
// of the pointer size of h. Facts that h lacks are those of the record like, if there is
// one: who wrote it, and the time zone after its bias.
func (h *Header) append(b, like []byte) []byte {
	pointer, padding, kind := 8, 4, byte(kindSystem64)
	if h.PointerSize == etw.Ptr32 {
		pointer, padding, kind = 4, 4, kindSystem32
	}
	le := binary.LittleEndian
	start := len(b)
	b = append(b, make([]byte, systemHeaderSize)...)
	b = le.AppendUint32(b, h.BufferSize)
	b = append(b, h.WindowsMajor, h.WindowsMinor, h.FormatVersion[0], h.FormatVersion[1])
	b = le.AppendUint32(b, h.WindowsBuild)
	b = le.AppendUint32(b, h.Processors)
	b = le.AppendUint64(b, uint64(h.End))
	b = le.AppendUint32(b, uint32(h.TimerResolution/100))
	b = le.AppendUint32(b, h.MaxFileSize)
	b = le.AppendUint32(b, uint32(h.Mode))
	b = le.AppendUint32(b, h.BuffersWritten)
	b = le.AppendUint32(b, h.StartBuffers)
	b = le.AppendUint32(b, uint32(h.PointerSize))
	b = le.AppendUint32(b, h.EventsLost)
	b = le.AppendUint32(b, h.ProcessorMHz)
	b = append(b, make([]byte, 2*pointer)...)
	b = le.AppendUint32(b, uint32(int32(-h.UTCOffset/time.Minute)))
	at := len(b)
	b = append(b, make([]byte, timeZoneSize-4+padding)...)
	copy(b[at:at+timeZoneSize-4], zoneOf(like))
	b = le.AppendUint64(b, uint64(h.Boot))
	b = le.AppendUint64(b, uint64(h.Clock.Frequency))
	b = le.AppendUint64(b, uint64(h.Clock.Start))
	b = le.AppendUint32(b, uint32(h.ClockType))
	b = le.AppendUint32(b, h.BuffersLost)
	b = append(etw.AppendUTF16(b, h.SessionName), 0, 0)
	b = append(etw.AppendUTF16(b, h.LogFileName), 0, 0)

	p := b[start:]
	if len(like) >= systemHeaderSize {
		copy(p[:systemHeaderSize], like)
	}
	le.PutUint16(p, 2)
	p[2], p[3] = kind, markerRecord
	le.PutUint16(p[0x04:], uint16(len(p)))
	le.PutUint64(p[0x10:], uint64(h.Clock.Origin))
	for len(b)%8 != 0 {
		b = append(b, fill)
	}
	return b
}
