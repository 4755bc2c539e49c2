package etltest

import (
	"encoding/binary"
	"time"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
)

// logFileHeader returns the record TRACE_LOGFILE_HEADER, padded to a multiple of
// 8, in the layout of the header's pointer size.
func logFileHeader(h *etl.Header) []byte {
	const timeZoneSize = 0xac
	pointer, padding, kind := 8, 4, byte(kindSystem64)
	if h.PointerSize == etw.Ptr32 {
		pointer, padding, kind = 4, 4, kindSystem32
	}
	le := binary.LittleEndian
	p := make([]byte, systemHeaderSize)
	p = le.AppendUint32(p, h.BufferSize)
	p = append(p, h.WindowsMajor, h.WindowsMinor, h.FormatVersion[0], h.FormatVersion[1])
	p = le.AppendUint32(p, h.WindowsBuild)
	p = le.AppendUint32(p, h.Processors)
	p = le.AppendUint64(p, uint64(h.End))
	p = le.AppendUint32(p, uint32(h.TimerResolution/100))
	p = le.AppendUint32(p, h.MaxFileSize)
	p = le.AppendUint32(p, uint32(h.Mode))
	p = le.AppendUint32(p, h.BuffersWritten)
	p = le.AppendUint32(p, h.StartBuffers)
	p = le.AppendUint32(p, uint32(h.PointerSize))
	p = le.AppendUint32(p, h.EventsLost)
	p = le.AppendUint32(p, h.ProcessorMHz)
	p = append(p, make([]byte, 2*pointer)...)
	zone := len(p)
	p = append(p, make([]byte, timeZoneSize+padding)...)
	le.PutUint32(p[zone:], uint32(int32(-h.UTCOffset/time.Minute)))
	p = le.AppendUint64(p, uint64(h.Boot))
	p = le.AppendUint64(p, uint64(h.Clock.Frequency))
	p = le.AppendUint64(p, uint64(h.Clock.Start))
	p = le.AppendUint32(p, uint32(h.ClockType))
	p = le.AppendUint32(p, h.BuffersLost)
	p = append(etw.AppendUTF16(p, h.SessionName), 0, 0)
	p = append(etw.AppendUTF16(p, h.LogFileName), 0, 0)

	le.PutUint16(p, 2)
	p[2], p[3] = kind, markerRecord
	le.PutUint16(p[0x04:], uint16(len(p)))
	le.PutUint64(p[0x10:], uint64(h.Clock.Origin))
	for len(p)%8 != 0 {
		p = append(p, 0xff)
	}
	return p
}
