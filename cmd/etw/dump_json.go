package main

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A jsonWriter prints an event as a JSON object in a line.
type jsonWriter struct {
	enums   etw.EnumStyle
	stacks  bool
	payload bool

	time   stamp
	events []jsonEvent // by the index of the event
}

// A jsonEvent is what the lines of all events of one kind have in common.
type jsonEvent struct {
	identity []byte // from the provider to the opcode
	name     []byte
}

func (w *jsonWriter) begin(b []byte) []byte { return b }

func (w *jsonWriter) append(b []byte, s *shot) []byte {
	e := w.event(s)
	b = append(b, `{"time":"`...)
	b = w.time.append(b, s.Clock.FileTime(s.Timestamp))
	b = append(b, `","ms":`...)
	b = appendExactMS(b, s.elapsed)
	b = append(b, e.identity...)
	b = append(b, `,"level":`...)
	b = strconv.AppendUint(b, uint64(s.Level), 10)
	b = append(b, `,"task":`...)
	b = strconv.AppendUint(b, uint64(s.Task), 10)
	b = append(b, `,"keywords":"`...)
	b = appendHex(b, s.Keywords)
	b = append(b, `","event":`...)
	b = append(b, e.name...)
	b = append(b, `,"pid":`...)
	b = strconv.AppendInt(b, s.ProcessID, 10)
	b = append(b, `,"tid":`...)
	b = strconv.AppendInt(b, s.ThreadID, 10)
	b = append(b, `,"cpu":`...)
	b = strconv.AppendInt(b, int64(s.Processor), 10)
	b = append(b, `,"size":`...)
	b = strconv.AppendInt(b, int64(len(s.Payload)), 10)
	b = appendJSONGUID(b, `,"activity":"`, s.ActivityID)
	b = appendJSONGUID(b, `,"related":"`, s.RelatedActivityID)
	b = append(b, `,"fields":`...)
	b = w.fields(b, s)
	if w.stacks {
		b = append(b, `,"stack":[`...)
		b = appendStack(b, s.Stack, `,`, `"`)
		b = append(b, ']')
	}
	if w.payload || s.undecoded() {
		b = append(b, `,"payload":"`...)
		b = hex.AppendEncode(b, s.Payload)
		b = append(b, '"')
	}
	if problem := s.problem(); problem != "" {
		b = append(b, `,"error":`...)
		b = etw.AppendJSONString(b, problem)
	}
	return append(b, '}', '\n')
}

func (w *jsonWriter) fields(b []byte, s *shot) []byte {
	if s.values == nil {
		return append(b, '{', '}')
	}
	return etw.AppendFieldsJSON(b, s.values, w.enums)
}

// event returns what was made for the first event of the kind of s.
func (w *jsonWriter) event(s *shot) *jsonEvent {
	for s.event.Index >= len(w.events) {
		w.events = append(w.events, jsonEvent{})
	}
	e := &w.events[s.event.Index]
	if e.name == nil {
		e.name = etw.AppendJSONString(nil, s.event.Name)
		b := append(e.identity, `,"provider":`...)
		b = etw.AppendJSONString(b, s.event.Provider)
		b = append(b, `,"guid":"`...)
		b, _ = s.Provider.AppendText(b)
		b = append(b, `","id":`...)
		b = strconv.AppendUint(b, uint64(s.ID), 10)
		b = append(b, `,"version":`...)
		b = strconv.AppendUint(b, uint64(s.Version), 10)
		b = append(b, `,"opcode":`...)
		e.identity = strconv.AppendUint(b, uint64(s.Opcode), 10)
	}
	return e
}

// undecoded reports whether there are bytes that the values of s do not show.
func (s *shot) undecoded() bool { return len(s.rest) > 0 }

// problem returns what is not right with the values of s.
func (s *shot) problem() string {
	if s.err != nil {
		return strings.TrimPrefix(s.err.Error(), "etw: ")
	}
	return s.event.Note
}

// appendJSONGUID appends a key and a GUID, unless that is zero.
func appendJSONGUID(b []byte, key string, g etw.GUID) []byte {
	if g.IsZero() {
		return b
	}
	b = append(b, key...)
	b, _ = g.AppendText(b)
	return append(b, '"')
}

// appendStack appends the addresses of a call stack.
func appendStack(b []byte, s etw.Stack, separator, quote string) []byte {
	for i := range s.Len() {
		if i > 0 {
			b = append(b, separator...)
		}
		b = append(b, quote...)
		b = appendHex(b, s.At(i))
		b = append(b, quote...)
	}
	return b
}
