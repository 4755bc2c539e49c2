package etl

import (
	"encoding/binary"
	"strings"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A Header describes the session that recorded a file, from its first record,
// TRACE_LOGFILE_HEADER.
type Header struct {
	File string // its path, or its name if it has another

	SessionName string
	LogFileName string // the path that the file was recorded at

	WindowsMajor, WindowsMinor uint8
	WindowsBuild               uint32
	Processors                 uint32
	ProcessorMHz               uint32
	PointerSize                etw.PtrSize // of the recorded system

	Clock           etw.Clock // of the records' time stamps
	ClockType       ClockType
	End, Boot       etw.FileTime // End is 0 while the session runs
	TimerResolution time.Duration
	UTCOffset       time.Duration // local time less UTC, without daylight saving
	// Zone is the local time of the machine when the session began, with daylight saving
	// if there was. It is nil if the file does not tell.
	Zone *time.Location

	Mode           LogFileMode
	Compression    Compression
	MaxFileSize    uint32 // MiB, or KiB with that mode
	BufferSize     uint32
	StartBuffers   uint32
	BuffersWritten uint32
	EventsLost     uint32
	BuffersLost    uint32
	FormatVersion  [2]uint8 // 1.5 or 2.0
}

// Start returns when the session began.
func (h Header) Start() time.Time { return h.Clock.Start.Time() }

// A ClockType is the unit of the time stamps of a session.
type ClockType uint32

// The clock types.
const (
	ClockRaw        ClockType = iota // not said; taken for the performance counter
	ClockQPC                         // the performance counter
	ClockSystemTime                  // FILETIME
	ClockCycles                      // processor cycles
)

// String returns the name of c.
func (c ClockType) String() string {
	switch c {
	case ClockRaw:
		return "raw"
	case ClockQPC:
		return "performance counter"
	case ClockSystemTime:
		return "system time"
	case ClockCycles:
		return "processor cycles"
	}
	return "unknown"
}

// A Compression is the algorithm that the buffers of a file are compressed
// with. The numbers are those of Windows.
type Compression uint16

// The algorithms.
const (
	CompressionNone          Compression = 0
	CompressionLZNT1         Compression = 2
	CompressionXpress        Compression = 3 // plain LZ77
	CompressionXpressHuffman Compression = 4
)

// String returns the name of c.
func (c Compression) String() string {
	switch c {
	case CompressionNone:
		return "none"
	case CompressionLZNT1:
		return "LZNT1"
	case CompressionXpress:
		return "XPRESS"
	case CompressionXpressHuffman:
		return "XPRESS Huffman"
	}
	return "unknown"
}

// LogFileMode is the mode of a session, EVENT_TRACE_... of Windows.
type LogFileMode uint32

// Some modes of sessions.
const (
	ModeSequential     LogFileMode = 0x00000001
	ModeCircular       LogFileMode = 0x00000002
	ModeAppend         LogFileMode = 0x00000004
	ModeNewFile        LogFileMode = 0x00000008
	ModePreallocate    LogFileMode = 0x00000020
	ModeNonStoppable   LogFileMode = 0x00000040
	ModeSecure         LogFileMode = 0x00000080
	ModeRealTime       LogFileMode = 0x00000100
	ModeBuffering      LogFileMode = 0x00000400
	ModePrivate        LogFileMode = 0x00000800
	ModeKilobytes      LogFileMode = 0x00002000
	ModeRelog          LogFileMode = 0x00010000
	ModePrivateInProc  LogFileMode = 0x00020000
	ModePagedMemory    LogFileMode = 0x01000000
	ModeSystemLogger   LogFileMode = 0x02000000
	ModeCompressed     LogFileMode = 0x04000000
	ModeIndependent    LogFileMode = 0x08000000
	ModeNoPerProcessor LogFileMode = 0x10000000
)

var modeNames = []struct {
	mode LogFileMode
	name string
}{
	{ModeSequential, "sequential"}, {ModeCircular, "circular"}, {ModeAppend, "append"},
	{ModeNewFile, "new-file"}, {ModePreallocate, "preallocate"}, {ModeNonStoppable, "non-stoppable"},
	{ModeSecure, "secure"}, {ModeRealTime, "real-time"}, {ModeBuffering, "buffering"},
	{ModePrivate, "private"}, {ModeKilobytes, "kilobytes"}, {ModeRelog, "relog"},
	{ModePrivateInProc, "private-in-process"}, {ModePagedMemory, "paged-memory"},
	{ModeSystemLogger, "system-logger"}, {ModeCompressed, "compressed"},
	{ModeIndependent, "independent"}, {ModeNoPerProcessor, "no-per-processor-buffering"},
}

// String returns the names of the modes in m, joined with |.
func (m LogFileMode) String() string {
	var names []string
	for _, e := range modeNames {
		if m&e.mode != 0 {
			names = append(names, e.name)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, "|")
}

// parse sets h from the first record of a file. It reports false if that
// is not a TRACE_LOGFILE_HEADER. A record that is cut off after the fixed part
// is taken without its names.
func (h *Header) parse(record []byte) bool {
	if len(record) < systemHeaderSize || record[3] != markerRecord || record[6] != 0 || record[7] != 0 {
		return false
	}
	// The members after the two pointers lie 8 bytes earlier with 32-bit ones.
	shift, pointers := 0, etw.Ptr64
	switch record[2] {
	case kindSystem32:
		shift, pointers = -8, etw.Ptr32
	case kindSystem64:
	default:
		return false
	}
	size := min(int(binary.LittleEndian.Uint16(record[4:])), len(record))
	if size < systemHeaderSize {
		return false
	}
	p := record[systemHeaderSize:size]
	if len(p) < 0x118+shift {
		return false
	}
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(p[at:]) }
	i64 := func(at int) int64 { return int64(binary.LittleEndian.Uint64(p[at:])) }

	h.BufferSize = u32(0x00)
	h.WindowsMajor, h.WindowsMinor = p[4], p[5]
	h.FormatVersion = [2]uint8{p[6], p[7]}
	h.WindowsBuild = u32(0x08)
	h.Processors = u32(0x0c)
	h.End = etw.FileTime(i64(0x10))
	h.TimerResolution = time.Duration(u32(0x18)) * 100
	h.MaxFileSize = u32(0x1c)
	h.Mode = LogFileMode(u32(0x20))
	h.BuffersWritten = u32(0x24)
	h.StartBuffers = u32(0x28)
	h.PointerSize = pointers
	if n := u32(0x2c); n == 4 || n == 8 {
		h.PointerSize = etw.PtrSize(n)
	}
	h.EventsLost = u32(0x30)
	h.ProcessorMHz = u32(0x34)
	h.UTCOffset = -time.Duration(int32(u32(0x48+shift))) * time.Minute
	h.Boot = etw.FileTime(i64(0xf8 + shift))
	h.Zone = zoneAt(zoneOf(record), etw.FileTime(i64(0x108+shift)), h.UTCOffset)
	perfFrequency := i64(0x100 + shift)
	h.Clock.Start = etw.FileTime(i64(0x108 + shift))
	h.ClockType = ClockType(u32(0x110 + shift))
	h.BuffersLost = u32(0x114 + shift)
	session, p := etw.CutUTF16(p[0x118+shift:])
	path, _ := etw.CutUTF16(p)
	h.SessionName, h.LogFileName = session.String(), path.String()

	h.Clock.Origin = le64(record[0x10:])
	h.Clock.Frequency = h.frequency(perfFrequency)
	return true
}

// frequency returns the ticks per second of h's clock, where those of the
// performance counter are given.
func (h *Header) frequency(counter int64) int64 {
	switch h.ClockType {
	case ClockSystemTime:
		return 1e7
	case ClockCycles:
		counter = int64(h.ProcessorMHz) * 1e6
	}
	if counter <= 0 {
		return 1e7
	}
	return counter
}
