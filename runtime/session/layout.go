package session

import (
	"unsafe"

	"github.com/etwgen/etwgen/runtime/etw"
)

// The structures of evntrace.h, evntcons.h and evntprov.h, for 64 and 32 bits. C aligns
// 64-bit members to 8 bytes everywhere, Go on 386 to 4: where that matters there is
// padding of narrow bytes. The sizes and offsets at the end of this file are checked
// when the package is compiled, on whatever system.

// word is the size of a pointer, and narrow 4 where that is 4, otherwise 0.
const (
	word   = unsafe.Sizeof(uintptr(0))
	narrow = 8 - word
)

// wnodeHeader is WNODE_HEADER.
type wnodeHeader struct {
	bufferSize        uint32
	_                 uint32
	historicalContext uint64
	_                 int64
	guid              etw.GUID
	clientContext     uint32
	flags             uint32
}

const wnodeTracedGUID = 0x20000

// properties is EVENT_TRACE_PROPERTIES, with the room for names behind it that has to
// be in one piece with it.
type properties struct {
	wnode               wnodeHeader
	bufferSize          uint32 // in KB
	minimumBuffers      uint32
	maximumBuffers      uint32
	maximumFileSize     uint32
	logFileMode         uint32
	flushTimer          uint32 // in seconds
	enableFlags         uint32
	_                   int32
	numberOfBuffers     uint32
	freeBuffers         uint32
	eventsLost          uint32
	buffersWritten      uint32
	logBuffersLost      uint32
	realTimeBuffersLost uint32
	loggerThreadID      uintptr
	logFileNameOffset   uint32
	loggerNameOffset    uint32
	_                   [narrow]byte
	loggerName          [maxName + 1]uint16
	logFileName         [maxName + 1]uint16
}

// maxName is how many characters the name of a session, or of its file, may have.
const maxName = 1024

// propertiesSize is that of EVENT_TRACE_PROPERTIES alone.
const propertiesSize = unsafe.Offsetof(properties{}.loggerName)

// logfileHeader is TRACE_LOGFILE_HEADER.
type logfileHeader struct {
	bufferSize      uint32
	version         [4]uint8
	providerVersion uint32
	processors      uint32
	endTime         int64
	timerResolution uint32
	maximumFileSize uint32
	logFileMode     uint32
	buffersWritten  uint32
	startBuffers    uint32
	pointerSize     uint32
	eventsLost      uint32
	cpuSpeed        uint32
	_               [2]uintptr // names
	timeZone        timeZone
	_               [4]byte
	bootTime        int64
	perfFreq        int64
	startTime       int64
	clockType       uint32
	buffersLost     uint32
}

// timeZone is TIME_ZONE_INFORMATION.
type timeZone struct {
	bias int32 // minutes
	_    [168]byte
}

// logfile is EVENT_TRACE_LOGFILEW.
type logfile struct {
	_              *uint16
	loggerName     *uint16
	_              int64
	_              uint32
	mode           uint32
	_              [88]byte // the event in the form of old
	header         logfileHeader
	bufferCallback uintptr
	_              uint32
	filled         uint32
	_              uint32
	_              [4 - narrow]byte
	eventCallback  uintptr
	isKernelTrace  uint32
	_              [4 - narrow]byte
	context        uintptr
	_              [narrow]byte
	end            [0]byte
}

// The modes of logfile.
const (
	processRealTime     = 0x00000100
	processRawTimestamp = 0x00001000
	processEventRecord  = 0x10000000
)

// filterDescriptor is EVENT_FILTER_DESCRIPTOR.
type filterDescriptor struct {
	data       uint64 // a pointer, whatever its size
	size       uint32
	filterType uint32
}

// enableParameters is ENABLE_TRACE_PARAMETERS.
type enableParameters struct {
	version     uint32
	property    uint32
	_           uint32
	sourceID    etw.GUID
	_           [4 - narrow]byte
	filters     *filterDescriptor
	filterCount uint32
	_           [4 - narrow]byte
	end         [0]byte
}

