package threadpool

import "github.com/etwgen/etwgen/analysis/measure"

// Schema is the version of the JSON form of a [Result]. Fields may be added to a
// version; one that is removed, or changes its meaning, makes a new version.
const Schema = 2

// A Result holds the thread pools in a trace.
type Result struct {
	Schema   int        `json:"schema"`
	Runtimes []*Runtime `json:"runtimes"`
}

// A Runtime is one .NET runtime in one process.
type Runtime struct {
	PID         int64  `json:"pid"`
	CLRInstance uint16 `json:"clrInstance"`
	Life        int    `json:"life,omitempty"`

	// Workers is the number of active worker threads over time.
	Workers     measure.Levels `json:"workers"`
	MaxWorkers  int            `json:"maxWorkers"`
	LastWorkers int            `json:"lastWorkers"`
	Started     int            `json:"started"` // worker threads
	Stopped     int            `json:"stopped"`
	Waited      int            `json:"waited"` // times that one had nothing to do
	// Limits are those that were set last.
	Limits *Limits `json:"limits,omitempty"`

	// Adjustments are the changes of the wished number of workers, in order.
	Adjustments []Adjustment `json:"adjustments"`
	Reasons     []Reason     `json:"reasons"`
	// ThroughputPerSec is that of finished work items, as the pool measured it. It measures as
	// often as it likes: the mean is over time, all else is of measurements.
	ThroughputPerSec measure.Summary `json:"throughputPerSec"`

	// Queue is nil if no event of it was recorded.
	Queue *Queue `json:"queue,omitempty"`
	// WorkersRequested is how often the pool of .NET Core 3.1 and before asked the runtime for
	// a worker, which is no piece of work, and WorkersGranted how often one came.
	WorkersRequested int `json:"workersRequested,omitempty"`
	WorkersGranted   int `json:"workersGranted,omitempty"`
	IOEnqueued       int `json:"ioEnqueued,omitempty"`
	IODequeued       int `json:"ioDequeued,omitempty"`
	IOThreads        int `json:"ioThreads,omitempty"` // at the last change

	Starvation *Starvation `json:"starvation,omitempty"`
}

// A Queue counts work items: those that came, those that were begun, and those that were not: they
// wait at the end, or a thread that waited for them ran them, of which no event tells.
// WaitMS is how long those waited of which both events were seen, in a part of the time the part
// within. ByOrder of them went by an address, which a collection changed while they waited
// (.NET Core 3.1): they are told in the order in which they came, so that the sum is theirs, and how it
// is shared out between them is not.
type Queue struct {
	Enqueued int `json:"enqueued"`
	Dequeued int `json:"dequeued"`
	// Before is how many were begun that came before the recording and waited on in it for long, BeforeMS
	// for how long at least.
	Before   int             `json:"before,omitempty"`
	BeforeMS float64         `json:"beforeMs,omitempty"`
	Waiting  int             `json:"waiting"`
	ByOrder  int             `json:"byOrder,omitempty"`
	WaitMS   measure.Summary `json:"waitMs"`
}

// Limits are the least and the most threads that the pool may have.
type Limits struct {
	MinWorkers int `json:"minWorkers"`
	MaxWorkers int `json:"maxWorkers"`
	MinIO      int `json:"minIO"`
	MaxIO      int `json:"maxIO"`
}

// An Adjustment is a change of the wished number of workers.
type Adjustment struct {
	AtMS             float64       `json:"atMs"`
	Workers          uint32        `json:"workers"` // from now on
	Reason           string        `json:"reason"`
	ThroughputPerSec measure.Float `json:"throughputPerSec,omitzero"`
}

// A Reason is how often the number of workers was changed for it.
type Reason struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}

// Starvation says that work waited since all workers were blocked, and why that is
// thought.
type Starvation struct {
	// Because has the signs: "Starvation" adjustments, which the pool makes if no
	// work was taken for half a second; repeated "CooperativeBlocking" ones, which
	// make up for workers that wait for tasks, if work waited for long meanwhile or the trace does not tell;
	// and long times in the queue, which count whole in a part of the time, too.
	Because []string `json:"because"`
	// Unsure says that workers were blocked, and nothing tells whether work waited for one.
	Unsure bool `json:"unsure,omitempty"`
	// Times is how many times, apart from each other, had such adjustments or work that waited for long.
	// FirstMS and LastMS bound the longest of them, WorkersBefore and WorkersAfter are the numbers of
	// workers before its adjustments and after that with most. One that lowers their number does not
	// count: the pool gives back the workers added for blocked ones.
	Times         int           `json:"times"`
	FirstMS       measure.Float `json:"firstMs,omitzero"`
	LastMS        measure.Float `json:"lastMs,omitzero"`
	WorkersBefore measure.Float `json:"workersBefore,omitzero"`
	WorkersAfter  measure.Float `json:"workersAfter,omitzero"`
	// BlockedMS is how long workers were blocked meanwhile, all together, by samples of threads
	// that found them in one place for ten milliseconds or longer, in which they waited, or in native
	// code, of which nothing tells whether it does; it is not known without samples.
	// Holders are the code that they were blocked in, the longest first.
	BlockedMS measure.Float `json:"blockedMs,omitzero"`
	Holders   []Holder      `json:"holders,omitempty"`
}

// A Holder is code that blocked workers while the pool starved.
type Holder struct {
	Name      string  `json:"name"` // the call that waits, and the method of the program that it is in
	BlockedMS float64 `json:"blockedMs"`
	Percent   float64 `json:"percent"` // of the time of all that were blocked
}
