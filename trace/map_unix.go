//go:build unix

package trace

import (
	"os"
	"syscall"
)

// A mapping is the content of a file.
type mapping []byte

// mapFile maps a file. A caller that changes the memory of a record, as a filter may that
// blanks it, changes the memory of the process alone.
func mapFile(f *os.File, size int) (mapping, error) {
	m, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE)
	return m, os.NewSyscallError("mmap", err)
}

func (m mapping) Close() error { return os.NewSyscallError("munmap", syscall.Munmap(m)) }
