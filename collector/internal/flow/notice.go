package flow

import (
	"errors"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/etwgen/etwgen/export/otlp"
)

// A Notice is a log record by the receiver itself.
type Notice struct {
	Name       string
	Warn       bool
	Attributes []otlp.Attribute
}

// Notify gives a notice away, if there is a pipeline for it.
func (s *Sender) Notify(resource []otlp.Attribute, format string, n Notice) error {
	if s.Logs == nil {
		return nil
	}
	data := plog.NewLogs()
	of := data.ResourceLogs().AppendEmpty()
	put(of.Resource().Attributes(), resource)
	scope := of.ScopeLogs().AppendEmpty()
	scope.Scope().SetName("etwgen")
	r := scope.LogRecords().AppendEmpty()
	now := pcommon.NewTimestampFromTime(time.Now())
	r.SetTimestamp(now)
	r.SetObservedTimestamp(now)
	r.SetEventName(n.Name)
	r.SetSeverityNumber(plog.SeverityNumberInfo)
	r.SetSeverityText("INFORMATIONAL")
	if n.Warn {
		r.SetSeverityNumber(plog.SeverityNumberWarn)
		r.SetSeverityText("WARNING")
	}
	put(r.Attributes(), n.Attributes)
	return s.SendLogs(data, format)
}

// Lose counts events that are lost, and has a log record say so.
func (s *Sender) Lose(resource []otlp.Attribute, format string, n int64, place string, since time.Duration) error {
	if n <= 0 {
		return nil
	}
	s.tel.Lose(n, place)
	err := s.Notify(resource, format, Notice{Name: "etwgen.loss", Warn: true, Attributes: []otlp.Attribute{
		{Key: "place", Value: place}, {Key: "count", Value: n}, {Key: "interval", Value: since.Seconds()},
	}})
	if errors.Is(err, ErrStopped) {
		return nil // it is counted
	}
	return err
}
