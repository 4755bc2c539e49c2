package filter

import (
	"strings"

	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An Event is a pattern of the names of an event. One event has several: see
// [Names].
type Event struct {
	text string
	glob Glob // as it is compared
}

// ParseEvent reads the name of an event, or a pattern of names.
func ParseEvent(text string) Event { return Event{text, Glob(canonical(text))} }

// String returns the argument of ParseEvent.
func (p Event) String() string { return p.text }

// Match reports whether p means events such as r, which is an event e.
func (p Event) Match(r *etw.Record, e *etw.EventInfo) bool {
	short := !strings.ContainsAny(string(p.glob), "*?/")
	for _, name := range Names(r, e) {
		if short && strings.Contains(name, "/") { // most names, and costly ones
			continue
		}
		if p.glob.Match(canonical(name)) {
			return true
		}
	}
	return false
}

// MatchDesc reports whether p means the event that d describes.
func (p Event) MatchDesc(d *etw.EventDesc) bool {
	r := etw.Record{Kind: d.Kind, Version: d.Version, Provider: d.Key().Provider}
	e := etw.EventInfo{Name: d.Title(), Task: d.TaskName, Opcode: d.OpcodeName}
	if d.Provider != nil {
		e.Provider = d.Provider.Name
	}
	return p.Match(&r, &e)
}

// kernelProvider is TraceEvent's name of the provider of classic kernel events.
const kernelProvider = "Windows Kernel"

// traceEventNames are those of TraceEvent that follow no rule, one of them with a
// slip of its own.
var traceEventNames = map[string]string{
	"DestroyGCHandle":            "GC/DestoryGCHandle",
	"GCDynamicEvent":             "GC/DynamicTraceEvent",
	"MethodDCStartILToNativeMap": "Method/ILToNativeMapDCStart",
	"MethodDCEndILToNativeMap":   "Method/ILToNativeMapDCStop",
	"ThreadSample":               "Thread/Sample",
	"TaskWaitBegin":              "TaskWait/Send",
	"TaskStarted":                "TaskExecute/Start",
	"TaskCompleted":              "TaskExecute/Stop",
}

// withoutVersion returns a name without the number of a version at its end.
func withoutVersion(name string) string {
	base := strings.TrimRight(name, "0123456789")
	if short, ok := strings.CutSuffix(base, "_V"); ok && base != name {
		return short
	}
	return name
}

// Names returns the possible names of an event:
//
//	GCStart_V2               its name; GCStart_V0 for the first version
//	GCStart                  that of all its versions
//	GarbageCollection/Start  its task and opcode
//	GC/Start                 as TraceEvent and PerfView shorten them
//
// and each of these with the provider and a slash in front. Kernel events are of
// the provider "Windows Kernel", too.
func Names(r *etw.Record, e *etw.EventInfo) []string {
	base := withoutVersion(e.Name)
	list := []string{e.Name, base}
	if base == e.Name && r.Version == 0 {
		list = append(list, base+"_V0")
	}
	if e.Desc != nil && e.Desc.Name != "" && e.Desc.Name != e.Name { // that of a manifest
		list = append(list, e.Desc.Name)
	}
	if other, ok := traceEventNames[base]; ok {
		list = append(list, other)
	}
	// Events of an EventSource are called by their names, and the parts of the opcode that
	// these lack.
	steps := []string{e.Opcode}
	if e.Opcode == "" {
		steps = []string{"Begin", "End"}
	} else {
		list = append(list, base+"/"+e.Opcode)
	}
	for _, step := range steps {
		if task, ok := strings.CutSuffix(base, step); ok && task != "" {
			list = append(list, task+"/"+step)
		}
	}
	if e.Task != "" {
		short := shortTask(e.Task)
		list = append(list, e.Task, e.Task+"/"+e.Opcode, e.Task+"/"+base, short+"/"+base)
		for _, step := range []string{e.Opcode, base} {
			step = strings.TrimPrefix(step, short)
			list = append(list, short+"/"+step, short+"/"+strings.TrimPrefix(step, "Jit"))
		}
	}
	for _, name := range list {
		list = append(list, e.Provider+"/"+name)
		if builtin.IsKernel(r) {
			list = append(list, kernelProvider+"/"+name)
		}
	}
	return list
}

// shortTask returns the name that TraceEvent has for a task of the .NET runtime.
func shortTask(task string) string {
	for _, end := range []string{"Rundown", "Private"} {
		task = strings.TrimSuffix(task, end)
	}
	switch task = strings.TrimPrefix(strings.TrimPrefix(task, "CLR"), "Clr"); task {
	case "GarbageCollection":
		return "GC"
	case "RuntimeInformation":
		return "Runtime"
	}
	return task
}

// canonical makes names equal that mean the same: some say begin and end where
// others say start and stop.
func canonical(name string) string {
	name = strings.ReplaceAll(strings.ToLower(name), "begin", "start")
	return strings.ReplaceAll(strings.ReplaceAll(name, "end", "stop"), "dc_", "dc")
}
