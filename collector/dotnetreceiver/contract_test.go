package dotnetreceiver

import (
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pipeline"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe/eventpipetest"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// A talker is a process that writes events as it is told to, each with an id of its own.
type talker struct {
	t    *testing.T
	dir  string
	mu   sync.Mutex
	next int
	ids  chan []receivertest.UniqueIDAttrVal
	end  func()
}

func (g *talker) Start() {
	rt := eventpipetest.NewRuntime(10)
	ids, gone := make(chan []receivertest.UniqueIDAttrVal, 100), make(chan struct{})
	rt.Record = func(w io.Writer, stopped <-chan struct{}) { g.talk(w, ids, stopped, gone) }
	_, stop, err := rt.Listen(g.dir)
	if err != nil {
		g.t.Fatal(err)
	}
	g.ids, g.end = ids, func() { close(gone); stop() }
}

func (g *talker) Stop() { g.end() }

// talk writes the events of one session, until that is stopped.
func (g *talker) talk(to io.Writer, ids <-chan []receivertest.UniqueIDAttrVal, stopped, gone <-chan struct{}) {
	w, err := nettrace.NewWriter(to, nettrace.Header{Clock: etw.Clock{Start: etw.FileTimeOf(time.Now()), Frequency: 1e9}, ProcessID: 1}, nettrace.WithoutOrder())
	if err != nil {
		g.t.Error(err)
		return
	}
	desc := &etw.EventDesc{ID: 1, Name: "Sent", Fields: []etw.FieldDesc{{Name: receivertest.UniqueIDAttrName, Type: etw.InUnicodeString}}}
	for at := int64(1); ; {
		select {
		case list := <-ids:
			for _, id := range list {
				w.Write(&etw.Record{Provider: nettrace.ProviderGUID("Contract"), ProviderName: "Contract", ID: 1, Schema: desc,
					ProcessID: 1, ThreadID: 1, Processor: -1, Timestamp: at, Payload: etw.AppendUTF16(nil, string(id))})
				at++
			}
			w.Flush()
		case <-stopped:
			w.Close()
			return
		case <-gone:
			return
		}
	}
}

func (g *talker) Generate() (ids []receivertest.UniqueIDAttrVal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for range 10 {
		g.next++
		ids = append(ids, receivertest.UniqueIDAttrVal(fmt.Sprintf("id-%d", g.next)))
	}
	g.ids <- ids
	return ids
}

// TestContract holds the receiver to the contract of the collector: whatever a pipeline
// answers, each record is taken or refused for good once, and none is missing.
func TestContract(t *testing.T) {
	dir := t.TempDir()
	cfg := config(dir)
	cfg.Presets = []string{"gc"}
	cfg.Discovery.Interval = 10 * time.Millisecond
	cfg.Batch.MaxRecords = 3
	cfg.Retry.MaxInterval = time.Millisecond
	receivertest.CheckConsumeContract(receivertest.CheckConsumeContractParams{
		T: t, Factory: NewFactory(), Signal: pipeline.SignalLogs, Config: cfg, Generator: &talker{t: t, dir: dir}, GenerateCount: 20,
	})
}
