package peers

import (
	"math"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/heap"
)

// truthParts are the facts that only some programs know.
type truthParts struct {
	Sites []struct {
		Type  string
		Bytes float64 `json:"bytes_thread_counter"`
	} `json:"allocation_sites"`
	ByType map[string]int                   `json:"thrown_by_type"`
	Order  []struct{ Type, Message string } `json:"thrown_in_order"`
	Known  []struct {
		MS float64 `json:"waited_ms_measured_by_waiter"`
	} `json:"known_contentions"`
	Lock struct {
		MS float64 `json:"waited_ms"`
	} `json:"known_contention_system_threading_lock"`
	Waits     []struct{ MS float64 }
	Contexts  int
	Unloaded  int            `json:"contexts_unloaded"`
	Dynamic   int            `json:"dynamic_methods"`
	CrumbMS   float64        `json:"ms_in_Crumb_methods"`
	At1       map[string]any `json:"objects_at_snapshot_1"`
	At2       map[string]any `json:"objects_at_snapshot_2"`
	Sizes     map[string]uint64
	Retention string
	Statuses  map[string]int               `json:"responses_by_status"`
	Dough     struct{ Count, Sum float64 } `json:"dough-weight"`
	Sold      float64                      `json:"loaves-sold_total"`
	Ticks     float64                      `json:"clock-ticks_total"`
	Loaves    float64                      `json:"loaves_total"`
	Serving   struct{ Count, Sum float64 } `json:"serving"`
	Steps     float64                      `json:"steps_total"`
	Phase1    map[string]float64           `json:"main_thread_phase_1_ms_by_method"`
	ThreadMS  map[string]float64           `json:"thread_ms"`
	Flood     int64                        `json:"flood_events_written_by_program"`
	Events    []truthEvent                 `json:"events"`
	Sources   map[string]string            `json:"sources"`
	Finalized map[string]uint64            `json:"finalized"`
	Handles   map[string]int               `json:"handles_allocated_by_program"`
	truthMore `json:"-"`
}

// collected reports whether the trace has the collections of a program that had some,
// to the end.
func (s *truthSheet) collected() bool {
	if s.marks["end"] == 0 {
		return false
	}
	for _, rt := range s.ours.GC.Runtimes {
		if rt.PID == s.PID && len(rt.GCs) > 0 {
			return s.End.Gen0 > 0
		}
	}
	return false
}

func holdCollections(s *truthSheet) {
	if !s.collected() {
		return
	}
	for _, rt := range s.ours.GC.Runtimes {
		s.is("the last number", int(rt.GCs[len(rt.GCs)-1].Number), s.End.Gen0)
		// Numbers before the first are of regions without collections.
		s.is("the number of collections", rt.All.Count+rt.MissingNumbers+rt.NumbersBefore, s.End.Gen0)
		if rt.NumbersBefore == 0 {
			s.is("those of generation 1 and 2", rt.ByGeneration[1].Count+rt.ByGeneration[2].Count, s.End.Gen1)
			s.is("those of generation 2", rt.ByGeneration[2].Count, s.End.Gen2)
		}
	}
}

func holdPauses(s *truthSheet) {
	if !s.collected() {
		return
	}
	for _, rt := range s.ours.GC.Runtimes {
		s.holds(rt.PauseMS >= s.End.PauseMS-s.Begin.PauseMS && rt.PauseMS*0.82 <= s.End.PauseMS, "the time of pauses", rt.PauseMS, s.End.PauseMS)
	}
}

func holdTicks(s *truthSheet) {
	if len(s.Sites) == 0 || s.tickedBytes() == nil {
		return
	}
	s.within("bytes", *s.tickedBytes(), s.End.Bytes, 0.05)
}

// tickedBytes returns the bytes of allocation ticks, nil for none.
func (s *truthSheet) tickedBytes() *float64 {
	for _, rt := range s.ours.Alloc.Runtimes {
		if rt.Ticks != nil {
			bytes := float64(rt.Ticks.Bytes)
			return &bytes
		}
	}
	return nil
}

