package html

import (
	"fmt"

	"github.com/etwgen/etwgen/analysis/contention"
	"github.com/etwgen/etwgen/analysis/findings"
	"github.com/etwgen/etwgen/analysis/waits"
)

// addContention adds the waits for locks.
func addContention(v *view, s *subject, texts *texts) {
	r := s.contention
	if r == nil || r.Count == 0 && r.Open == 0 && r.LostStops == 0 {
		return
	}
	v.weight += r.Count
	v.Tiles = append(v.Tiles, tile{"Waits for locks", span(r.TotalMS), count(r.Count, "wait", "waits") + ", longest " + span(r.DurationMS.Max.Or(0)), "contention"})
	v.add(findings.Contention(r))
	sec := &section{ID: "contention", Title: "Lock contention", Lead: []string{
		fmt.Sprintf("%s, %s in all: half of them under %s, 95 %% under %s.", count(r.Count, "wait", "waits"), span(r.TotalMS), span(r.DurationMS.P50.Or(0)), span(r.DurationMS.P95.Or(0)))}}
	if r.Native > 0 {
		sec.Lead = append(sec.Lead, fmt.Sprintf("%d were for locks inside of the runtime.", r.Native))
	}
	sec.Lead = append(sec.Lead, openWaits(r.Open, r.OpenMS, r.StopsWithoutStart, r.LostStops)...)
	sec.Charts = append(sec.Charts, overTime("contended", "Waits for locks, where they end", "ms", "Waited", "lock", r.Series, sumOnly))
	sec.showEach((&contention.Result{Count: r.Count, Runtimes: []*contention.Runtime{r}}).Tables(), texts)
	v.Sections = append(v.Sections, sec)
}

// openWaits says of which waits the trace has one end only.
func openWaits(open int, openMS float64, withoutStart, lost int) []string {
	var lead []string
	if open > 0 {
		lead = append(lead, fmt.Sprintf("%s not over when the trace ended, and had lasted %s; they are in no sum.", count(open, "wait was", "waits were"), span(openMS)))
	}
	if withoutStart > 0 {
		lead = append(lead, fmt.Sprintf("%s began before the trace.", count(withoutStart, "wait", "waits")))
	}
	if lost > 0 {
		lead = append(lead, fmt.Sprintf("Of %s the end was lost.", count(lost, "wait", "waits")))
	}
	return lead
}

// addWaits adds the other waits.
func addWaits(v *view, s *subject, texts *texts) {
	r := s.waits
	if r == nil || r.Count == 0 && r.Open == 0 {
		return
	}
	v.weight += r.Count
	sec := &section{ID: "waits", Title: "Waits", Lead: []string{fmt.Sprintf("%s, %s in all: %s of workers of the thread pool, which mostly wait for work, and %s of other threads.",
		count(r.Count, "wait", "waits"), span(r.TotalMS), span(r.PoolMS), span(r.OtherMS))}}
	sec.Lead = append(sec.Lead, openWaits(r.Open, r.OpenMS, r.StopsWithoutStart, r.LostStops)...)
	sec.Charts = append(sec.Charts, overTime("waited", "Waits, where they end", "ms", "Waited", "lock", r.Series, sumOnly))
	sec.showEach((&waits.Result{Count: r.Count, Runtimes: []*waits.Runtime{r}}).Tables(), texts)
	v.Sections = append(v.Sections, sec)
}
