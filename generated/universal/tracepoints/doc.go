// Package tracepoints describes events of the Linux kernel as recorders write them into
// traces: the kernel's own records, structures of C with text behind them. Traces describe
// them little: it ends at the first text or array, and has wrong widths. Use it to decode
// such events, or to record others.
//
// [Of] has those that many people record, of the scheduler, system calls, page faults,
// memory, disks and the network. It is for [etw.Decoder.Find]. For others, and other
// kernels, [ParseFormat] and [Formats] read a kernel's own description, in files such as
// /sys/kernel/tracing/events/sched/sched_switch/format.
package tracepoints