// peerSites are the types of sites as the runtime names them in samples, without
// those around nested ones.
var peerSites = map[string]string{
	"Bakery.Alloc+Tray": "Tray", "System.String": "System.String", "System.Byte[]": "System.Byte[]", "System.Byte[] (LOH)": "System.Byte[]",
	"Bakery.Alloc+Pair`2[System.Int32,System.String][]": "Pair`2[System.Int32,System.String][]",
	"System.Object[] (LOH)":                             "System.Object[]", "System.Int64[] (POH)": "System.Int64[]",
}

func holdSamples(s *truthSheet) {
	want := map[string]float64{}
	for _, site := range s.Sites {
		if name := peerSites[site.Type]; name != "" {
			want[name] += site.Bytes
		}
	}
	for _, rt := range s.ours.Alloc.Runtimes {
		if rt.Samples == nil {
			continue
		}
		for _, t := range rt.Samples.Types {
			if bytes := want[t.Type]; bytes > 0 {
				s.holds(math.Abs(t.Bytes-bytes) <= 3*t.Bytes*t.ErrorPercent.Or(0)/100, "bytes of "+t.Type, t.Bytes, bytes)
			}
		}
		s.within("all bytes", rt.Samples.Bytes, s.End.Bytes-s.Begin.Bytes, 0.1)
	}
}

func holdCompiled(s *truthSheet) {
	for _, rt := range s.ours.JIT.Runtimes {
		if rt.PID != s.PID || rt.Count == 0 || rt.Methods[0].StartMS > s.marks["begin"] && s.Begin.Compiled > 40 {
			continue
		}
		n, bytes := 0, 0.0
		for i := range rt.Methods {
			if m := &rt.Methods[i]; !m.WithoutStart && m.StartMS < s.marks["end"] {
				n++
				bytes += float64(m.ILBytes)
			}
		}
		s.is("methods", n, s.End.Compiled)
		s.within("bytes of IL", bytes, s.End.ILBytes, 0.08)
	}
}

func holdExceptions(s *truthSheet) {
	if len(s.ByType) == 0 {
		return
	}
	for _, t := range s.ours.Exceptions.Types {
		if t.Untold == 0 {
			s.is("the number of "+t.Type, t.New, s.ByType[t.Type])
			continue
		}
		s.holds(t.New <= s.ByType[t.Type] && s.ByType[t.Type] <= t.New+t.Untold, "the number of "+t.Type+", told in part", t.New, s.ByType[t.Type])
	}
	if passed := s.ours.Exceptions.PassedOn; s.ours.Exceptions.Untold == 0 {
		s.holds(passed >= s.Counts["async_extra_rethrows_by_await"], "those passed on", passed, s.Counts["async_extra_rethrows_by_await"])
	}
	s.is("the number of types", len(s.ours.Exceptions.Types), len(s.ByType))
	rt := s.ours.Exceptions.Runtimes[0]
	s.is("filters", int(rt.Filters.Or(-1)), s.Counts["filters_run"])
	s.holds(rt.Finallys.Or(-1) >= float64(s.Counts["finally_run"]), "blocks that are run at last", rt.Finallys.Or(-1), s.Counts["finally_run"])
	s.holds(rt.Catches.Or(-1) >= float64(s.Counts["caught_by_program"]), "blocks that catch", rt.Catches.Or(-1), s.Counts["caught_by_program"])
	at := 0
	for _, e := range rt.Thrown {
		if at < len(s.Order) && e.Type == s.Order[at].Type {
			at++
		}
	}
	s.is("the number of those in order", at, len(s.Order))
}

func holdContention(s *truthSheet) {
	if len(s.Known) == 0 {
		return
	}
	rt := s.ours.Contention.Runtimes[0]
	s.is("the number", rt.Count, s.End.Contended-s.Begin.Contended)
	known := []float64{s.Lock.MS}
	for _, k := range s.Known {
		known = append(known, k.MS)
	}
	for _, ms := range known {
		found := false
		for i := range rt.Longest {
			found = found || math.Abs(rt.Longest[i].DurationMS-ms) < 1
		}
		s.holds(found, "a wait", "not there", ms)
	}
}

