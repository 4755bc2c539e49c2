package tracefilereceiver

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pipeline"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// A writer writes traces, of which each event has an id of its own.
type writer struct {
	t    *testing.T
	dir  string
	next atomic.Int64
}

func (w *writer) Start() {}

// Stop removes the traces, which a receiver without storage would read again.
func (w *writer) Stop() {
	files, _ := filepath.Glob(filepath.Join(w.dir, "*"))
	for _, path := range files {
		os.Remove(path)
	}
}

func (w *writer) Generate() (ids []receivertest.UniqueIDAttrVal) {
	desc := &etw.EventDesc{ID: 1, Name: "Sent", Fields: []etw.FieldDesc{{Name: receivertest.UniqueIDAttrName, Type: etw.InUnicodeString}}}
	var out bytes.Buffer
	to, err := nettrace.NewWriter(&out, nettrace.Header{Clock: etw.Clock{Start: etw.FileTimeOf(time.Now()), Frequency: 1e9}, ProcessID: 1})
	for i := int64(0); i < 10 && err == nil; i++ {
		id := fmt.Sprintf("id-%d", w.next.Add(1))
		ids = append(ids, receivertest.UniqueIDAttrVal(id))
		err = to.Write(&etw.Record{Provider: nettrace.ProviderGUID("Contract"), ProviderName: "Contract", ID: 1, Schema: desc,
			ProcessID: 1, ThreadID: 1, Processor: -1, Timestamp: i + 1, Payload: etw.AppendUTF16(nil, id)})
	}
	if err == nil {
		err = to.Close()
	}
	path := filepath.Join(w.dir, string(ids[0]))
	if err == nil {
		err = os.WriteFile(path+".part", out.Bytes(), 0o600)
	}
	old := time.Now().Add(-time.Hour)
	if err == nil {
		err = os.Chtimes(path+".part", old, old)
	}
	if err == nil {
		err = os.Rename(path+".part", path+".nettrace")
	}
	if err != nil {
		w.t.Error(err)
	}
	return ids
}

// TestContract holds the receiver to the contract of the collector: whatever a pipeline
// answers, each record is taken or refused for good once, and none is missing.
func TestContract(t *testing.T) {
	dir := t.TempDir()
	cfg := defaultConfig().(*Config)
	cfg.Include = []string{filepath.Join(dir, "*.nettrace")}
	cfg.PollInterval = 5 * time.Millisecond
	cfg.Batch.MaxRecords = 3
	cfg.Retry.InitialInterval, cfg.Retry.MaxInterval = time.Millisecond, time.Millisecond
	receivertest.CheckConsumeContract(receivertest.CheckConsumeContractParams{
		T: t, Factory: NewFactory(), Signal: pipeline.SignalLogs, Config: cfg, Generator: &writer{t: t, dir: dir}, GenerateCount: 20,
	})
}
