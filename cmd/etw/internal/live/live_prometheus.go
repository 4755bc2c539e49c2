package live

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	quantity "github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/export/prometheus"
)

// An exposition has counters in the text format of Prometheus. Counts are summed since the
// start.
type exposition struct {
	p        *show.Printer // nil if it is served
	mu       sync.Mutex
	families map[string]*family
}

// A family is the set of metrics under one name of Prometheus.
type family struct {
	kind, help string
	samples    map[string]float64 // by the suffix of the name and the labels
}

func newExposition(p *show.Printer) *exposition {
	return &exposition{p: p, families: make(map[string]*family)}
}

// labels makes labels of tags such as kind=odd,p=q.
func labels(tags string, more ...string) string {
	var list []string
	if tags != "" {
		for pair := range strings.SplitSeq(tags, ",") {
			name, value, _ := strings.Cut(pair, "=")
			list = append(list, fmt.Sprintf(`%s="%s"`, prometheus.Name(name), labelEscapes.Replace(cli.Clean(value))))
		}
	}
	if list = append(list, more...); len(list) == 0 {
		return ""
	}
	return "{" + strings.Join(list, ",") + "}"
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// take takes the values of counters in an interval.
func (e *exposition) take(readings []counterReading) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range readings {
		r := &readings[i]
		name := prometheus.Name(r.source, r.name)
		help := strings.TrimSpace(cli.Clean(r.title) + " " + cli.Clean(r.unit))
		if v, ok := r.value.Get(); ok {
			e.family(name, "gauge", help).samples[labels(r.tags)] = v
		}
		if v, ok := r.added.Get(); ok {
			e.family(name, "counter", help).samples["_total"+labels(r.tags)] += v
		}
		e.summary(name, help, r)
	}
}

func (e *exposition) summary(name, help string, r *counterReading) {
	count, ok := r.count.Get()
	if !ok {
		return
	}
	f := e.family(name, "summary", help)
	for q, v := range r.quantiles {
		f.samples[labels(r.tags, fmt.Sprintf(`quantile="%s"`, labelEscapes.Replace(q)))] = v.Or(0)
	}
	f.samples["_count"+labels(r.tags)] += count
	f.samples["_sum"+labels(r.tags)] += r.sum.Or(0)
}

func (e *exposition) family(name, kind, help string) *family {
	f := e.families[name]
	if f == nil {
		f = &family{kind, help, make(map[string]float64)}
		e.families[name] = f
	}
	return f
}

// text returns all of it.
func (e *exposition) text() []byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	var b []byte
	for _, name := range slices.Sorted(maps.Keys(e.families)) {
		f := e.families[name]
		b = fmt.Appendf(b, "# HELP %s %s\n# TYPE %s %s\n", name, labelEscapes.Replace(f.help), name, f.kind)
		for _, key := range slices.Sorted(maps.Keys(f.samples)) {
			b = fmt.Appendf(b, "%s%s %s\n", name, key, formatNumber(quantity.Known(f.samples[key])))
		}
	}
	return append(b, "# EOF\n"...)
}

// show prints all of it after an interval.
func (e *exposition) show(_ time.Time, readings []counterReading) error {
	if len(readings) == 0 {
		return nil
	}
	e.take(readings)
	if _, err := e.p.Write(e.text()); err != nil {
		return err
	}
	return e.p.Flush()
}

func (e *exposition) End() error { return nil }

// openMetrics is the media type of the text, for those who ask.
const openMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8"

// serve answers requests until the function that it returns is called.
func (e *exposition) serve(cmd *cobra.Command, address string) (stop func(), err error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", e.answer)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		server.Serve(l)
	}()
	fmt.Fprintf(cmd.ErrOrStderr(), "etw: serving http://%s/metrics\n", l.Addr())
	return func() {
		server.Close()
		<-done
	}, nil
}

// answer answers a request.
func (e *exposition) answer(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", openMetrics)
	w.Write(e.text())
}