func holdWaits(s *truthSheet) {
	if len(s.Waits) == 0 {
		return
	}
	var list []float64
	for i := range s.ours.Waits.Runtimes[0].Longest {
		if w := &s.ours.Waits.Runtimes[0].Longest[i]; w.Thread == s.PID { // its main thread
			list = append(list, w.DurationMS)
		}
	}
	found := 0
	for _, want := range s.Waits {
		i := slices.IndexFunc(list, func(ms float64) bool { return ms <= want.MS && math.Abs(ms-want.MS) < 1.5 })
		if want.MS < 2 || i < 0 {
			continue // those without a time to wait, and of other kinds, have no events
		}
		found++
		list = slices.Delete(list, i, i+1)
	}
	s.holds(found >= 20, "waits that are found", found, len(s.Waits))
	s.holds(len(list) <= 3, "waits that it does not know", len(list), 0)
}

func holdLoader(s *truthSheet) {
	if s.Contexts == 0 {
		return
	}
	rt := s.ours.Loader.Runtimes[0]
	loaded, unloaded := 0, 0
	for i := range rt.Assemblies {
		if a := &rt.Assemblies[i]; strings.HasPrefix(a.Name, "RecPlugin") {
			loaded++
			if !a.UnloadedMS.IsZero() && a.Collectible {
				unloaded++
			}
		}
	}
	s.is("plugins", loaded, s.Contexts)
	s.is("plugins that were unloaded", unloaded, s.Unloaded)
	s.is("assemblies that are not found", rt.Failed, s.Counts["assembly_not_found"])
}

// holdReused holds methods whose code lay at addresses where that of others had been:
// samples must name each.
func holdReused(s *truthSheet) {
	if s.Dynamic == 0 {
		return
	}
	names, ms := map[string]bool{}, 0.0
	for _, row := range s.stacks.View().Top() {
		name := s.stacks.Frames[row.Frame].Name
		if i := strings.Index(name, "Crumb_"); i >= 0 {
			names[name[i:]] = true
			ms += float64(row.Total[1]) / 1e6
		}
	}
	s.holds(len(names) <= s.Dynamic && len(names) > s.Dynamic*3/4, "methods with samples", len(names), s.Dynamic)
	s.within("time in them", ms, s.CrumbMS, 0.2)
}

func holdHeap(s *truthSheet) {
	at := s.At1
	if strings.HasPrefix(s.file, "heap-2") {
		at = s.At2
	}
	for name, want := range at {
		n := int(unsigned(want))
		if n == 0 || strings.Contains(name, " of ") {
			continue
		}
		snapshot := s.ours.Heap.Snapshots[0]
		for _, t := range snapshot.Types {
			if t.Type != name || name == "Bakery.Customer" { // of which handles hold more
				continue
			}
			s.is("the number of "+name, t.Count, n)
			if size := s.Sizes[name]; size != 0 {
				s.is("bytes of "+name, t.Bytes, size*uint64(n))
			}
			s.holds(t.RetainedBytes >= t.Bytes, "bytes that "+name+" retains", t.RetainedBytes, t.Bytes)
		}
	}
}

// holdRetained holds the objects that others keep alive: a secret its extra by a dependent
// handle, a listener its array of 500 bytes, the recipe all steps.
func holdRetained(s *truthSheet) {
	if s.Retention == "" {
		return
	}
	types := map[string]heap.Type{}
	for _, t := range s.ours.Heap.Snapshots[0].Types {
		types[t.Type] = t
	}
	for name, each := range map[string]uint64{
		"Bakery.Secret": s.Sizes["Bakery.Secret"] + s.Sizes["Bakery.Extra"], "Bakery.Listener": s.Sizes["Bakery.Listener"] + 500 + 24,
	} {
		s.is("bytes that "+name+" retains", types[name].RetainedBytes, each*uint64(types[name].Count))
	}
	recipe, step := types["Bakery.Recipe"].RetainedBytes, types["Bakery.Step"].RetainedBytes
	s.holds(recipe >= step+s.Sizes["Bakery.Recipe"], "bytes that the recipe retains", recipe, step)
}

