package activities

import (
	"encoding/binary"
	"io"

	"github.com/etwgen/etwgen/generated/dotnet/tasks"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A taskEvent is what two events have in common in all versions: .NET Framework writes less
// behind it than package tasks knows.
type taskEvent struct {
	TaskID   int32
	Behavior tasks.TaskWaitBehavior // of a wait
}

// FieldValue is not called, since there are no fields.
func (*taskEvent) FieldValue(int) etw.Value { return etw.Value{} }

// DecodeVersion reads what is needed.
func (e *taskEvent) DecodeVersion(_ uint8, p []byte, _ etw.PtrSize) (int, error) {
	if len(p) < 16 {
		return 0, io.ErrUnexpectedEOF
	}
	e.TaskID = int32(binary.LittleEndian.Uint32(p[8:]))
	e.Behavior = tasks.TaskWaitBehavior(binary.LittleEndian.Uint32(p[12:]))
	return len(p), nil
}

// taskScheduled is that a task was given to its scheduler.
type taskScheduled struct{ taskEvent }

// EventDesc returns that of package tasks.
func (*taskScheduled) EventDesc() *etw.EventDesc { return new(tasks.TaskScheduled).EventDesc() }

// EventDescs returns the same.
func (e *taskScheduled) EventDescs() []*etw.EventDesc { return []*etw.EventDesc{e.EventDesc()} }

// taskWaitBegin is that a thread waits for a task, or an async method awaits it.
type taskWaitBegin struct{ taskEvent }

// EventDesc returns that of package tasks.
func (*taskWaitBegin) EventDesc() *etw.EventDesc { return new(tasks.TaskWaitBegin).EventDesc() }

// EventDescs returns the same.
func (e *taskWaitBegin) EventDescs() []*etw.EventDesc { return []*etw.EventDesc{e.EventDesc()} }
