package perfdata

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"

	"github.com/etwgen/etwgen/runtime/internal/perfevent"
)

// An attr is perf's request to the kernel: perf_event_attr.
type attr struct {
	kind        uint32
	size        int
	config      uint64
	period      uint64 // or how often in a second
	isFrequency bool
	switches    bool // the kernel tells of switches
	layout      perfevent.Layout
}

// The kinds of events, and the numbers of some.
const (
	kindHardware   = 0
	kindSoftware   = 1
	kindTracepoint = 2

	cycles, refCycles = 0, 9

	cpuClock, taskClock, contextSwitches, minorFaults, majorFaults = 0, 1, 3, 5, 6
)

// attrLeast is the size of the first version.
const attrLeast = 64

// parseAttr reads the begin of b. Fields that an older version lacks are 0.
func parseAttr(b []byte, order binary.ByteOrder) (a attr, ok bool) {
	const isFrequency, idsAll, contextSwitch = 1 << 10, 1 << 18, 1 << 26
	if len(b) < attrLeast {
		return a, false
	}
	a.size = cmp.Or(int(order.Uint32(b[4:])), attrLeast)
	if a.size < attrLeast || a.size > len(b) {
		return a, false
	}
	var full [96]byte
	copy(full[:], b[:a.size])
	a.kind, a.config, a.period = order.Uint32(full[:]), order.Uint64(full[8:]), order.Uint64(full[16:])
	flags := flagBits(full[40:48], order)
	a.isFrequency, a.switches = flags&isFrequency != 0, flags&contextSwitch != 0
	a.layout = perfevent.Layout{Order: order, All: flags&idsAll != 0, Parts: order.Uint64(full[24:]), ReadFormat: order.Uint64(full[32:]),
		Branches: order.Uint64(full[72:]), Registers: order.Uint64(full[80:]), CodeRegister: 64}
	return a, true
}

// flagBits reads a row of flags, which compilers lay out from the lowest bit of the first byte
// on, and for big-endian machines from the highest.
func flagBits(b []byte, order binary.ByteOrder) uint64 {
	if order == binary.BigEndian {
		b = bytes.Clone(b)
		for i := range b {
			b[i] = bits.Reverse8(b[i])
		}
	}
	return binary.LittleEndian.Uint64(b)
}

// codeRegisters are the numbers of the registers that have the address of the code.
var codeRegisters = map[string]int{"x86_64": 8, "i686": 8, "i386": 8, "aarch64": 32, "arm": 15, "armv7l": 15, "riscv64": 0, "ppc64": 32, "ppc64le": 32, "s390x": 33}
