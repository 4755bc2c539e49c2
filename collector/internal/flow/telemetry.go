package flow

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Places where events are lost. Lost is what the source could not keep; the last two
// are ours.
const (
	PlaceKernel   = "kernel"
	PlaceRealTime = "realtime_buffer"
	PlaceRuntime  = "runtime"
	PlaceTrace    = "trace"
	PlaceDecode   = "decode"
	PlaceConsumer = "consumer"
	PlaceShutdown = "shutdown"
)

// A Telemetry is what a receiver says of itself, through the collector's meter. The
// instruments are those of its metadata.yaml.
type Telemetry struct {
	id          string
	events      metric.Int64Counter
	lost        metric.Int64Counter
	wait        metric.Float64Counter
	sessions    metric.Int64UpDownCounter
	reattaches  metric.Int64Counter
	files       metric.Int64UpDownCounter
	checkpoints metric.Int64Counter
	lag         metric.Registration

	last atomic.Int64 // when the last event was written that was given away

	mu    sync.Mutex
	total map[string]int64 // of losses, by place
}

// NewTelemetry returns the telemetry of a receiver. Kind is the type of the receiver.
func NewTelemetry(set component.TelemetrySettings, id component.ID, kind, scope string) (*Telemetry, error) {
	m := set.MeterProvider.Meter(scope)
	t := &Telemetry{id: id.String(), total: make(map[string]int64)}
	var trouble error
	counter := func(name, unit, about string) metric.Int64Counter {
		c, err := m.Int64Counter("otelcol_receiver_"+kind+"_"+name, metric.WithUnit(unit), metric.WithDescription(about))
		trouble = errors.Join(trouble, err)
		return c
	}
	gauge := func(name, unit, about string) metric.Int64UpDownCounter {
		c, err := m.Int64UpDownCounter("otelcol_receiver_"+kind+"_"+name, metric.WithUnit(unit), metric.WithDescription(about))
		trouble = errors.Join(trouble, err)
		return c
	}
	t.events = counter("events", "{event}", "events that were read, by what became of them")
	t.lost = counter("events_lost", "{event}", "events that were lost, by the place where")
	t.reattaches = counter("reattaches", "{reattach}", "sessions that were started again")
	t.checkpoints = counter("checkpoints", "{checkpoint}", "positions that were stored, or could not be")
	t.sessions = gauge("sessions", "{session}", "sessions by their state")
	t.files = gauge("files", "{file}", "files by their state")
	var err error
	t.wait, err = m.Float64Counter("otelcol_receiver_"+kind+"_wait_time", metric.WithUnit("s"), metric.WithDescription("time for which pipelines had the receiver wait"))
	trouble = errors.Join(trouble, err)
	lag, err := m.Float64ObservableGauge("otelcol_receiver_"+kind+"_lag", metric.WithUnit("s"), metric.WithDescription("age of the last event that was given away"))
	trouble = errors.Join(trouble, err)
	if trouble != nil {
		return nil, trouble
	}
	t.lag, trouble = m.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		if at := t.last.Load(); at != 0 {
			o.ObserveFloat64(lag, time.Since(time.Unix(0, at)).Seconds(), t.attributes())
		}
		return nil
	}, lag)
	return t, trouble
}

// attributes returns the attributes of a point: ours, and pairs of names and values.
func (t *Telemetry) attributes(pairs ...string) metric.MeasurementOption {
	list := []attribute.KeyValue{attribute.String("receiver", t.id)}
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, attribute.String(pairs[i], pairs[i+1]))
	}
	return metric.WithAttributeSet(attribute.NewSet(list...))
}

// Events counts events with an outcome: decoded, raw or filtered.
func (t *Telemetry) Events(n int, outcome string) {
	if n > 0 {
		t.events.Add(context.Background(), int64(n), t.attributes("outcome", outcome))
	}
}

// Lost counts events that were lost at a place.
func (t *Telemetry) Lost(n int64, place string) {
	if n <= 0 {
		return
	}
	t.lost.Add(context.Background(), n, t.attributes("place", place))
	t.mu.Lock()
	t.total[place] += n
	t.mu.Unlock()
}

// TotalLost returns what was lost at a place.
func (t *Telemetry) TotalLost(place string) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total[place]
}

// Session counts a session into a state, or with -1 out of it.
func (t *Telemetry) Session(n int64, state string) {
	t.sessions.Add(context.Background(), n, t.attributes("state", state))
}

// Reattached counts a session that was started again.
func (t *Telemetry) Reattached() { t.reattaches.Add(context.Background(), 1, t.attributes()) }

// File counts a file into a state, or with -1 out of it.
func (t *Telemetry) File(n int64, state string) {
	t.files.Add(context.Background(), n, t.attributes("state", state))
}

// Checkpoint counts a position that was stored, or could not be.
func (t *Telemetry) Checkpoint(outcome string) {
	t.checkpoints.Add(context.Background(), 1, t.attributes("outcome", outcome))
}

// Close ends what observes the receiver.
func (t *Telemetry) Close() error { return t.lag.Unregister() }
