package spots

import "testing"

// TestAsleep: a thread that called the kernel and stopped there waits, but not one that the kernel
// took its processor from, wherever it was.
func TestAsleep(t *testing.T) {
	for _, c := range []struct {
		waits bool
		call  string
		stack []string
	}{
		{true, "clock_nanosleep", []string{"schedule", "do_nanosleep", "hrtimer_nanosleep", "common_nsleep", "__x64_sys_clock_nanosleep", "do_syscall_64", "entry_SYSCALL_64_after_hwframe"}},
		{true, "futex", []string{"schedule", "futex_wait_queue", "__arm64_sys_futex", "invoke_syscall", "el0_svc"}},
		{false, "", []string{"schedule", "irqentry_exit_to_user_mode", "asm_sysvec_apic_timer_interrupt"}},
		{false, "read", []string{"schedule", "preempt_schedule_irq", "irqentry_exit", "copy_page_to_iter", "__x64_sys_read", "do_syscall_64"}},
		{false, "read", []string{"schedule", "exit_to_user_mode_loop", "syscall_exit_to_user_mode", "__x64_sys_read", "do_syscall_64"}},
		{false, "sched_yield", []string{"schedule", "__x64_sys_sched_yield", "do_syscall_64"}},
		{false, "", []string{"schedule"}},
	} {
		var x Spot
		for _, name := range c.stack {
			if !x.stops("vmlinux!" + name) {
				t.Errorf("%s is none of the kernel", name)
			}
		}
		if x.stops("libc.so.6!do_syscall_64") || x.Asleep() != c.waits || x.call != c.call {
			t.Errorf("%q: waits %v, in %q", c.stack, x.Asleep(), x.call)
		}
	}
}
