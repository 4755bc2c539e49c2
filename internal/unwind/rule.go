package unwind

// registers is how many registers are followed: of x86-64 there are 17 with the address of the
// caller, and of arm64 32 with the pointer of the stack.
const registers = 33

// A kind says where the caller's value of a register is.
type kind uint8

const (
	kept             kind = iota // where it was
	lost                         // nowhere
	atFrame                      // in memory, so far from the frame
	frameItself                  // the frame's address and so much
	inRegister                   // in another register
	atExpression                 // in memory, where an expression says
	expressionItself             // an expression
)

// A rule says how to find the caller's value of a register.
type rule struct {
	kind kind
	n    int64
	code []byte
}

// A row is the rules for one place in the code.
type row struct {
	frame rule // of the frame's address: inRegister plus offset, or an expression
	reg   uint64
	rules [registers]rule
}

// set sets the rule of a register, if it is one that is followed.
func (w *row) set(reg uint64, r rule) {
	if reg < registers {
		w.rules[reg] = r
	}
}

// maxRemembered bounds the rows that a program may put aside.
const maxRemembered = 16

// An interpreter carries out the program of an entry.
type interpreter struct {
	cursor
	*common
	*copied
	at, until uint64
	now       row
	initial   *row
	aside     []row
}

// row returns the rules for a place in the code of an entry.
func (e *Entry) row(at uint64, c *copied) (*row, bool) {
	x := interpreter{cursor: cursor{b: e.common.program}, common: e.common, copied: c, at: e.Begin, until: at}
	if !x.run() {
		return nil, false
	}
	initial := x.now
	x.cursor, x.initial, x.at = cursor{b: e.program}, &initial, e.Begin
	return &x.now, x.run()
}

// run carries out a program up to the place that is asked for.
func (x *interpreter) run() bool {
	for len(x.b) > 0 && x.at <= x.until && !x.bad {
		if !x.step() {
			return false
		}
		op := x.byte()
		low := uint64(op & 0x3f)
		switch op >> 6 {
		case 1:
			x.advance(low)
		case 2:
			x.now.set(low, rule{kind: atFrame, n: int64(x.unsigned()) * x.data})
		case 3:
			x.restore(low)
		default:
			if !x.extendedOp(op) {
				return false
			}
		}
	}
	return !x.bad
}

func (x *interpreter) advance(n uint64) { x.at += n * x.code }

func (x *interpreter) restore(reg uint64) {
	if x.initial != nil && reg < registers {
		x.now.rules[reg] = x.initial.rules[reg]
	}
}

// extendedOp carries out an operation whose number is in all of its byte.
func (x *interpreter) extendedOp(op byte) bool {
	switch op {
	case 0x00, 0x2d: // nothing, and that the address of the caller is signed
	case 0x01:
		x.at = x.fixed(8)
	case 0x02, 0x03, 0x04:
		x.advance(x.fixed(1 << (op - 2)))
	case 0x05:
		reg := x.unsigned()
		x.now.set(reg, rule{kind: atFrame, n: int64(x.unsigned()) * x.data})
	case 0x06:
		x.restore(x.unsigned())
	case 0x07:
		x.now.set(x.unsigned(), rule{kind: lost})
	case 0x08:
		x.now.set(x.unsigned(), rule{kind: kept})
	case 0x09:
		reg := x.unsigned()
		x.now.set(reg, rule{kind: inRegister, n: int64(min(x.unsigned(), registers))})
	case 0x0a:
		if len(x.aside) == maxRemembered {
			return false
		}
		x.aside = append(x.aside, x.now)
	case 0x0b:
		if len(x.aside) == 0 {
			return false
		}
		x.now = x.aside[len(x.aside)-1]
		x.aside = x.aside[:len(x.aside)-1]
	case 0x10, 0x16:
		reg := x.unsigned()
		k := atExpression
		if op == 0x16 {
			k = expressionItself
		}
		x.now.set(reg, rule{kind: k, code: x.take(x.unsigned())})
	case 0x11:
		reg := x.unsigned()
		x.now.set(reg, rule{kind: atFrame, n: x.signed() * x.data})
	case 0x14, 0x15:
		reg := x.unsigned()
		x.now.set(reg, rule{kind: frameItself, n: x.offset(op == 0x15)})
		if op == 0x14 {
			x.now.scale(reg, x.data)
		}
	case 0x2e:
		x.unsigned() // how many arguments are on the stack
	default:
		return x.frameOp(op)
	}
	return true
}

// frameOp carries out an operation that says where the frame is.
func (x *interpreter) frameOp(op byte) bool {
	switch op {
	case 0x0c, 0x12:
		x.now.frame, x.now.reg = rule{kind: inRegister}, x.unsigned()
		x.now.frame.n = x.offset(op == 0x12)
	case 0x0d:
		x.now.reg = x.unsigned()
	case 0x0e, 0x13:
		x.now.frame.n = x.offset(op == 0x13)
	case 0x0f:
		x.now.frame = rule{kind: expressionItself, code: x.take(x.unsigned())}
	default:
		return false
	}
	return true
}

// scale multiplies the offset of a rule.
func (w *row) scale(reg uint64, by int64) {
	if reg < registers {
		w.rules[reg].n *= by
	}
}

// offset takes one that is a number of bytes, or is signed and counts units of data.
func (x *interpreter) offset(scaled bool) int64 {
	if scaled {
		return x.signed() * x.data
	}
	return int64(x.unsigned())
}
