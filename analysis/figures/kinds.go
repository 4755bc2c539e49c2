package figures

import "slices"

// A Kind describes the figures of one name.
type Kind struct {
	// Metric is the name. A star in it, and in Name, stands for the subject of a figure,
	// such as a type.
	Metric string
	Area   string
	Name   string // within the area
	Unit   string // count, ms, bytes or MB; of counters "", since each has its own
	traits traits
}

// traits say how figures of a kind behave.
type traits uint16

const (
	worse     traits = 1 << iota // more of it is worse
	sum                          // it grows with what is recorded, and is 0 without any
	grows                        // it grows with what is recorded, and may be unknown
	held                         // it is 0 without any, but does not grow
	silent                       // it is 0 where the runtime had nothing to tell of it
	quantiles                    // there are five: .mean, .p50, .p95, .p99 and .max
	process                      // it is of processes of a name: one that weighs little is minor
	steady                       // of a device: sums of the program follow from it
	estimated                    // of some events, which stand for others
)

func (k *Kind) has(t traits) bool { return k.traits&t != 0 }

// MoreIsWorse says which way a change is bad. Of other kinds, neither way is.
func (k *Kind) MoreIsWorse() bool { return k.has(worse) }

// HasQuantiles says that there are five figures, named .mean, .p50, .p95, .p99 and .max.
func (k *Kind) HasQuantiles() bool { return k.has(quantiles) }

// varies reports whether a kind differs between recordings of one program by more than
// chance: times do, as do counters, which tell of moments.
func (k *Kind) varies() bool { return k.Unit == "ms" || k.Area == countersArea }

// The areas that other code asks for.
const (
	CPU          = "cpu"
	countersArea = "counters"
	requestsArea = "requests"
	samplesArea  = "samples of processors"
	switchesArea = "context switches"
	busyArea     = "disks as a whole"
)

// CPUTime is the name of all time on processors.
const CPUTime = "cpu.ms"

