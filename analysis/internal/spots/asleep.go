package spots

import "strings"

// Calls of the kernel of Linux, and the ways in which it takes the processor from a thread, as they
// begin: a thread that stopped in the first, and in none of the second, waits.
var (
	calls  = []string{"do_syscall_", "entry_SYSCALL", "x64_sys_", "__x64_sys_", "__do_sys_", "__se_sys_", "el0_svc", "invoke_syscall", "__arm64_sys_"}
	forced = []string{"irqentry_exit", "preempt_schedule", "raw_irqentry_exit", "exit_to_user_mode", "syscall_exit_to_user_mode", "do_notify_resume", "__cond_resched", "dynamic_cond_resched", "__x64_sys_sched_yield", "__arm64_sys_sched_yield", "__do_sys_sched_yield", "el1_interrupt", "el0_interrupt"}
)

// stops takes a frame by its whole name, and reports whether it is one of the kernel of Linux.
func (x *Spot) stops(full string) bool {
	name, ok := strings.CutPrefix(full, "vmlinux!")
	if ok {
		x.called = x.called || begins(name, calls)
		x.forced = x.forced || begins(name, forced)
		if _, call, ok := strings.Cut(name, "64_sys_"); ok {
			x.call = call
		}
	}
	return ok
}

func begins(name string, list []string) bool {
	for _, s := range list {
		if strings.HasPrefix(name, s) {
			return true
		}
	}
	return false
}

// Asleep reports whether a thread that stopped there waits, as far as the kernel tells: it called
// the kernel, which did not just give the processor to another one.
func (x *Spot) Asleep() bool { return x.Waits || x.called && !x.forced }
