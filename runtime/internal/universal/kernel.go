package universal

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/internal/perfmap"
)

// A kernelFunction is one of the kernel's own list.
type kernelFunction struct {
	at   uint64
	name string
}

// ErrNoAddresses says that a list of functions has no addresses: the kernel shows them to
// nobody, or not to who asked.
var ErrNoAddresses = errors.New("it shows no addresses (/proc/sys/kernel/kptr_restrict)")

// InKernel reports whether a stack so far was in the kernel, and tells where that lies.
func (t *Translator) InKernel() bool {
	if len(t.kernel) == 0 || len(t.processes) == 0 {
		return false
	}
	t.mappings++
	m := mapping{id: t.mappings, start: kernelSpace, end: 1<<64 - 1, path: "vmlinux"}
	t.write(ProcessMapping, t.About(t.first()), 0, nil, m.append)
	return true
}

// first returns the process with the smallest number.
func (t *Translator) first() int32 { return slices.Min(slices.Collect(maps.Keys(t.processes))) }

// NameKernel writes the names of those functions of the kernel that are in stacks, of a
// list as the kernel has it, kallsyms. It is called after InKernel.
func (t *Translator) NameKernel(kallsyms io.Reader) error {
	list, err := readKernel(kallsyms)
	if err != nil || len(list) == 0 {
		return cmp.Or(err, ErrNoAddresses)
	}
	pid, last := t.first(), -1
	for _, at := range slices.Sorted(maps.Keys(t.kernel)) {
		i, found := slices.BinarySearchFunc(list, at, func(f kernelFunction, at uint64) int { return cmp.Compare(f.at, at) })
		if !found {
			i-- // the one that begins before
		}
		if i < 0 || i == last || i+1 >= len(list) {
			continue
		}
		last = i
		t.Function(pid, list[i].at, list[i+1].at-list[i].at, list[i].name)
	}
	return nil
}

// readKernel reads lines of address, type and name, and returns the functions by their
// addresses, each once.
func readKernel(r io.Reader) ([]kernelFunction, error) {
	var list []kernelFunction
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 3 || !strings.Contains("tTwW", fields[1]) {
			continue
		}
		if at, err := strconv.ParseUint(fields[0], 16, 64); err == nil && at >= kernelSpace {
			list = append(list, kernelFunction{at, fields[2]})
		}
	}
	order.ByKey(list, func(f *kernelFunction) uint64 { return f.at })
	return slices.CompactFunc(list, func(a, b kernelFunction) bool { return a.at == b.at }), lines.Err()
}

// maxCompiled bounds the names of code that processes compiled.
const maxCompiled = 1 << 20

// NameCompiled writes the names of the code that a process compiled, as its map says last.
func (t *Translator) NameCompiled(pid int32, perfMap io.Reader) error {
	type code struct {
		start, size uint64
		name        string
	}
	var list []code
	last, excess := make(map[uint64]int), false
	err := perfmap.Read(perfMap, func(start, size uint64, name string) {
		c := code{start, size, name}
		if i, known := last[start]; known {
			list[i] = c
		} else if excess = excess || len(list) == maxCompiled; !excess {
			last[start] = len(list)
			list = append(list, c)
		}
	})
	for _, c := range list {
		t.Function(pid, c.start, c.size, c.name)
	}
	if err == nil && excess {
		err = fmt.Errorf("it has more than %d names", maxCompiled)
	}
	return err
}
