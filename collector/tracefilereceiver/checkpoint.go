package tracefilereceiver

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"
)

// A state is the progress of a trace that was read, or is.
type state struct {
	Records int64  `json:"records"` // that were taken by the pipelines
	Order   string `json:"order"`   // in which they were counted
	// Sent are the records of each processor, if that is how they were counted.
	Sent map[int32]int64 `json:"sent,omitempty"`
	Done bool            `json:"done"` // its end was seen
	// Profiled says that its samples were sent.
	Profiled bool `json:"profiled,omitempty"`
	// Content tells it from others that begin like it.
	Content *content `json:"content,omitempty"`
	// Read are the files that have it, as they were when reading them to the end began.
	Read    []form `json:"read,omitempty"`
	Lost    int64  `json:"lost"` // that were reported
	Damaged int64  `json:"damaged"`
	Name    string `json:"name"` // for people
	// Seen is when the file was there last.
	Seen time.Time `json:"seen"`
}

// A form is the outside of a file that has a trace. The size alone does not do: missing
// bytes may come later, where the file had room for it.
type form struct {
	Size    int64 `json:"size"`
	Changed int64 `json:"changed"` // in nanoseconds of Unix time
}

func (f found) form() form { return form{f.size, f.changed.UnixNano()} }

// checkpoints keep the progress of reading, by content. All methods may be called by several
// goroutines.
type checkpoints struct {
	w      *worker
	client storage.Client // nil keeps it in memory alone
	mu     sync.Mutex
	known  map[string]state // those that are not done, or not stored: of the others there may be very many
	bad    bool             // the last one could not be stored
}

const keyPrefix = "f/"

// openCheckpoints finds the storage.
func openCheckpoints(ctx context.Context, w *worker, host component.Host) (*checkpoints, error) {
	c := &checkpoints{w: w, known: make(map[string]state)}
	id := w.cfg.StorageID
	if id == nil {
		w.core.Set.Logger.Warn("no storage: after a restart every file is sent again; write storage: file_storage")
		return c, nil
	}
	ext, ok := host.GetExtensions()[*id]
	if !ok {
		return nil, fmt.Errorf("storage %q is not an extension: add it under extensions: and service::extensions", id)
	}
	s, ok := ext.(storage.Extension)
	if !ok {
		return nil, fmt.Errorf("storage %q is an extension, but not one that stores: write file_storage", id)
	}
	client, err := s.GetClient(ctx, component.KindReceiver, w.core.Set.ID, "")
	if err != nil {
		return nil, fmt.Errorf("storage %q: %w", id, err)
	}
	c.client = client
	c.expire(ctx)
	return c, nil
}

// get returns the state of a trace.
func (c *checkpoints) get(ctx context.Context, id string) (state, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.known[id]; ok || c.client == nil {
		return s, nil
	}
	var s state
	b, err := c.client.Get(ctx, keyPrefix+id)
	if err != nil {
		return s, fmt.Errorf("the sent part of it is unknown: %w", err)
	}
	if b != nil {
		if err := json.Unmarshal(b, &s); err != nil {
			return s, fmt.Errorf("the sent part of it is unknown: %w", err)
		}
		if !s.Done {
			c.known[id] = s
		}
	}
	return s, nil
}

// set keeps the state of a trace. If it cannot be stored, the receiver goes on: a restart
// may then repeat the records sent since.
func (c *checkpoints) set(id string, s state) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[id] = s
	if c.client == nil {
		return
	}
	b, err := json.Marshal(s)
	if err == nil {
		err = c.client.Set(context.Background(), keyPrefix+id, b)
	}
	switch {
	case err != nil:
		c.w.core.Tel.Checkpoint("failed")
		if !c.bad {
			c.w.core.Set.Logger.Error("the position cannot be stored; a restart may repeat records sent from now on", zap.Error(err))
			componentstatus.ReportStatus(c.w.host, componentstatus.NewRecoverableErrorEvent(err))
		}
		c.bad = true
		return
	case c.bad:
		c.bad = false
		c.w.core.Set.Logger.Info("the position can be stored again")
		componentstatus.ReportStatus(c.w.host, componentstatus.NewEvent(componentstatus.StatusOK))
	}
	if s.Done {
		delete(c.known, id)
	}
	c.w.core.Tel.Checkpoint("ok")
}

// expire forgets the traces that have not been there for long.
func (c *checkpoints) expire(ctx context.Context) {
	walker, ok := c.client.(storage.Walker)
	if !ok {
		return
	}
	oldest := time.Now().Add(-c.w.cfg.KeepDoneFor)
	err := walker.Walk(ctx, func(key string, value []byte) ([]*storage.Operation, error) {
		var s state
		if len(key) > len(keyPrefix) && key[:len(keyPrefix)] == keyPrefix && json.Unmarshal(value, &s) == nil && s.Done && s.Seen.Before(oldest) {
			return []*storage.Operation{storage.DeleteOperation(key)}, nil
		}
		return nil, nil
	})
	if err != nil {
		c.w.core.Set.Logger.Warn("old positions are not forgotten", zap.Error(err))
	}
}

func (c *checkpoints) close() error {
	if c == nil || c.client == nil {
		return nil
	}
	return c.client.Close(context.Background())
}
