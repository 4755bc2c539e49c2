package peers

import "github.com/etwgen/etwgen/generated/clr"

type peerThreadPool struct {
	Counts      map[string]int
	Adjustments []struct {
		MS, Throughput float64
		Count          uint32
		Reason         clr.ThreadAdjustmentReason
	}
}

func compareThreadPool(s *sheet) {
	theirs := &s.theirs.ThreadPool
	if len(theirs.Counts) == 0 {
		for _, rt := range s.ours.ThreadPool.Runtimes { // TraceEvent does not count events of the queue
			s.equal("changes of workers", rt.Started+rt.Stopped+rt.Waited+rt.WorkersRequested+len(rt.Adjustments), 0)
		}
		return
	}
	counts := map[string]int{}
	at := 0
	for _, rt := range s.ours.ThreadPool.Runtimes { // one a trace in the corpus
		counts["ThreadPoolWorkerThread/Start"] += rt.Started
		counts["ThreadPoolWorkerThread/Stop"] += rt.Stopped
		counts["ThreadPoolWorkerThread/Wait"] += rt.Waited
		counts["ThreadPool/Enqueue"] += rt.WorkersRequested
		counts["ThreadPool/Dequeue"] += rt.WorkersGranted
		counts["ThreadPool/IOEnqueue"] += rt.IOEnqueued
		counts["ThreadPool/IODequeue"] += rt.IODequeued
		counts["ThreadPoolWorkerThreadAdjustment/Adjustment"] += len(rt.Adjustments)
		counts["ThreadPoolWorkerThreadAdjustment/Sample"] += rt.ThroughputPerSec.Count
		for _, a := range rt.Adjustments {
			if at == len(theirs.Adjustments) {
				break
			}
			p := &theirs.Adjustments[at]
			s.near("time of an adjustment", a.AtMS, p.MS)
			s.equal("workers", a.Workers, p.Count)
			s.equal("reason", a.Reason, p.Reason.String())
			at++
		}
	}
	for name, n := range counts {
		s.equal(name, n, theirs.Counts[name])
	}
}
