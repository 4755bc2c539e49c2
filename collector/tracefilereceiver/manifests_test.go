package tracefilereceiver

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/etwgen/etwgen/collector/tracefilereceiver/internal/metadata"
	"github.com/etwgen/etwgen/internal/testio"
)

const service = "../../examples/service/events"

// TestManifests reads a trace of a provider that nobody knows, without and with its manifest,
// by its path and by that of its folder.
func TestManifests(t *testing.T) {
	for _, c := range []struct {
		manifests   []string
		start, stop string
		customers   int
	}{
		{nil, "Etwgen-Examples-Service/Event1", "", 0},
		{[]string{service + "/service.man"}, "Etwgen-Examples-Service/OrderStart", "Etwgen-Examples-Service/OrderStop", 1},
		{[]string{service}, "Etwgen-Examples-Service/OrderStart", "Etwgen-Examples-Service/OrderStop", 1},
	} {
		dir := t.TempDir()
		copyOf(t, filepath.Join(recorded, "service.etl"), filepath.Join(dir, "service.etl"))
		cfg := config(dir)
		cfg.Manifests = c.manifests
		customers := 0
		s := &sink{fields: func(r plog.LogRecord) {
			if v, ok := r.Attributes().Get("Customer"); ok && v.Str() != "" {
				customers++
			}
		}}
		all(t, cfg, &memory{kept: make(map[string][]byte)}, s)
		if c.customers == 0 {
			for name := range s.names {
				if strings.Contains(name, "Order") {
					t.Errorf("%s has a name without a manifest", name)
				}
			}
			continue
		}
		if s.names[c.start] == 0 || s.names[c.stop] == 0 || customers != s.names[c.start] {
			t.Errorf("%v: %v, and %d customers", c.manifests, s.names, customers)
		}
	}
}

// TestNoManifest does not start with a missing or an invalid manifest.
func TestNoManifest(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.man")
	testio.Write(t, bad, []byte("<instrumentationManifest>"))
	for _, path := range []string{"none.man", bad} {
		cfg := config(t.TempDir())
		cfg.Manifests = []string{path}
		c, err := NewFactory().CreateLogs(t.Context(), receivertest.NewNopSettings(metadata.Type), cfg, &sink{})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(t.Context(), componenttest.NewNopHost()); err == nil || !strings.Contains(err.Error(), "manifests: "+path) {
			t.Errorf("%s: %v", path, err)
		}
		c.Shutdown(context.Background())
	}
}

// TestFresh has a file that was written just now: not all is read before it is.
func TestFresh(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "gc.nettrace")
	copyOf(t, filepath.Join(recorded, "gc.nettrace"), path)
	now := time.Now()
	if err := os.Chtimes(path, now, now); err != nil {
		t.Fatal(err)
	}
	s := &sink{}
	seen := heard(t, config(dir), s)
	for _, e := range seen.FilterMessageSnippet("all files are read").All() {
		if e.ContextMap()["files"] != int64(1) {
			t.Errorf("it is said after %v files", e.ContextMap()["files"])
		}
	}
}
