package html

import (
	"fmt"
	"slices"

	"github.com/etwgen/etwgen/analysis/contention"
	"github.com/etwgen/etwgen/analysis/findings"
	"github.com/etwgen/etwgen/analysis/waits"
)

// addContention adds what is known of waits for locks.
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
	sec.Charts = append(sec.Charts, overTime("contended", "Waits for locks, where they end", "ms", "Waited", "wait", r.Series, sumOnly))
	sec.Tables = append(sec.Tables, lockTable(r, texts), lockThreads("owners", "Threads that held the locks", ownersOf(r), texts),
		lockThreads("waiters", "Threads that waited", r.Threads, texts), lockWaits(r, texts))
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

func lockTable(r *contention.Runtime, texts *texts) *table {
	t := &table{ID: "locks", Title: "Locks", Sort: "total", texts: texts}
	rows := shown(r.Locks)
	word(t, rows, column{Key: "lock", Label: "Lock"}, func(l contention.Lock) string { return l.Lock })
	word(t, rows, column{Key: "object", Label: "Object"}, func(l contention.Lock) string { return l.Object })
	num(t, rows, column{Key: "count", Label: "Waits"}, func(l contention.Lock) float64 { return float64(l.Count) })
	num(t, rows, column{Key: "total", Label: "Total", Unit: "ms", Digits: 3, Share: true}, func(l contention.Lock) float64 { return l.TotalMS })
	num(t, rows, column{Key: "max", Label: "Longest", Unit: "ms", Digits: 3}, func(l contention.Lock) float64 { return l.MaxMS })
	cutOff(t, len(r.Locks))
	return t
}

// ownersOf returns the owners, and one without a number if some are not known.
func ownersOf(r *contention.Runtime) []contention.Thread {
	if x := r.WithoutOwner; x != nil && len(r.Owners) > 0 {
		return append(slices.Clip(r.Owners), contention.Thread{Count: x.Count, TotalMS: x.TotalMS, MaxMS: x.MaxMS})
	}
	return r.Owners
}

func lockThreads(id, title string, all []contention.Thread, texts *texts) *table {
	t := &table{ID: id, Title: title, Sort: "total", texts: texts}
	rows := shown(all)
	num(t, rows, column{Key: "thread", Label: "Thread", ID: true}, func(x contention.Thread) float64 {
		if x.Thread == 0 {
			return nan
		}
		return float64(x.Thread)
	})
	num(t, rows, column{Key: "count", Label: "Waits"}, func(x contention.Thread) float64 { return float64(x.Count) })
	num(t, rows, column{Key: "total", Label: "Total", Unit: "ms", Digits: 3, Share: true}, func(x contention.Thread) float64 { return x.TotalMS })
	num(t, rows, column{Key: "max", Label: "Longest", Unit: "ms", Digits: 3}, func(x contention.Thread) float64 { return x.MaxMS })
	cutOff(t, len(all))
	return t
}

func lockWaits(r *contention.Runtime, texts *texts) *table {
	t := &table{ID: "longestlocks", Title: "Longest waits", Sort: "duration", Time: "start", texts: texts}
	rows := r.Longest
	num(t, rows, column{Key: "start", Label: "Start", Unit: "s", Digits: 6}, func(w contention.Wait) float64 { return w.StartMS / 1000 })
	num(t, rows, column{Key: "duration", Label: "Duration", Unit: "ms", Digits: 3, Share: true}, func(w contention.Wait) float64 { return w.DurationMS })
	num(t, rows, column{Key: "thread", Label: "Thread", ID: true}, func(w contention.Wait) float64 { return float64(w.Thread) })
	num(t, rows, column{Key: "owner", Label: "Held by", ID: true}, func(w contention.Wait) float64 {
		if w.Owner == 0 {
			return nan
		}
		return float64(w.Owner)
	})
	word(t, rows, column{Key: "lock", Label: "Lock"}, func(w contention.Wait) string { return w.Lock })
	cutOff(t, r.Count)
	return t
}

// addWaits adds what is known of other waits.
func addWaits(v *view, s *subject, texts *texts) {
	r := s.waits
	if r == nil || r.Count == 0 && r.Open == 0 {
		return
	}
	v.weight += r.Count
	sec := &section{ID: "waits", Title: "Waits", Lead: []string{fmt.Sprintf("%s, %s in all: %s of workers of the thread pool, which mostly wait for work, and %s of other threads.",
		count(r.Count, "wait", "waits"), span(r.TotalMS), span(r.PoolMS), span(r.OtherMS))}}
	sec.Lead = append(sec.Lead, openWaits(r.Open, r.OpenMS, r.StopsWithoutStart, r.LostStops)...)
	sec.Charts = append(sec.Charts, overTime("waited", "Waits, where they end", "ms", "Waited", "wait", r.Series, sumOnly))

	sources := &table{ID: "sources", Title: "By source", Sort: "total", texts: texts}
	word(sources, r.Sources, column{Key: "source", Label: "Source"}, func(x waits.Source) string { return x.Source })
	num(sources, r.Sources, column{Key: "count", Label: "Waits"}, func(x waits.Source) float64 { return float64(x.Count) })
	num(sources, r.Sources, column{Key: "total", Label: "Total", Unit: "ms", Digits: 3, Share: true}, func(x waits.Source) float64 { return x.TotalMS })

	threads := &table{ID: "waitthreads", Title: "Threads that waited", Sort: "total", texts: texts}
	rows := shown(r.Threads)
	num(threads, rows, column{Key: "thread", Label: "Thread", ID: true}, func(x waits.Thread) float64 { return float64(x.Thread) })
	word(threads, rows, column{Key: "pool", Label: "Of the pool"}, func(x waits.Thread) string { return yes(x.Pool) })
	num(threads, rows, column{Key: "count", Label: "Waits"}, func(x waits.Thread) float64 { return float64(x.Count) })
	num(threads, rows, column{Key: "total", Label: "Total", Unit: "ms", Digits: 3, Share: true}, func(x waits.Thread) float64 { return x.TotalMS })
	num(threads, rows, column{Key: "max", Label: "Longest", Unit: "ms", Digits: 3}, func(x waits.Thread) float64 { return x.MaxMS })
	cutOff(threads, len(r.Threads))

	longest := &table{ID: "longestwaits", Title: "Longest waits", Sort: "duration", Time: "start", texts: texts}
	num(longest, r.Longest, column{Key: "start", Label: "Start", Unit: "s", Digits: 6}, func(w waits.Wait) float64 { return w.StartMS / 1000 })
	num(longest, r.Longest, column{Key: "duration", Label: "Duration", Unit: "ms", Digits: 3, Share: true}, func(w waits.Wait) float64 { return w.DurationMS })
	num(longest, r.Longest, column{Key: "thread", Label: "Thread", ID: true}, func(w waits.Wait) float64 { return float64(w.Thread) })
	word(longest, r.Longest, column{Key: "source", Label: "Source"}, func(w waits.Wait) string { return w.Source })
	cutOff(longest, r.Count)
	sec.Tables = append(sec.Tables, sources, threads, longest)
	v.Sections = append(v.Sections, sec)
}
