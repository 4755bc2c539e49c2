package peers

// The reasons why figures differ. Each is a rule that holds for every trace, whatever
// its name.
const (
	whyQueued         = "not stopped"
	whyDynamic        = "dynamic"
	whyMethodStacks   = "stacks of methods"
	whyOpenJIT        = "open compilation"
	whyDependent      = "dependent handles"
	whyHandling       = "exception handling"
	whyCreator        = "creator"
	whyUnnamed        = "frames without a name"
	whyOnlyHere       = "connections and queues"
	whyForeign        = "foreign activities"
	whyOtherStop      = "stops of others"
	whyTicksAsSamples = "ticks as samples"
	whyAwaited        = "awaited" // of no trace with answers: see TestOwnTraces

	// Of collections.
	whyGap         = "gc: gap"
	whyBlocking    = "gc: done blocking"
	whySurvival    = "gc: survival"
	whyServer      = "gc: server background"
	whyPeak        = "gc: peak"
	whyUpdated     = "gc: not updated"
	whyRepeated    = "gc: marked twice"
	whyUnknown     = "gc: unknown"
	whyInduced     = "gc: induced"
	whyPinned      = "gc: pinned heap"
	whySwept       = "gc: background"
	whyPinnedTicks = "gc: pinned ticks"
	whyUnset       = "gc: not set"
	whyOpen        = "gc: without an end"
	whyMoved       = "gc: histories of another one"
)

// reasons explain the rules. One that explains nothing any more is an error, but where only
// traces have it that are asked about here and now.
var reasons = map[string]string{
	whyQueued:         "of a trace that was not stopped, TraceEvent loses the events that wait for others to be put in order",
	whyDynamic:        "TraceEvent gives each name of GCDynamicEvent, event 39, an id of its own that no trace has",
	whyMethodStacks:   "TraceEvent drops the call stacks of rundown events and of those of methods",
	whyOpenJIT:        "TraceEvent lists compilations without an end, with sizes and times of 0; here they are counted as open",
	whyHandling:       "TraceEvent takes the runtime's own pairs of events of exceptions for activities; here they are told with the exceptions",
	whyCreator:        "TraceEvent says that an activity was begun by the last one of its thread, where its own path says that it was not; here it has no parent",
	whyOnlyHere:       "lives of connections and times in queues are told by other events than start and stop; TraceEvent has none of them",
	whyOtherStop:      "TraceEvent ends an activity at any stop with its id, also at that of one that began within it, which the runtime had stopped before; here that one ends",
	whyForeign:        "commands of SQL Server and spans of OpenTelemetry have starts that are no activities of EventSource; there they are of the activity around them",
	whyUnnamed:        "TraceEvent puts all frames without a name into one; here each is by its address",
	whyTicksAsSamples: "the time of threads goes from sample to sample; TraceEvent takes allocation ticks for samples, too",
	whyAwaited:        "TraceEvent follows tasks by the events of TplEventSource, and counts the time that they were awaited as time of threads",
	whyDependent:      "a reference that a dependent handle makes is one of the graph here, and not there",

	whyGap:         "pause: the time between the end of suspending and the begin of the second collection belongs to nobody there",
	whyBlocking:    "pause: a background collection that was done blocking has the whole suspension here, and only the time to suspend there",
	whySurvival:    "survival is truncated to a whole percentage there, of each heap, and that of uncollected generations is 0",
	whyServer:      "the histories of a background collection of server GC are not found there",
	whyPeak:        "the peak may be below the size after there",
	whyUpdated:     "what runtimes before .NET 5 leave out of the sizes after is 0 there; and where a runtime tells of more free space than the generation has after, objects are negative there and 0 here",
	whyRepeated:    "dependent handles are marked twice on a heap, and the first of the times is added to the mark after there",
	whyUnknown:     "what was allocated before the first collection is all that it found, if the trace has the start of the runtime, or else the allocation ticks, or unknown; there it is the ticks, or 0",
	whyInduced:     "collections that the program asked for in newer ways (compacting, aggressive) have the I here only",
	whyPinned:      "what survived of pinned objects is promoted, too, and left out there",
	whySwept:       "of what was allocated around background collections, TraceEvent takes away what they left of generations that they do not collect, or left later; programs know better, and ours is held against them",
	whyUnset:       "a size that the runtime leaves as the memory was, 0xbaadbaad…, is unknown here",
	whyOpen:        "a collection that has no end in the trace has a duration of 0 and sizes of -1 there; here they are unknown",
	whyMoved:       "where a background collection ends in the pause of another one, that has the histories of both there; here they are told apart by their threads",
	whyPinnedTicks: "pinned objects allocated before the first collection are given the ticks of large ones there",
}
