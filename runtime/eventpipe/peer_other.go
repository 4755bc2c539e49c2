//go:build !linux

package eventpipe

// peerOf returns the number of the process at the other end of a connection, which only Linux
// tells.
func peerOf(conn) int { return 0 }
