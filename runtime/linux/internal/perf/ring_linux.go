package perf

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// A ring is memory that the kernel writes into, of one processor.
type ring struct {
	processor int
	file      int // of the event that it belongs to, or -1
	memory    []byte
}

// ringBytes returns the size of the rings.
func ringBytes(cfg *Config) int {
	pages := max(cfg.RingBytes/os.Getpagesize(), 1)
	return 1 << (bits.Len(uint(pages)) - 1) * os.Getpagesize()
}

// open maps the ring. Before it stands a page with where the kernel writes, and where we
// read.
func (r *ring) open(file, size int) error {
	memory, err := syscall.Mmap(file, 0, os.Getpagesize()+size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if errors.Is(err, syscall.EPERM) {
		return fmt.Errorf("a ring of %d KB for each processor is more memory than the kernel lets a user have (/proc/sys/kernel/perf_event_mlock_kb, or the right CAP_IPC_LOCK): %w",
			size>>10, err)
	}
	if err != nil {
		return os.NewSyscallError("mmap", err)
	}
	r.file, r.memory = file, memory
	return nil
}

// take appends the contents of the ring, and leaves it empty.
func (r *ring) take(out []byte) []byte {
	if r.memory == nil {
		return out
	}
	written, read := (*uint64)(unsafe.Pointer(&r.memory[ringHead])), (*uint64)(unsafe.Pointer(&r.memory[ringTail]))
	head := atomic.LoadUint64(written)
	out = unroll(out, r.memory[os.Getpagesize():], *read, head)
	atomic.StoreUint64(read, head)
	return out
}

func (r *ring) close() error {
	if r.memory == nil {
		return nil
	}
	memory := r.memory
	r.memory = nil
	return os.NewSyscallError("munmap", syscall.Munmap(memory))
}

// online returns the numbers of the processors that run: the kernel lists them as 0-3,8.
func online() ([]int, error) {
	const path = "/sys/devices/system/cpu/online"
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return numbers(path, strings.TrimSpace(string(data)))
}

func numbers(path, list string) ([]int, error) {
	const most = 1 << 16
	var all []int
	for part := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		first, err := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err != nil || err2 != nil || first < 0 || last < first || last >= most {
			return nil, fmt.Errorf("%s: %q is no list of processors", path, list)
		}
		for n := first; n <= last; n++ {
			all = append(all, n)
		}
	}
	return all, nil
}
