package eventpipe

import "syscall"

// peerOf returns the number of the process at the other end of a connection, as this process
// sees it, or 0.
func peerOf(c conn) (pid int) {
	s, ok := c.(syscall.Conn)
	if !ok {
		return 0
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(file uintptr) {
		if peer, err := syscall.GetsockoptUcred(int(file), syscall.SOL_SOCKET, syscall.SO_PEERCRED); err == nil {
			pid = int(peer.Pid)
		}
	})
	return pid
}
