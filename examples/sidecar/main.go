// Sidecar watches the garbage collector of live .NET processes, and serves its metrics to
// Prometheus:
//
//	go run ./examples/sidecar shop localhost:9101
//
// The first argument is the name of a program or service, the number of a process, or a pattern
// of paths of sockets, as a sidecar sees those in another container. It follows restarts. Events
// of the providers in manifests (files, folders, libraries) that come behind are logged, with
// their names and fields:
//
//	go run ./examples/sidecar shop localhost:9101 shop.man
package main

import (
	"context"
	"log"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/export/prometheus"
	"github.com/etwgen/etwgen/manifest/load"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe"
	"github.com/etwgen/etwgen/runtime/eventpipe/attach"
)

func main() {
	if len(os.Args) < 3 {
		log.Fatal("usage: sidecar NAME|PID|SOCKET ADDRESS [MANIFEST...]")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	set, err := load.Providers(os.Args[3:]...)
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range set.Left {
		slog.Warn("a manifest is left out", "error", e)
	}
	w := &watcher{log: slog.Default(), providers: set.Providers}
	http.Handle("GET /metrics", &w.metrics)
	go func() { log.Fatal(http.ListenAndServe(os.Args[2], nil)) }()
	if err := w.run(ctx, os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

type watcher struct {
	log       *slog.Logger
	providers []*etw.Provider // of manifests
	metrics   prometheus.Live
}

// run watches a process, and the one that is started when it has ended, until ctx is done.
func (w *watcher) run(ctx context.Context, process string) error {
	s := attach.Supervisor{Targets: []attach.Target{target(process)}, Log: w.log}
	return s.Run(ctx, w.serve)
}

// serve watches one process.
func (w *watcher) serve(ctx context.Context, p *attach.Process) error {
	var mux etw.Mux
	w.metrics.Watch(&mux, "service", p.Service, "program", p.Executable)
	providers := eventpipe.ForMux(&mux)
	decoder := etw.NewDecoder(w.providers...)
	known := make(map[string]bool)
	for _, of := range w.providers {
		known[of.Desc.Name] = true
		providers = append(providers, eventpipe.Provider{Name: of.Desc.Name, Level: etw.LevelInformational, Keywords: ^uint64(0)})
	}
	mux.HandleRest(func(r *etw.Record) error {
		if !known[r.ProviderName] {
			return nil
		}
		values, err := decoder.Decode(r)
		if err != nil {
			w.log.Warn("an event does not fit its description", "provider", r.ProviderName, "id", r.ID, "error", err)
			return nil
		}
		w.log.Info(decoder.Event(r).Name, "provider", r.ProviderName, "fields", etw.LogValue(values))
		return nil
	})
	s, err := p.Session(ctx, eventpipe.Config{Providers: eventpipe.Merge(providers), BufferMB: 10})
	if err != nil {
		return err
	}
	defer s.Close()
	return mux.Run(ctx, s)
}

// target says which process is meant.
func target(process string) attach.Target {
	if pid, err := strconv.Atoi(process); err == nil {
		return attach.Target{PID: pid}
	}
	if strings.ContainsRune(process, '/') {
		return attach.Target{Socket: process}
	}
	return attach.Target{Name: process}
}
