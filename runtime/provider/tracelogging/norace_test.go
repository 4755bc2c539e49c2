//go:build !race

package tracelogging_test

const raceEnabled = false
