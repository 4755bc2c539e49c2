// Package flowtest has the common parts of receivers' tests: how log records are counted,
// and a host that keeps the status.
package flowtest

import (
	"strings"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/pdata/plog"
)

// Each calls event for each log record that is an event, and own for each notice of the
// receiver itself. The losses among those are added up by place.
func Each(data plog.Logs, losses map[string]int64, event, own func(plog.LogRecord)) {
	for _, of := range data.ResourceLogs().All() {
		for _, scope := range of.ScopeLogs().All() {
			for _, r := range scope.LogRecords().All() {
				if scope.Scope().Name() != "etwgen" {
					event(r)
					continue
				}
				if r.EventName() == "etwgen.loss" {
					place, _ := r.Attributes().Get("place")
					n, _ := r.Attributes().Get("count")
					losses[place.Str()] += n.Int()
				}
				if own != nil {
					own(r)
				}
			}
		}
	}
}

// A Host has extensions, and keeps the reported status.
type Host struct {
	Extensions map[component.ID]component.Component

	mu   sync.Mutex
	last *componentstatus.Event
}

// GetExtensions returns the extensions.
func (h *Host) GetExtensions() map[component.ID]component.Component { return h.Extensions }

// Report keeps a status.
func (h *Host) Report(e *componentstatus.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = e
}

// Is reports whether the last status is one, and says something.
func (h *Host) Is(status componentstatus.Status, text string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last != nil && h.last.Status() == status && (text == "" || h.last.Err() != nil && strings.Contains(h.last.Err().Error(), text))
}
