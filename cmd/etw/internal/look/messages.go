package look

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/manifest/wpp"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/evtx"
)

// A messenger has the messages of events for people. Generated packages have none, so that
// those of their events are in the manifests that are given.
type messenger struct {
	given *etw.Decoder
	files messageFiles
	some  bool
}

// append appends the message of an event, or nothing for one without. Trace messages are shown
// in any case: their text is what they are for.
func (m *messenger) append(b []byte, s *pick.Shot) []byte {
	if s.Values != nil && s.Kind == etw.KindMessage {
		return wpp.AppendMessage(b, s.Values, s.PointerSize)
	}
	if m == nil || s.Values == nil {
		return b
	}
	values := s.Values
	if values.EventDesc().Message == "" {
		values = m.known(s)
	}
	if values == nil {
		values = m.files.of(s, extended(s.Record, evtx.ExtQualifiers))
	}
	if values == nil {
		return b
	}
	m.some = m.some || values.EventDesc().Message != ""
	return append(b, m.files.parameters(etw.AppendMessage(nil, values))...)
}

// known returns the values of an event as the manifest that has its message describes them,
// whatever the trace says of it itself, as event logs do; nil without a message. If the event is
// laid out in another way, the values are those of the trace.
func (m *messenger) known(s *pick.Shot) etw.Described {
	r := *s.Record
	r.Schema = nil
	e := m.given.Event(&r)
	if e.Basis != etw.BasisManifest || e.Desc.Message == "" {
		return nil
	}
	if values, err := m.given.Decode(&r); err == nil && len(m.given.Rest()) == 0 {
		return values
	}
	desc := *s.Values.EventDesc()
	desc.Message = e.Desc.Message
	return messaged{s.Values, &desc}
}

// report says that there was no message.
func (m *messenger) report(cmd *cobra.Command) {
	if m == nil {
		return
	}
	m.files.report(cmd)
	if !m.some {
		cli.Report(cmd, errors.New("no event here has a message: those of Windows are in the manifest or the DLL of the provider, which --manifest takes"))
	}
}
