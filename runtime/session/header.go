package session

import (
	"cmp"
	"time"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
)

// header returns the header of the session of a name from h. Time stamps are those of the
// clock itself: when it stood where is found out now.
func (h *logfileHeader) header(name string, sys system) etl.Header {
	out := etl.Header{
		SessionName:  name,
		WindowsMajor: h.version[0], WindowsMinor: h.version[1],
		FormatVersion: [2]uint8{h.version[2], h.version[3]},
		WindowsBuild:  h.providerVersion,
		Processors:    h.processors, ProcessorMHz: h.cpuSpeed,
		PointerSize: etw.PtrSize(h.pointerSize),
		ClockType:   etl.ClockType(h.clockType),
		End:         etw.FileTime(h.endTime), Boot: etw.FileTime(h.bootTime),
		TimerResolution: time.Duration(h.timerResolution) * 100,
		UTCOffset:       -time.Duration(h.timeZone.bias) * time.Minute,
		Mode:            etl.LogFileMode(h.logFileMode), MaxFileSize: h.maximumFileSize,
		BufferSize: h.bufferSize, StartBuffers: h.startBuffers, BuffersWritten: h.buffersWritten,
		EventsLost: h.eventsLost, BuffersLost: h.buffersLost,
	}
	if out.PointerSize != etw.Ptr32 {
		out.PointerSize = etw.Ptr64
	}
	utc, counter := sys.now()
	out.Clock = clockOf(h, utc, counter)
	return out
}

// clockOf returns the clock of a session, where the performance counter stands at
// counter at the time utc.
func clockOf(h *logfileHeader, utc etw.FileTime, counter int64) etw.Clock {
	c := etw.Clock{Start: etw.FileTime(h.startTime), Frequency: h.perfFreq}
	switch etl.ClockType(h.clockType) {
	case etl.ClockSystemTime:
		c.Origin, c.Frequency = h.startTime, 1e7
		return c
	case etl.ClockCycles:
		c.Frequency = int64(h.cpuSpeed) * 1e6
	}
	c.Start = cmp.Or(c.Start, utc)
	if c.Frequency <= 0 {
		c.Frequency = 1e7
	}
	// The clock stands at 0 that long before the session began.
	zero := etw.Clock{Frequency: c.Frequency}
	c.Origin = counter - zero.Ticks(utc-c.Start)
	return c
}

var eventTraceClass = etw.MustParseGUID("68fdd900-4a3e-11d1-84f4-0000f80464e3")

// isHeader reports whether r is the record that says when the session began.
func isHeader(r *etw.Record) bool {
	return r.Opcode == 0 && r.Kind == etw.KindClassic && r.Provider == eventTraceClass
}

var lostEventClass = etw.MustParseGUID("6a399ae0-4bc6-4de9-870b-3657f8947e7e")

// Opcodes of lostEventClass.
const (
	opLostEvent  = 32
	opLostBuffer = 33
	opLostFile   = 34
)
