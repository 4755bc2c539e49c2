package unwind

// maxDepth bounds the values that an expression puts aside.
const maxDepth = 64

// A calculator carries out an expression.
type calculator struct {
	cursor
	all   []byte
	regs  *Registers
	copy  *copied
	stack []uint64
}

// evaluate returns the result of an expression that begins with a value, if it has one.
func evaluate(code []byte, first *uint64, regs *Registers, memory *copied) (uint64, bool) {
	c := calculator{cursor: cursor{b: code}, all: code, regs: regs, copy: memory}
	if first != nil {
		c.push(*first)
	}
	for len(c.b) > 0 {
		if !memory.step() || !c.operation(c.byte()) || c.bad || len(c.stack) > maxDepth {
			return 0, false
		}
	}
	v := c.pop()
	return v, !c.bad
}

func (c *calculator) push(v uint64) { c.stack = append(c.stack, v) }

func (c *calculator) pop() uint64 {
	n := len(c.stack) - 1
	if n < 0 {
		c.bad = true
		return 0
	}
	v := c.stack[n]
	c.stack = c.stack[:n]
	return v
}

// pick pushes the value that lies so deep.
func (c *calculator) pick(n int) {
	if n >= len(c.stack) {
		c.bad = true
		return
	}
	c.push(c.stack[len(c.stack)-1-n])
}

func (c *calculator) register(n uint64, offset int64) {
	v, ok := c.regs.get(n)
	c.bad = c.bad || !ok
	c.push(v + uint64(offset))
}

func (c *calculator) operation(op byte) bool {
	switch {
	case op >= 0x30 && op <= 0x4f:
		c.push(uint64(op - 0x30))
	case op >= 0x70 && op <= 0x8f:
		c.register(uint64(op-0x70), c.signed())
	case op >= 0x08 && op <= 0x0f:
		if size := uint64(1) << ((op - 8) / 2); op%2 == 0 {
			c.push(c.fixed(size))
		} else {
			c.push(c.extended(size))
		}
	case op >= 0x19 && op <= 0x2e && op != 0x28:
		return c.arithmetic(op)
	default:
		return c.other(op)
	}
	return true
}

func (c *calculator) other(op byte) bool {
	switch op {
	case 0x03:
		c.push(c.fixed(8))
	case 0x06, 0x94:
		size := uint64(8)
		if op == 0x94 {
			size = min(uint64(c.byte()), 8)
		}
		v, ok := c.copy.read(c.pop())
		c.bad = c.bad || !ok || size == 0
		c.push(v << (64 - 8*size) >> (64 - 8*size))
	case 0x10:
		c.push(c.unsigned())
	case 0x11:
		c.push(uint64(c.signed()))
	case 0x12:
		c.pick(0)
	case 0x13:
		c.pop()
	case 0x14:
		c.pick(1)
	case 0x15:
		c.pick(int(c.byte()))
	case 0x16:
		a, b := c.pop(), c.pop()
		c.push(a)
		c.push(b)
	case 0x28, 0x2f:
		n := int64(c.extended(2))
		if at := int64(len(c.all)-len(c.b)) + n; op == 0x2f || c.pop() != 0 {
			if at < 0 || at > int64(len(c.all)) {
				return false
			}
			c.b = c.all[at:]
		}
	case 0x92:
		reg := c.unsigned()
		c.register(reg, c.signed())
	case 0x96: // nothing
	default:
		return false
	}
	return true
}

// arithmetic carries out operations on one value or two.
func (c *calculator) arithmetic(op byte) bool {
	b := c.pop()
	switch op {
	case 0x19:
		if int64(b) < 0 {
			b = -b
		}
		c.push(b)
	case 0x1f:
		c.push(-b)
	case 0x20:
		c.push(^b)
	case 0x23:
		c.push(b + c.unsigned())
	default:
		v, ok := combine(op, c.pop(), b)
		c.push(v)
		return ok
	}
	return true
}

// combine returns the result of an operation on two values.
func combine(op byte, a, b uint64) (uint64, bool) {
	x, y := int64(a), int64(b)
	compared := false
	switch op {
	case 0x1a:
		return a & b, true
	case 0x1b:
		return uint64(x / max(y, 1)), y > 0 // nobody divides an address by less
	case 0x1c:
		return a - b, true
	case 0x1d:
		return a % max(b, 1), b > 0
	case 0x1e:
		return a * b, true
	case 0x21:
		return a | b, true
	case 0x22:
		return a + b, true
	case 0x24:
		return a << b, true
	case 0x25:
		return a >> b, true
	case 0x26:
		return uint64(x >> b), true
	case 0x27:
		return a ^ b, true
	case 0x29:
		compared = x == y
	case 0x2a:
		compared = x >= y
	case 0x2b:
		compared = x > y
	case 0x2c:
		compared = x <= y
	case 0x2d:
		compared = x < y
	case 0x2e:
		compared = x != y
	}
	if compared {
		return 1, true
	}
	return 0, true
}