func holdRequests(s *truthSheet) {
	for _, p := range s.ours.Requests.Processes {
		for _, t := range p.Tasks {
			if len(s.Statuses) == 0 || t.Task != "Request" && t.Task != "System.Net.Http.HttpRequestOut" || len(t.Statuses) == 0 {
				continue
			}
			for _, st := range t.Statuses {
				if st.Status != "-1" && st.Status != "" { // of those without a response
					s.is("the number with status "+st.Status, st.Count, s.Statuses[st.Status])
				}
			}
		}
	}
}

func holdCounters(s *truthSheet) {
	sums := map[string]float64{}
	for _, p := range s.ours.Counters.Processes {
		for _, c := range p.Counters {
			for _, pt := range c.Points {
				sums[c.Name] += pt.Increment.Or(pt.Count.Or(0) * pt.Mean.Or(0))
				sums[c.Name+" count"] += pt.Count.Or(0)
			}
		}
		for _, m := range p.Metrics {
			last := &m.Points[len(m.Points)-1]
			if strings.Contains(m.Type, "Histogram") {
				for i := range m.Points { // of each interval its own
					sums[m.Instrument+" count"] += m.Points[i].Count.Or(0)
				}
				continue
			}
			sums[m.Instrument] += last.Value.Or(0)
			if m.Meter == "Bakery.Other" {
				s.is("a meter that was not asked for", m.Meter, "")
			}
		}
	}
	for name, want := range map[string]float64{
		"dough-weight": s.Dough.Sum, "dough-weight count": s.Dough.Count, "loaves-sold": s.Sold, "clock-ticks": s.Ticks,
		"loaves": s.Loaves, "steps": s.Steps, "serving.duration count": s.Serving.Count,
	} {
		if want > 0 && (sums[name] > 0 || name != "loaves" && name != "steps") {
			s.holds(sums[name] <= want && sums[name] >= 0.85*want, name, sums[name], want)
		}
	}
}

func holdShares(s *truthSheet) {
	all, sum := 0.0, map[string]float64{}
	for _, ms := range s.Phase1 {
		all += ms
	}
	if all == 0 {
		return
	}
	total := 0.0
	for _, row := range s.stacks.View().Top() {
		name, _, _ := strings.Cut(s.stacks.Frames[row.Frame].Name, "(")
		_, method, _ := strings.Cut(name, "!")
		if _, ok := s.Phase1[method]; ok {
			sum[method] += float64(row.Total[1])
			total += float64(row.Total[1])
		}
	}
	for method, ms := range s.Phase1 {
		share, want := 100*sum[method]/total, 100*ms/all
		s.holds(math.Abs(share-want) <= 3, "percent of "+method, share, want)
	}
}

func holdBlocked(s *truthSheet) {
	for method, ms := range s.ThreadMS {
		if method == "busy" {
			method = "Bakery.Cpu.Work"
		}
		got := 0.0
		for _, row := range s.stacks.View().Top() {
			if strings.Contains(s.stacks.Frames[row.Frame].Name, "!"+method+"(") {
				got += float64(row.Total[1]) / 1e6
			}
		}
		s.within("ms in "+method, got, ms, 0.1)
	}
}

func holdLost(s *truthSheet) {
	if s.Flood == 0 {
		return
	}
	n := s.counts[kind{"Bakery-Flood", 1, 0}]
	s.holds(s.info.lost > 0 && n+s.info.lost <= s.Flood, "delivered and lost", n+s.info.lost, s.Flood)
}

func holdHandles(s *truthSheet) {
	for name, want := range s.Finalized {
		for _, rt := range s.ours.GC.Runtimes {
			for _, t := range rt.FinalizedTypes {
				if t.Type == name || t.Type == strings.TrimPrefix(name, "Bakery.") {
					s.is("finalizers of "+name, t.Count, want)
				}
			}
		}
	}
	for kind, want := range s.Handles {
		kind, _, _ = strings.Cut(kind, "(")
		for _, rt := range s.ours.Handles.Runtimes {
			for _, k := range rt.Kinds {
				if strings.EqualFold(k.Kind, kind) {
					s.holds(k.Created >= want, "handles: "+kind, k.Created, want)
				}
			}
		}
	}
}

// A truthEvent is an event that a program wrote.
type truthEvent struct {
	Source, Event string
	Values        []any
}