var kinds = []Kind{
	{"gc.count", "collections", "count", "count", worse | sum | silent},
	{"gc.pauseMs", "collections", "pauseMs", "ms", worse | sum | silent},
	{"gc.pauseMs.*", "collections", "* pauseMs", "ms", worse | quantiles},
	{"gc.maxPeakMB", "collections", "maxPeakMB", "MB", worse},
	{"gc.allocatedMB", "collections", "allocatedMB", "MB", worse | grows},
	{"gc.promotedMB", "collections", "promotedMB", "MB", worse | sum},
	{"gc.induced", "collections", "induced", "count", worse | sum},
	{"gc.gen0.count", "collections", "count of generation 0", "count", worse | sum},
	{"gc.gen1.count", "collections", "count of generation 1", "count", worse | sum},
	{"gc.gen2.count", "collections", "count of generation 2", "count", worse | sum},
	{"alloc.bytes", "allocations", "bytes", "bytes", worse | sum | silent},
	{"alloc.bytes.*", "allocations", "bytes of *", "bytes", worse | sum | estimated},
	{"exceptions.count", "exceptions", "count", "count", worse | sum | silent},
	{"exceptions.count.*", "exceptions", "count of *", "count", worse | sum},
	{"jit.count", "compiling", "count", "count", worse | sum | silent},
	{"jit.exclusiveMs", "compiling", "exclusiveMs", "ms", worse | sum},
	{"jit.inclusiveMs", "compiling", "inclusiveMs", "ms", worse | sum},
	{"contention.count", "contention", "count", "count", worse | sum | silent},
	{"contention.totalMs", "contention", "totalMs", "ms", worse | sum | silent},
	{"contention.openMs", "contention", "openMs", "ms", worse | held},
	{"contention.durationMs.*", "contention", "* durationMs", "ms", worse | quantiles},
	// Waits are not bad: threads without work wait.
	{"waits.count", "waits", "count", "count", sum | silent},
	{"waits.totalMs", "waits", "totalMs", "ms", sum | silent},
	{"waits.durationMs.*", "waits", "* durationMs", "ms", quantiles},
	{"threadPool.maxWorkers", "thread pool", "maxWorkers", "count", 0},
	{"threadPool.starving", "thread pool", "runtimes that starve", "count", worse},
	{"heap.objects", "heap", "objects", "count", worse | held},
	{"heap.bytes", "heap", "bytes", "bytes", worse | held},
	{"heap.reachableBytes", "heap", "reachableBytes", "bytes", worse | held},
	{"heap.bytes.*", "heap", "bytes of *", "bytes", worse | held},
	{"requests.*.count", requestsArea, "count of *", "count", sum},
	{"requests.*.errors", requestsArea, "errors of *", "count", worse | sum},
	{"requests.*.openMs", requestsArea, "openMs of *", "ms", worse | held},
	{"requests.*.ms.*", requestsArea, "* ms of *", "ms", worse | quantiles},
	{"endpoints.*.ms.*", "endpoints", "* ms of *", "ms", worse | quantiles},
	{"counters.*", countersArea, "mean *", "", 0},
	{"trace.durationMs", "trace", "durationMs", "ms", 0},
	{CPUTime, CPU, "ms", "ms", worse | sum},
	{kindMetric + "*.ms", CPU, "ms of kind *", "ms", worse | sum},
	{methodMetric + "*.selfMs", CPU, "selfMs of *", "ms", worse | sum},
	{"processors.sampledMs", samplesArea, "ms", "ms", worse | sum},
	{"processors.sampledMs.*", samplesArea, "ms of *", "ms", worse | sum | process},
	{"processors.ranMs", switchesArea, "ms", "ms", worse | sum},
	{"processors.ranMs.*", switchesArea, "ms of *", "ms", worse | sum | process},
	{"threads.readyMs", "ready threads", "readyMs", "ms", worse | sum},
	{"threads.readyMs.*", "ready threads", "readyMs of *", "ms", worse | sum | process},
	{"interrupts.count", "interrupts", "count", "count", worse | sum},
	{"interrupts.ms", "interrupts", "ms", "ms", worse | sum},
	{"disk.reads", "disks", "reads", "count", worse | sum},
	{"disk.bytesRead", "disks", "bytesRead", "bytes", worse | sum},
	{"disk.bytesRead.*", "disks", "bytesRead of *", "bytes", worse | sum | process},
	{"disk.writes", "disks", "writes", "count", worse | sum},
	{"disk.bytesWritten", "disks", "bytesWritten", "bytes", worse | sum},
	{"disk.bytesWritten.*", "disks", "bytesWritten of *", "bytes", worse | sum | process},
	{"disk.ms", "disks", "ms", "ms", worse | sum},
	{"disk.serviceMs", "disks", "serviceMs", "ms", worse | sum},
	{"disk.requestMs.*", "requests to disks", "mean ms of disk *", "ms", worse | steady},
	{"disk.requestServiceMs.*", "requests to disks", "mean serviceMs of disk *", "ms", worse | steady},
	{"disk.busyMs", busyArea, "busyMs", "ms", worse | sum},
	{"files.opens", "opened files", "opens", "count", worse | sum},
	{"files.reads", "reads of files", "reads", "count", worse | sum},
	{"files.bytesRead", "reads of files", "bytesRead", "bytes", worse | sum},
	{"files.writes", "writes of files", "writes", "count", worse | sum},
	{"files.bytesWritten", "writes of files", "bytesWritten", "bytes", worse | sum},
	{"faults.count", "hard faults", "count", "count", worse | sum},
	{"faults.bytes", "hard faults", "bytes", "bytes", worse | sum},
	{"faults.ms", "hard faults", "ms", "ms", worse | sum},
	{"faults.ms.*", "hard faults", "ms of *", "ms", worse | sum | process},
	{"network.sent", "network", "sent", "count", sum},
	{"network.bytesSent", "network", "bytesSent", "bytes", sum},
	{"network.bytesSent.*", "network", "bytesSent of *", "bytes", sum | process},
	{"network.received", "network", "received", "count", sum},
	{"network.bytesReceived", "network", "bytesReceived", "bytes", sum},
	{"network.bytesReceived.*", "network", "bytesReceived of *", "bytes", sum | process},
	{"network.retransmits", "network", "retransmits", "count", worse | sum},
}

// Kinds returns all kinds of figures, in the order of areas.
func Kinds() []Kind { return slices.Clone(kinds) }
