package linux

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A kernelFunction is one of the kernel's own list.
type kernelFunction struct {
	at   uint64
	name string
}

// nameKernel writes the names of those functions of the kernel that are in stacks, as the
// kernel lists them for who may see its addresses.
func (t *translator) nameKernel(path string) error {
	if len(t.kernel) == 0 || len(t.processes) == 0 {
		return nil
	}
	pid := slices.Min(slices.Collect(maps.Keys(t.processes)))
	t.mappings++
	m := mapping{id: t.mappings, start: kernelSpace, end: 1<<64 - 1, path: "vmlinux"}
	t.write(processMapping, t.about(pid), 0, nil, m.append)
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("functions of the kernel have no names: %w", err)
	}
	defer f.Close()
	list, err := readKernel(f)
	if err != nil || len(list) == 0 {
		return cmp.Or(err, fmt.Errorf("functions of the kernel have no names: %s shows no addresses (/proc/sys/kernel/kptr_restrict)", path))
	}
	last := -1
	for _, at := range slices.Sorted(maps.Keys(t.kernel)) {
		i, found := slices.BinarySearchFunc(list, at, func(f kernelFunction, at uint64) int { return cmp.Compare(f.at, at) })
		if !found {
			i-- // the one that begins before
		}
		if i < 0 || i == last || i+1 >= len(list) {
			continue
		}
		last = i
		t.function(pid, list[i].at, list[i+1].at-list[i].at, list[i].name)
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
	slices.SortStableFunc(list, func(a, b kernelFunction) int { return cmp.Compare(a.at, b.at) })
	return slices.CompactFunc(list, func(a, b kernelFunction) bool { return a.at == b.at }), lines.Err()
}
