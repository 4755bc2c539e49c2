package flow

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/consumer/xconsumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receiverhelper"
	"go.uber.org/zap"

	"github.com/etwgen/etwgen/export/otlp"
)

// A Sender gives telemetry to the pipelines of a receiver.
type Sender struct {
	Logs     consumer.Logs      // or nil
	Metrics  consumer.Metrics   // or nil
	Traces   consumer.Traces    // or nil
	Profiles xconsumer.Profiles // or nil
	Retry    RetryConfig
	// Transport is how records come, for the collector's own telemetry.
	Transport string

	set     receiver.Settings
	tel     *Telemetry
	obs     *receiverhelper.ObsReport
	host    component.Host
	stop    context.Context // once done, nothing is tried again
	kill    context.Context // once done, nothing is sent
	failing atomic.Bool
}

// ErrStopped says that a batch was not taken before the receiver was stopped.
var ErrStopped = errors.New("stopped before the pipeline took it")

// Begin readies a sender. Stop ends retries, kill calls under way.
func (s *Sender) Begin(set receiver.Settings, tel *Telemetry, host component.Host, stop, kill context.Context) (err error) {
	s.set, s.tel, s.host, s.stop, s.kill = set, tel, host, stop, kill
	s.obs, err = receiverhelper.NewObsReport(receiverhelper.ObsReportSettings{ReceiverID: set.ID, Transport: s.Transport, LongLivedCtx: true, ReceiverCreateSettings: set})
	return err
}

// SendLogs gives log records away. The error is ErrStopped, or nil: records that a pipeline
// refuses for good are counted.
func (s *Sender) SendLogs(data plog.Logs, format string) error {
	n := data.LogRecordCount()
	ctx := s.obs.StartLogsOp(s.kill)
	err := s.deliver(&n, func() error {
		batch := data
		if s.Logs.Capabilities().MutatesData { // a retry must send what was, not what became of it
			batch = plog.NewLogs()
			data.CopyTo(batch)
		}
		err := s.Logs.ConsumeLogs(ctx, batch)
		var rest consumererror.Logs
		if errors.As(err, &rest) {
			data = rest.Data()
			n = data.LogRecordCount()
		}
		return err
	})
	s.obs.EndLogsOp(ctx, format, n, err)
	return s.judge(err)
}

// SendMetrics gives metrics away: see [Sender.SendLogs].
func (s *Sender) SendMetrics(data pmetric.Metrics, format string) error {
	n := data.DataPointCount()
	ctx := s.obs.StartMetricsOp(s.kill)
	err := s.deliver(&n, func() error {
		batch := data
		if s.Metrics.Capabilities().MutatesData {
			batch = pmetric.NewMetrics()
			data.CopyTo(batch)
		}
		return s.Metrics.ConsumeMetrics(ctx, batch)
	})
	s.obs.EndMetricsOp(ctx, format, n, err)
	return s.judge(err)
}

// SendTraces gives spans away: see [Sender.SendLogs].
func (s *Sender) SendTraces(data ptrace.Traces, format string) error {
	n := data.SpanCount()
	ctx := s.obs.StartTracesOp(s.kill)
	err := s.deliver(&n, func() error {
		batch := data
		if s.Traces.Capabilities().MutatesData {
			batch = ptrace.NewTraces()
			data.CopyTo(batch)
		}
		return s.Traces.ConsumeTraces(ctx, batch)
	})
	s.obs.EndTracesOp(ctx, format, n, err)
	return s.judge(err)
}

// SendProfiles gives profiles away: see [Sender.SendLogs]. The collector has no
// telemetry of its own for them yet.
func (s *Sender) SendProfiles(data pprofile.Profiles) error {
	n := data.SampleCount()
	return s.judge(s.deliver(&n, func() error {
		batch := data
		if s.Profiles.Capabilities().MutatesData {
			batch = pprofile.NewProfiles()
			data.CopyTo(batch)
		}
		return s.Profiles.ConsumeProfiles(s.kill, batch)
	}))
}

// judge returns the error that ends a stream, of those that a batch can have.
func (s *Sender) judge(err error) error {
	if errors.Is(err, ErrStopped) {
		return err
	}
	return nil
}

// deliver tries until a batch of n records is taken, or given up.
func (s *Sender) deliver(n *int, try func() error) error {
	begin := time.Now()
	wait := s.Retry.InitialInterval
	for {
		if s.kill.Err() != nil {
			return ErrStopped
		}
		err := try()
		switch {
		case err == nil:
			if s.failing.CompareAndSwap(true, false) {
				componentstatus.ReportStatus(s.host, componentstatus.NewEvent(componentstatus.StatusOK))
			}
			return nil
		case consumererror.IsPermanent(err):
			return s.giveUp(*n, err)
		case s.stop.Err() != nil:
			return fmt.Errorf("%w: %w", ErrStopped, err)
		case s.Retry.MaxElapsedTime > 0 && time.Since(begin) > s.Retry.MaxElapsedTime:
			return s.giveUp(*n, fmt.Errorf("after %v: %w", s.Retry.MaxElapsedTime, err))
		}
		if s.failing.CompareAndSwap(false, true) {
			s.set.Logger.Warn("the pipeline refuses a batch; waiting until it takes it", zap.Error(err))
			componentstatus.ReportStatus(s.host, componentstatus.NewRecoverableErrorEvent(err))
		}
		s.pause(wait)
		wait = min(2*wait, s.Retry.MaxInterval)
	}
}

// pause waits for a time, or until the receiver is stopped.
func (s *Sender) pause(d time.Duration) {
	begin := time.Now()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-s.stop.Done():
	case <-t.C:
	}
	s.tel.Wait.Add(context.Background(), time.Since(begin).Seconds(), s.tel.attributes())
}

// giveUp counts a batch that is lost.
func (s *Sender) giveUp(n int, err error) error {
	s.tel.Lose(int64(n), PlaceConsumer)
	s.set.Logger.Error("the pipeline does not take a batch: it is lost", zap.Int("records", n), zap.Error(err))
	return err
}

// ProfilesOf returns profiles in the collector's form. It reads the output of package otlp.
func ProfilesOf(p *otlp.Profiles) (pprofile.Profiles, error) {
	return (&pprofile.ProtoUnmarshaler{}).UnmarshalProfiles(p.AppendProto(nil))
}
