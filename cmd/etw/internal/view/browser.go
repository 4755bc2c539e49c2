package view

import (
	"context"
	"os/exec"
	"runtime"
)

// openBrowser opens an address, if the system has a way. The address is printed in any case.
func openBrowser(ctx context.Context, address string) {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return
	}
	cmd := exec.CommandContext(ctx, path, args...)
	if cmd.Start() == nil {
		go cmd.Wait()
	}
}
