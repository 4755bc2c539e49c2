package linux

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/internal/unwind"
	"github.com/etwgen/etwgen/runtime/internal/perfevent"
	"github.com/etwgen/etwgen/runtime/internal/universal"
)

// procFile returns the path of a file of the kernel about a process.
func procFile(pid int, name string) string {
	return filepath.Join("/proc", strconv.Itoa(pid), name)
}

// processes returns the numbers of the processes that there are.
func processes() ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// A host looks up facts that the kernel does not tell a Session.
type host struct{ *Session }

func (h host) Meet(r *perfevent.Record) {
	if !h.cfg.SamplesAlone {
		h.snapshot(int(r.PID), r)
	}
}

func (h host) Identify(pid int32, a *universal.Area) string { return identity(int(pid), a) }

func (h host) Code(pid int32, a *universal.Area) *unwind.File { return code(int(pid), a) }

func (h host) NamespacePID(pid int32) uint64 { return namespacePID(int(pid)) }

// snapshot writes the present state of a process. One that has ended meanwhile is left out.
func (s *Session) snapshot(pid int, r *perfevent.Record) {
	name, err := os.ReadFile(procFile(pid, "comm"))
	if err != nil {
		return
	}
	now := &perfevent.Record{PID: int32(pid), Processor: -1, Time: r.Time}
	s.translator.Existing(now, strings.TrimSuffix(string(name), "\n"))
	f, err := os.Open(procFile(pid, "maps"))
	if err != nil {
		return // as of threads of the kernel
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if m, ok := parseArea(lines.Text()); ok {
			s.translator.Map(&m, now)
		}
	}
}

// kernelSpace is where the memory of the kernel begins.
const kernelSpace = 0xffff800000000000

// parseArea reads a line of the kernel's list of areas: addresses, rights, offset, device,
// number of the file, path. It reports whether the area may be in stacks: with code, or
// one that is known to have none.
func parseArea(line string) (a universal.Area, ok bool) {
	var fields [5]string
	for i := range fields {
		fields[i], line, _ = strings.Cut(strings.TrimLeft(line, " "), " ")
	}
	from, to, _ := strings.Cut(fields[0], "-")
	var errs [3]error
	a.Start, errs[0] = strconv.ParseUint(from, 16, 64)
	a.End, errs[1] = strconv.ParseUint(to, 16, 64)
	a.Offset, errs[2] = strconv.ParseUint(fields[2], 16, 64)
	a.Device, a.Path = fields[3]+" "+fields[4], strings.TrimLeft(line, " ")
	if errs != [3]error{} || a.Start >= a.End || a.Start >= kernelSpace {
		return a, false
	}
	return a, strings.Contains(fields[1], "x") || a.Path == "[heap]" || a.Path == "[stack]"
}

// statusLine returns a line of the kernel's status of a process, or "".
func statusLine(pid int, name string) string {
	data, err := os.ReadFile(procFile(pid, "status"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// namespacePID returns the number that a process has for itself.
func namespacePID(pid int) uint64 {
	numbers := strings.Fields(statusLine(pid, "NSpid"))
	if len(numbers) > 0 {
		if n, err := strconv.ParseUint(numbers[len(numbers)-1], 10, 32); err == nil {
			return n
		}
	}
	return uint64(pid)
}
