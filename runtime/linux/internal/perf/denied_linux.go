package perf

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Rights that a process needs to see others, and the kernel: bits of its rights.
const (
	rightAdmin = 1 << 21 // CAP_SYS_ADMIN
	rightPerf  = 1 << 38 // CAP_PERFMON
)

// explain says why the kernel opens no event.
func explain(err error, tid int) error {
	switch {
	case errors.Is(err, syscall.ESRCH):
		return fmt.Errorf("perf_event_open: no process or thread has the number %d: %w", tid, err)
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return fmt.Errorf("perf_event_open: each thread takes two files for each processor, and one more for each tracepoint, and no more may be open (ulimit -n); record the whole machine, or fewer tracepoints: %w", err)
	case errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.EOPNOTSUPP):
		return fmt.Errorf("perf_event_open: the kernel was built without it, or a sandbox has none: %w", err)
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		rights, filtered := status()
		return fmt.Errorf("perf_event_open: %s: %w", forbidden(rights, filtered, paranoia()), err)
	}
	return os.NewSyscallError("perf_event_open", err)
}

// forbidden says which right is missing, or the other obstacle.
func forbidden(rights uint64, filtered bool, paranoid string) string {
	switch {
	case rights&(rightAdmin|rightPerf) == 0:
		return fmt.Sprintf("it takes root, or the right CAP_PERFMON, since /proc/sys/kernel/perf_event_paranoid is %s", paranoid)
	case filtered:
		return "this process has the right, but a seccomp filter forbids the call, as that of a container does: run outside of it, or with a profile that allows perf_event_open"
	}
	return "this process has the right, but a security module (SELinux, lockdown) or the namespace of users it is in forbids it"
}

// status reads the rights of this process, and whether a filter looks at its calls.
func status() (rights uint64, filtered bool) {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch name {
		case "CapEff":
			rights, _ = strconv.ParseUint(value, 16, 64)
		case "Seccomp":
			filtered = value == "2"
		}
	}
	return rights, filtered
}

// paranoia reads how much the kernel lets users see who are not root.
func paranoia() string {
	data, err := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	if err != nil {
		return "not there"
	}
	return strings.TrimSpace(string(data))
}
