package peers

// The reasons why figures differ. Each is a rule that holds for every trace, whatever
// its name.
const (
	whyQueued       = "not stopped"
	whyDynamic      = "dynamic"
	whyMethodStacks = "stacks of methods"
	whyOpenJIT      = "open compilation"
	whyDependent    = "dependent handles"
)

// reasons say what the rules are. One that explains nothing any more is an error.
var reasons = map[string]string{
	whyQueued:       "of a trace that was not stopped, TraceEvent loses the events that wait for others to be put in order",
	whyDynamic:      "TraceEvent gives each name of GCDynamicEvent, event 39, an id of its own that no trace has",
	whyMethodStacks: "TraceEvent drops the call stacks of rundown events and of those of methods",
	whyOpenJIT:      "TraceEvent lists compilations without an end, with sizes and times of 0; here they are counted as open",
	whyDependent:    "a reference that a dependent handle makes is one of the graph here, and not there",
}
