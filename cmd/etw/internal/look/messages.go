package look

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A messenger has the messages of events for people. Generated packages have none, so that
// those of their events are in the manifests that are given.
type messenger struct {
	given *etw.Decoder
	some  bool
}

// append appends the message of an event, or nothing for one without.
func (m *messenger) append(b []byte, s *pick.Shot) []byte {
	if m == nil || s.Values == nil {
		return b
	}
	values := s.Values
	if values.EventDesc().Message == "" {
		if e := m.given.Event(s.Record); e.Basis != etw.BasisManifest || e.Desc.Message == "" {
			return b
		}
		if known, err := m.given.Decode(s.Record); err == nil {
			values = known
		}
	}
	m.some = m.some || values.EventDesc().Message != ""
	return etw.AppendMessage(b, values)
}

// report says that there was no message.
func (m *messenger) report(cmd *cobra.Command) {
	if m != nil && !m.some {
		cli.Report(cmd, errors.New("no event here has a message: those of Windows are in the manifest or the DLL of the provider, which --manifest takes"))
	}
}
