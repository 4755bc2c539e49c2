// Package live has the commands about live processes, and lets the commands about traces
// be about them.
package live
