package flow

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"
)

// Unmatched is how long a pattern may match nothing before that is said: it may be
// written wrongly.
const Unmatched = 5 * time.Minute

// A Matched knows which of the patterns of a configuration have matched something. A nil
// one has none.
type Matched struct {
	Place string // in the configuration
	Texts []string

	mu   sync.Mutex
	seen map[int]bool
	said bool
}

// Mark keeps that a pattern has matched.
func (m *Matched) Mark(i int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen == nil {
		m.seen = make(map[int]bool)
	}
	m.seen[i] = true
}

// SayAfter says of the patterns that have matched nothing for [Unmatched], unless stop is
// done before.
func (m *Matched) SayAfter(stop context.Context, log *zap.Logger) {
	if m != nil && Sleep(stop.Done(), Unmatched) {
		m.Say(log)
	}
}

// Say says of the patterns that have matched nothing so far, once.
func (m *Matched) Say(log *zap.Logger) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.said {
		return
	}
	m.said = true
	for i, text := range m.Texts {
		if !m.seen[i] {
			log.Warn(m.Place+": a pattern has matched nothing so far: is it written as names are?", zap.String("pattern", text))
		}
	}
}
