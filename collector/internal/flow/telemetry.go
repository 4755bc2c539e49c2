package flow

import (
	"context"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Places where events are lost. Lost are those that the source could not keep; the last
// three are ours.
const (
	PlaceKernel   = "kernel"
	PlaceRealTime = "realtime_buffer"
	PlaceRuntime  = "runtime"
	PlaceTrace    = "trace"
	PlaceDecode   = "decode"
	PlaceConsumer = "consumer"
	PlaceShutdown = "shutdown"
	PlaceProfile  = "profile"
)

// Instruments are those of a receiver, as its metadata.yaml has them. Those it does not have
// are nil.
type Instruments struct {
	Events, Lost, Reattaches, Checkpoints metric.Int64Counter
	Sessions, Files                       metric.Int64UpDownCounter
	Windows                               metric.Int64Counter
	Wait, Cost                            metric.Float64Counter
	// Lag has the age of the last event be asked for, and Shutdown ends that.
	Lag      func(metric.Float64Callback) error
	Shutdown func()
}

// A Telemetry is the receiver's report on itself, through the collector's meter.
type Telemetry struct {
	Instruments
	id   string
	last atomic.Int64 // when the last event was written that was given away
}

// NewTelemetry returns the telemetry of a receiver.
func NewTelemetry(id component.ID, instruments Instruments) (*Telemetry, error) {
	t := &Telemetry{Instruments: instruments, id: id.String()}
	return t, t.Lag(func(_ context.Context, o metric.Float64Observer) error {
		if at := t.last.Load(); at != 0 {
			o.Observe(time.Since(time.Unix(0, at)).Seconds(), t.attributes())
		}
		return nil
	})
}

// attributes returns the attributes of a point: ours, and pairs of names and values.
func (t *Telemetry) attributes(pairs ...string) metric.MeasurementOption {
	list := []attribute.KeyValue{attribute.String("receiver", t.id)}
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, attribute.String(pairs[i], pairs[i+1]))
	}
	return metric.WithAttributeSet(attribute.NewSet(list...))
}

// Took counts events with an outcome: decoded, raw or filtered.
func (t *Telemetry) Took(n int, outcome string) {
	if n > 0 {
		t.Events.Add(context.Background(), int64(n), t.attributes("outcome", outcome))
	}
}

// Lose counts events that were lost at a place.
func (t *Telemetry) Lose(n int64, place string) {
	if n > 0 {
		t.Lost.Add(context.Background(), n, t.attributes("place", place))
	}
}

// Session counts a session into a state, or with -1 out of it.
func (t *Telemetry) Session(n int64, state string) {
	t.Sessions.Add(context.Background(), n, t.attributes("state", state))
}

// Reattached counts a session that was started again.
func (t *Telemetry) Reattached() { t.Reattaches.Add(context.Background(), 1, t.attributes()) }

// File counts a file into a state, or with -1 out of it.
func (t *Telemetry) File(n int64, state string) {
	t.Files.Add(context.Background(), n, t.attributes("state", state))
}

// Window counts a window of a profile by its outcome, and its cost, in seconds.
func (t *Telemetry) Window(cost float64, outcome string) {
	if outcome != "" {
		t.Windows.Add(context.Background(), 1, t.attributes("window", outcome))
		t.Cost.Add(context.Background(), cost, t.attributes())
	}
}

// Checkpoint counts a position that was stored, or could not be.
func (t *Telemetry) Checkpoint(outcome string) {
	t.Checkpoints.Add(context.Background(), 1, t.attributes("outcome", outcome))
}
