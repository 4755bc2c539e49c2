package main

import (
	"os"
	"runtime/debug"
	"syscall"
)

// peak returns the memory that a process had at most.
func peak(p *os.ProcessState) int64 {
	if u, ok := p.SysUsage().(*syscall.Rusage); ok {
		return int64(u.Maxrss) << 10
	}
	return 0
}

// forgetPeak has this process give its memory back, and forget how much that was: a process that
// it starts begins with its peak.
func forgetPeak() {
	debug.FreeOSMemory()
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}
