//go:build unix

package cli

import (
	"os/exec"
	"syscall"
)

// IgnoreInterrupt keeps an interrupt at the terminal, which ends the recording, from
// the program that is recorded.
func IgnoreInterrupt(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
