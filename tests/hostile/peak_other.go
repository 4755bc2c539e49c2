//go:build !linux

package main

import "os"

// peak returns 0, for it is not known.
func peak(*os.ProcessState) int64 { return 0 }

func forgetPeak() {}
