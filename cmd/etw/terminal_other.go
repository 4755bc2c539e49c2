//go:build !unix && !windows

package main

import "os"

func isTerminal(*os.File) bool { return false }

func enableColor(*os.File) bool { return false }

func reportBrokenPipes() {}

func isBrokenPipe(error) bool { return false }
