package main

import (
	"os/exec"
	"syscall"
)

// ignoreInterrupt keeps an interrupt at the terminal, which ends the recording, from
// the program that is recorded.
func ignoreInterrupt(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