// openOptions is ETW_OPEN_TRACE_OPTIONS.
type openOptions struct {
	modes          uint32
	_              [4 - narrow]byte
	_              [2]uintptr // callback and context for single events
	bufferCallback uintptr
	bufferContext  uintptr
}

// stackTracingID is CLASSIC_EVENT_ID.
type stackTracingID struct {
	class   etw.GUID
	opcode  uint8
	padding [7]uint8
}

// sampleInterval is TRACE_PROFILE_INTERVAL.
type sampleInterval struct {
	source   uint32
	interval uint32 // 100 ns
}

// Each of these has two numbers that must be equal, or the package does not compile: the
// negative of anything but 0 is no uintptr.
const (
	both = (word - 4) / 4 // 1 where pointers have 64 bits

	_ = -(unsafe.Sizeof(wnodeHeader{}) ^ 48)
	_ = -(propertiesSize ^ 120)
	_ = -(unsafe.Offsetof(properties{}.bufferSize) ^ 48)
	_ = -(unsafe.Offsetof(properties{}.enableFlags) ^ 72)
	_ = -(unsafe.Offsetof(properties{}.realTimeBuffersLost) ^ 100)
	_ = -(unsafe.Offsetof(properties{}.loggerThreadID) ^ 104)
	_ = -(unsafe.Offsetof(properties{}.logFileNameOffset) ^ (108 + 4*both))
	_ = -(unsafe.Offsetof(properties{}.loggerNameOffset) ^ (112 + 4*both))

	_ = -(unsafe.Sizeof(timeZone{}) ^ 172)
	_ = -(unsafe.Sizeof(logfileHeader{}) ^ (272 + 8*both))
	_ = -(unsafe.Offsetof(logfileHeader{}.endTime) ^ 16)
	_ = -(unsafe.Offsetof(logfileHeader{}.cpuSpeed) ^ 52)
	_ = -(unsafe.Offsetof(logfileHeader{}.timeZone) ^ (64 + 8*both))
	_ = -(unsafe.Offsetof(logfileHeader{}.bootTime) ^ (240 + 8*both))
	_ = -(unsafe.Offsetof(logfileHeader{}.startTime) ^ (256 + 8*both))
	_ = -(unsafe.Offsetof(logfileHeader{}.clockType) ^ (264 + 8*both))
	_ = -(unsafe.Offsetof(logfileHeader{}.buffersLost) ^ (268 + 8*both))

	_ = -(unsafe.Offsetof(logfile{}.end) ^ (416 + 32*both))
	_ = -(unsafe.Offsetof(logfile{}.loggerName) ^ (4 + 4*both))
	_ = -(unsafe.Offsetof(logfile{}.mode) ^ (20 + 8*both))
	_ = -(unsafe.Offsetof(logfile{}.header) ^ (112 + 8*both))
	_ = -(unsafe.Offsetof(logfile{}.bufferCallback) ^ (384 + 16*both))
	_ = -(unsafe.Offsetof(logfile{}.filled) ^ (392 + 20*both))
	_ = -(unsafe.Offsetof(logfile{}.eventCallback) ^ (400 + 24*both))
	_ = -(unsafe.Offsetof(logfile{}.isKernelTrace) ^ (404 + 28*both))
	_ = -(unsafe.Offsetof(logfile{}.context) ^ (408 + 32*both))

	_ = -(unsafe.Sizeof(filterDescriptor{}) ^ 16)
	_ = -(unsafe.Offsetof(enableParameters{}.filters) ^ (28 + 4*both))
	_ = -(unsafe.Offsetof(enableParameters{}.filterCount) ^ (32 + 8*both))
	_ = -(unsafe.Offsetof(enableParameters{}.end) ^ (36 + 12*both))
	_ = -(unsafe.Sizeof(openOptions{}) ^ (20 + 20*both))
	_ = -(unsafe.Offsetof(openOptions{}.bufferContext) ^ (16 + 16*both))
	_ = -(unsafe.Sizeof(stackTracingID{}) ^ 24)
	_ = -(unsafe.Sizeof(sampleInterval{}) ^ 8)
)
