package eventsource

import (
	"slices"
)

// checkTask complains of events that share both task and opcode, and of opcodes
// without a task. Only strict checks do.
func (b *builder) checkTask(e *Event) {
	same := b.sameTask(e)
	slices.SortStableFunc(same, func(x, y *Event) int { return int(x.ID - y.ID) })
	for _, other := range same {
		b.complain(false, "Event %s (with ID %d) has the same task/opcode pair as event %s (with ID %d).", e.Name, e.ID, other.Name, other.ID)
	}
	if e.Opcode == opcodeInfo {
		return
	}
	if e.Task == 0 || e.Opcode != opcodeStart && e.Opcode != opcodeStop && e.Task == messageTask-e.ID {
		b.complain(false, "Event %s (with ID %d) has a non-default opcode but not a task.", e.Name, e.ID)
	}
}

// A taskOpcode is the pair of a task and an opcode in a running source.
type taskOpcode struct{ task, opcode int64 }

// sameTask returns the earlier events with the task and opcode of e. Those whose id
// another event has taken are gone.
func (b *builder) sameTask(e *Event) []*Event {
	var same []*Event
	for _, other := range b.byTask[taskOpcode{e.Task, e.Opcode}] {
		b.world.step()
		if b.byID[other.ID] == other {
			same = append(same, other)
		}
	}
	return same
}

// plainCode are other instructions that may come before the call of WriteEvent, by
// their first byte, with how many bytes they have behind it.
var plainCode = map[byte]int{
	0x00: 0, 0x01: 0, 0x02: 0, 0x03: 0, 0x04: 0, 0x05: 0, // nop, break, ldarg.0 to ldarg.3
	0x06: 0, 0x07: 0, 0x08: 0, 0x09: 0, 0x0a: 0, 0x0b: 0, 0x0c: 0, 0x0d: 0, // ldloc.0 to stloc.3
	0x0e: 1, 0x10: 1, // ldarg.s, starg.s
	0x14: 0, 0x25: 0, // ldnull, dup
	0x20: 4,                                              // ldc.i4, whose number is not looked at
	0x67: 0, 0x68: 0, 0x69: 0, 0x6a: 0, 0x6d: 0, 0x6e: 0, // conv
	0x8c: 4, 0x8d: 4, 0xa2: 0, // box, newarr, stelem.ref
}

// passedID finds the id that a method passes to WriteEvent in the way that .NET does
// for its check: by simple code alone, and by ids below 256.
func (b *builder) passedID(m *method) (int64, bool) {
	body, ok := b.image.Body(m.RVA)
	if !ok {
		return 0, false
	}
	code, id := body.Code, int64(-1)
	for at := 0; at < len(code); at++ {
		b.world.step()
		afterThis := at > 0 && code[at-1] == ilLdarg0
		switch op := code[at]; op {
		case ilLdcS:
			if afterThis && at+1 < len(code) {
				id = int64(code[at+1])
			}
			at++
		case ilCall:
			at += 4
			if id >= 0 && returns(code, at+1) {
				return id, true
			}
			id = -1
		case ilBranchS, ilBranchS + 1:
			id = -1
			at++
		case ilBranch, ilBranch + 1:
			id = -1
			at += 4
		case 0xfe:
			if at++; at >= len(code) || code[at] >= 6 {
				return 0, false
			}
		default:
			if op >= ilLdcM1 && op <= ilLdc8 {
				if afterThis {
					id = int64(op) - ilLdc0
				}
				continue
			}
			more, known := plainCode[op]
			if !known {
				return 0, false
			}
			at += more
		}
	}
	return 0, false
}

// returns reports whether there is nothing but a return.
func returns(code []byte, at int) bool {
	for ; at < len(code); at++ {
		if code[at] != 0 {
			return code[at] == ilRet
		}
	}
	return false
}

// writes reports whether a method writes the event of an id.
func (c *class) writes(m *method, id int64) bool {
	found := false
	c.walk(m, func(w written) { found = found || w.id == id })
	return found
}
