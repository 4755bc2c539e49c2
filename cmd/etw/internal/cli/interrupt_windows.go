package cli

import (
	"os/exec"
	"syscall"
)

// IgnoreInterrupt keeps an interrupt at the terminal, which ends the recording, from
// the program that is recorded.
func IgnoreInterrupt(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
