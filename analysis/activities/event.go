package activities

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/runtime/etw"
)

// The events of .NET's libraries that are followed are read here, as far as they are needed:
// .NET Framework writes less of some than packages tasks and framework know.

const (
	tpl  = "System.Threading.Tasks.TplEventSource"
	pool = "System.Diagnostics.Eventing.FrameworkEventSource"
)

// libraryEvents are the events of one provider.
type libraryEvents struct {
	etw.Empty // nothing is described
	payload   []byte
}

// DecodeVersion keeps the payload.
func (e *libraryEvents) DecodeVersion(_ uint8, p []byte, _ etw.PtrSize) (int, error) {
	e.payload = p
	return len(p), nil
}

// int32 returns a number in the payload, or 0 behind its end.
func (e *libraryEvents) int32(at int) int32 {
	if len(e.payload) < at+4 {
		return 0
	}
	return int32(binary.LittleEndian.Uint32(e.payload[at:]))
}

// int64 returns the number that the payload begins with.
func (e *libraryEvents) int64() int64 {
	if len(e.payload) < 8 {
		return 0
	}
	return int64(binary.LittleEndian.Uint64(e.payload))
}

// guid returns the GUID that the payload begins with.
func (e *libraryEvents) guid() (g etw.GUID) {
	if len(e.payload) >= len(g) {
		copy(g[:], e.payload)
	}
	return g
}

// text returns the text from a place on.
func (e *libraryEvents) text(at int) string {
	p := e.payload[min(at, len(e.payload)):]
	n := 0
	for n+1 < len(p) && (p[n] != 0 || p[n+1] != 0) {
		n += 2
	}
	return etw.UTF16(p[:n]).String()
}

// A name is that of an event, with the newest version that is known.
type name struct {
	id      uint16
	version uint8
	name    string
}

func describe(provider, guid string, names ...name) []*etw.EventDesc {
	p := &etw.ProviderDesc{Name: provider, GUID: etw.MustParseGUID(guid)}
	var list []*etw.EventDesc
	for _, n := range names {
		list = append(list, &etw.EventDesc{Provider: p, ID: n.id, Version: n.version, Name: n.name})
	}
	return list
}

// The events of tasks.
const (
	taskScheduled       = 7
	taskStarted         = 8
	taskCompleted       = 9
	taskWaitBegin       = 10
	taskWaitEnd         = 11
	taskWaitHandled     = 13
	traceOperationBegin = 14
	traceOperationEnd   = 15
	setActivityID       = 25
)

// A taskEvent is one of System.Threading.Tasks.TplEventSource.
type taskEvent struct{ libraryEvents }

var taskEvents = describe(tpl, "2e5dba47-a3d2-4d16-8ee0-6671ffdcd7b5",
	name{taskScheduled, 1, "TaskScheduled"}, name{taskStarted, 0, "TaskStarted"}, name{taskCompleted, 1, "TaskCompleted"},
	name{taskWaitBegin, 3, "TaskWaitBegin"}, name{taskWaitEnd, 0, "TaskWaitEnd"}, name{taskWaitHandled, 0, "TaskWaitContinuationComplete"},
	name{traceOperationBegin, 1, "TraceOperationBegin"}, name{traceOperationEnd, 1, "TraceOperationEnd"}, name{setActivityID, 0, "SetActivityId"})

// EventDesc returns the first of the descriptions.
func (*taskEvent) EventDesc() *etw.EventDesc { return taskEvents[0] }

// EventDescs returns all.
func (*taskEvent) EventDescs() []*etw.EventDesc { return taskEvents }

// task returns the number of the task that an event is about: two others come before it, but
// where operations are told.
func (e *taskEvent) task(id uint16) int32 {
	if id == taskWaitHandled || id == traceOperationBegin || id == traceOperationEnd {
		return e.int32(0)
	}
	return e.int32(8)
}

// blocks reports whether a wait holds a thread.
func (e *taskEvent) blocks() bool { return e.int32(12) == 1 }

// The events of the thread pool and of timers.
const (
	poolEnqueue     = 30
	poolDequeue     = 31
	transferReceive = 151
)

// A poolEvent is one of System.Diagnostics.Eventing.FrameworkEventSource.
type poolEvent struct{ libraryEvents }

var poolEvents = describe(pool, "8e9f5090-2d75-4d03-8a81-e5afbf85daf1",
	name{poolEnqueue, 0, "ThreadPoolEnqueueWork"}, name{poolDequeue, 0, "ThreadPoolDequeueWork"}, name{transferReceive, 0, "ThreadTransferReceive"})

// EventDesc returns the first of the descriptions.
func (*poolEvent) EventDesc() *etw.EventDesc { return poolEvents[0] }

// EventDescs returns all.
func (*poolEvent) EventDescs() []*etw.EventDesc { return poolEvents }
