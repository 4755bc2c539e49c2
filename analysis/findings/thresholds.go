package findings

// Thresholds: the values from which on a figure is remarkable, and why.
const (
	// Microsoft calls a tenth of the time in collections much. Below 3 % another cause
	// weighs more in nearly every program.
	muchPaused = 10.0 // percent of the time
	somePaused = 3.0

	// People take an answer within 200 ms for immediate, and health checks and retries
	// begin soon after: a pause alone must not use that up.
	longPause = 200.0 // ms

	// Threads stop within microseconds where code is compiled to be stopped. Longer waits
	// are of a loop without such places, of native code, or of a lack of processors.
	slowSuspend = 20.0 // ms until all threads were stopped

	// Of ten collections most are of generation 0 in a program that does well, so that
	// three of one unusual kind are no accident. Of fewer, shares mean nothing.
	enoughGCs   = 10
	manyOfKind  = 0.3 // of all collections
	leastPaused = 1.0 // ms that threads were stopped for another reason, to be worth a word

	// A heap that grows from a full collection to the next is that of a program that begins, or that
	// forgets to let go. Of less than four, and of less than 20 MB or half of it, nobody can tell; and one
	// that has begun grows less in the second half of the time. Fragments make it fall a little, too.
	enoughFull = 4
	leastGrown = 20.0 // MB
	stillGrown = 0.98 // of the size after the one before

	// A throw costs some 10 to 100 µs and a stack trace: at 20 a second they are part of
	// the normal flow, which exceptions are not for.
	manyExceptions = 20 // a second, at their peak
	// Within a shorter time than this a rate says little.
	leastRateMS = 1000

	// Startup that is slower by half a second is felt: precompiled code would avoid it.
	longCompiling = 500.0 // ms

	// Work starts within a millisecond if a worker is free. The pool injects threads some
	// hundred milliseconds apart: one that waits for as long waits for a new thread.
	longQueue = 100.0 // ms, of the slowest twentieth

	// Of fewer events lost than one in a hundred, counts and sums are still nearly right.
	muchLost = 1.0 // percent of all events

	// A lock that a thread waits for so long, when the trace ends, hardly comes.
	longLocked = 1000.0 // ms

	// A network within a house answers in one millisecond, a disk in ten: a request that takes
	// longer waits for something. From 200 ms on people notice. Of fewer than ten requests the
	// slowest twentieth is one of them, as likely an accident.
	leastRequest   = 10.0  // ms, of the slowest twentieth
	slowRequest    = 200.0 // the same
	enoughRequests = 10

	// A thread that waits for a task does nothing else: where that is a tenth of the time of
	// requests, as many more workers are needed, and the pool adds them slowly.
	muchOnTasks = 10.0 // percent of the time

	// Where processors suffice, threads are ready for some hundredths of the time that they run. A tenth
	// of a second in all is too little to be felt.
	leastReady = 100.0 // ms
	someReady  = 20.0  // percent of the time that threads ran
	muchReady  = 100.0

	// Microsoft wants routines of drivers to end within a tenth of a millisecond; sound stutters from
	// half a one on, and a frame of a screen takes ten.
	longRoutine  = 1.0 // ms
	stuckRoutine = 10.0

	// A disk that turns answers within ten to twenty milliseconds, one of flash within one.
	slowDisk = 50.0 // ms, on average

	// Systems give up a request to a disk after ten seconds and more; one of a second is lost or stuck.
	longUnanswered = 1000.0 // ms

	// Threads that wait for memory stand still: a tenth of the time of one is felt.
	leastFaults = 100.0 // ms
	someFaults  = 10.0  // percent of the time

	// One that has something to answer in more than half of the time is one that a request rather finds
	// busy than not.
	mostlyBusy = 50.0 // percent of the time

	// A sentence names so many kinds of failures.
	failuresNamed = 4
)
