package cpu

import (
	"encoding/binary"
	"io"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A sampled is an event of EventPipe's sampler. Its stack is in the record.
type sampled struct {
	etw.Empty // nothing is described
	state     state
}

var sampler = etw.ProviderDesc{
	Name: "Microsoft-DotNETCore-SampleProfiler",
	GUID: etw.MustParseGUID("3c530d44-97ae-513a-1e6d-783e8f8e03a9"),
}

var sampledDescs = []*etw.EventDesc{{Provider: &sampler, ID: 0, Name: "ThreadSample"}}

// EventDesc returns a description without fields.
func (*sampled) EventDesc() *etw.EventDesc { return sampledDescs[0] }

// EventDescs returns the same.
func (*sampled) EventDescs() []*etw.EventDesc { return sampledDescs }

// DecodeVersion reads the state of the thread.
func (e *sampled) DecodeVersion(_ uint8, p []byte, _ etw.PtrSize) (int, error) {
	if len(p) < 4 {
		return 0, io.ErrUnexpectedEOF
	}
	e.state = failed
	if s := binary.LittleEndian.Uint32(p); s < uint32(inGC) {
		e.state = state(s)
	}
	return 4, nil
}
