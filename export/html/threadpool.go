package html

import (
	"fmt"

	"github.com/etwgen/etwgen/analysis/findings"
	"github.com/etwgen/etwgen/analysis/threadpool"
)

// addThreadPool adds the thread pool.
func addThreadPool(v *view, s *subject, texts *texts) {
	r := s.threadpool
	if r == nil {
		return
	}
	v.weight += r.Started + len(r.Adjustments) + r.WorkersRequested
	sec := &section{ID: "threadpool", Title: "Thread pool", Lead: poolLead(r)}
	value := tile{"Workers of the thread pool", fmt.Sprint(r.MaxWorkers), "at most; " + fmt.Sprint(r.LastWorkers) + " at the end", "threadpool"}
	found := v.add(findings.ThreadPool(r))
	if r.Starvation != nil {
		sec.Lead = append([]string{found[0].Text}, sec.Lead...)
		value.Note = "at most; the pool starved"
	}
	v.Tiles = append(v.Tiles, value)
	if len(r.Workers.Highest) > 0 {
		sec.Charts = append(sec.Charts, levelsChart("workers", "Active workers", "Workers", "queue", r.Workers))
	}
	if len(r.Adjustments) > 0 {
		sec.Charts = append(sec.Charts, wishedChart(r.Adjustments))
		sec.showEach((&threadpool.Result{Runtimes: []*threadpool.Runtime{r}}).Tables(), texts)
	}
	v.Sections = append(v.Sections, sec)
}

// poolLead sums up the work of the pool.
func poolLead(r *threadpool.Runtime) []string {
	lead := []string{fmt.Sprintf("At most %s worked at a time; %d were started and %d stopped.", count(r.MaxWorkers, "worker", "workers"), r.Started, r.Stopped)}
	if l := r.Limits; l != nil {
		lead = append(lead, fmt.Sprintf("The limits are %d to %d workers, and %d to %d threads for input and output.", l.MinWorkers, l.MaxWorkers, l.MinIO, l.MaxIO))
	}
	if r.Queue == nil {
		return lead
	}
	if q := r.Queue.WaitMS; q.Count > 0 {
		lead = append(lead, fmt.Sprintf("%s waited in the queue for %s at the median, %s at 95 %%, %s at most.", count(q.Count, "work item", "work items"),
			span(q.P50.Or(0)), span(q.P95.Or(0)), span(q.Max.Or(0))))
	}
	if n := r.Queue.Waiting; n > 0 {
		lead = append(lead, fmt.Sprintf("%s not begun: they wait, or a thread that waited for them ran them.", count(n, "work item was", "work items were")))
	}
	return lead
}

// wishedChart shows how many workers the pool wished to have.
func wishedChart(all []threadpool.Adjustment) *chart {
	x, y := make([]float64, len(all)), make([]float64, len(all))
	for i, a := range all {
		x[i], y[i] = a.AtMS, float64(a.Workers)
	}
	return &chart{ID: "wished", Kind: steps, Title: "Wished number of workers", X: seconds(x), Table: "threadpool-adjustment",
		Series: []*series{{"Workers", "queue", &numbers{values: y}}}}
}
