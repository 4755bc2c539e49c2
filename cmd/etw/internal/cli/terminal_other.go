//go:build !unix && !windows

package cli

import "os"

func isTerminal(*os.File) bool { return false }

func terminalSize(*os.File) (width, height int) { return 0, 0 }

func enableColor(*os.File) bool { return false }

func reportBrokenPipes() {}

func isBrokenPipe(error) bool { return false }
