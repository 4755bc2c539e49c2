package ecma335

import "encoding/binary"

// A Body is the code of a method.
type Body struct {
	Code   []byte
	Locals Token // the signature of local variables; zero if there are none
}

const (
	tinyBody   = 2
	fatBody    = 3
	bodyFormat = 3
)

// Body returns the code of a method by its address. The second result is false where
// there is none, or where it is not all in one section.
func (f *Image) Body(rva uint32) (Body, bool) {
	b := f.From(rva)
	if rva == 0 || len(b) == 0 {
		return Body{}, false
	}
	var at, size uint64
	var body Body
	switch b[0] & bodyFormat {
	case tinyBody:
		at, size = 1, uint64(b[0]>>2)
	case fatBody:
		if len(b) < 12 {
			return Body{}, false
		}
		at = 4 * uint64(b[1]>>4)
		size = uint64(binary.LittleEndian.Uint32(b[4:]))
		body.Locals = Token(binary.LittleEndian.Uint32(b[8:]))
	default:
		return Body{}, false
	}
	if at+size > uint64(len(b)) {
		return Body{}, false
	}
	body.Code = b[at : at+size : at+size]
	return body, true
}

// An Opcode is the operation of an instruction. Those of two bytes are 0xfe00 and above.
type Opcode uint16

// An Instruction is one of a method's.
type Instruction struct {
	Op     Opcode
	Offset int
	Next   int // the offset of the instruction behind it
	// Arg is a constant, the number of an argument or local variable, a token, the
	// offset that is branched to, or the bits of a floating point number. For a switch
	// it is the number of targets.
	Arg int64
}

// Instruction reads the instruction at an offset. The second result is false if there
// is invalid, or does not exist.
func (b *Body) Instruction(offset int) (Instruction, bool) {
	if offset < 0 || offset >= len(b.Code) {
		return Instruction{}, false
	}
	in := Instruction{Op: Opcode(b.Code[offset]), Offset: offset}
	at := offset + 1
	if in.Op == 0xfe {
		if at == len(b.Code) {
			return in, false
		}
		in.Op = 0xfe00 | Opcode(b.Code[at])
		at++
	}
	kind := operandOf(in.Op)
	rest := b.Code[at:]
	size := operandSizes[kind]
	if kind == operandNone {
		in.Next = at
		return in, true
	}
	if kind == operandInvalid || len(rest) < size {
		return in, false
	}
	var raw [8]byte
	copy(raw[:], rest[:size])
	v := binary.LittleEndian.Uint64(raw[:])
	in.Arg, in.Next = int64(v), at+size
	switch kind {
	case operandSigned1, operandSigned4:
		in.Arg = signExtend(v, size)
	case operandBranch1, operandBranch4:
		in.Arg = signExtend(v, size) + int64(in.Next)
	case operandSwitch:
		if v*4 > uint64(len(rest)-size) {
			return in, false
		}
		in.Next += int(v) * 4
	}
	return in, true
}

// Target returns where a switch goes for its i-th value.
func (b *Body) Target(in Instruction, i int) int64 {
	table := b.Code[in.Next-4*int(in.Arg):]
	return int64(int32(binary.LittleEndian.Uint32(table[4*i:]))) + int64(in.Next)
}

// An operand is the part of an instruction behind its opcode.
type operand uint8

const (
	operandNone operand = iota
	operandInvalid
	operandUnsigned1
	operandUnsigned2
	operandSigned1
	operandSigned4
	operandEight
	operandToken
	operandFloat4
	operandBranch1
	operandBranch4
	operandSwitch
)

var operandSizes = [...]int{
	operandUnsigned1: 1, operandUnsigned2: 2, operandSigned1: 1, operandSigned4: 4, operandEight: 8,
	operandToken: 4, operandFloat4: 4, operandBranch1: 1, operandBranch4: 4, operandSwitch: 4,
}

// operandRanges has the operands of opcodes from first to last. Others have none.
var operandRanges = []struct {
	first, last Opcode
	kind        operand
}{
	{0x0e, 0x13, operandUnsigned1}, // ldarg.s to stloc.s
	{0x1f, 0x1f, operandSigned1},   // ldc.i4.s
	{0x20, 0x20, operandSigned4},
	{0x21, 0x21, operandEight},
	{0x22, 0x22, operandFloat4},
	{0x23, 0x23, operandEight},
	{0x24, 0x24, operandInvalid},
	{0x27, 0x29, operandToken}, // jmp, call, calli
	{0x2b, 0x37, operandBranch1},
	{0x38, 0x44, operandBranch4},
	{0x45, 0x45, operandSwitch},
	{0x6f, 0x75, operandToken}, // callvirt to isinst
	{0x77, 0x78, operandInvalid},
	{0x79, 0x79, operandToken},
	{0x7b, 0x81, operandToken}, // ldfld to stobj
	{0x8c, 0x8d, operandToken}, // box, newarr
	{0x8f, 0x8f, operandToken},
	{0xa3, 0xa5, operandToken},
	{0xa6, 0xb2, operandInvalid},
	{0xbb, 0xc1, operandInvalid},
	{0xc2, 0xc2, operandToken},
	{0xc4, 0xc5, operandInvalid},
	{0xc6, 0xc6, operandToken},
	{0xc7, 0xcf, operandInvalid},
	{0xd0, 0xd0, operandToken},
	{0xdd, 0xdd, operandBranch4},
	{0xde, 0xde, operandBranch1},
	{0xe1, 0xff, operandInvalid},
	{0xfe06, 0xfe07, operandToken}, // ldftn, ldvirtftn
	{0xfe08, 0xfe08, operandInvalid},
	{0xfe09, 0xfe0e, operandUnsigned2}, // ldarg to stloc
	{0xfe10, 0xfe10, operandInvalid},
	{0xfe12, 0xfe12, operandUnsigned1},
	{0xfe15, 0xfe16, operandToken},
	{0xfe19, 0xfe19, operandUnsigned1},
	{0xfe1b, 0xfe1b, operandInvalid},
	{0xfe1c, 0xfe1c, operandToken},
	{0xfe1f, 0xfeff, operandInvalid},
}

// operandOf returns the operand of an opcode.
func operandOf(op Opcode) operand {
	if op < 0x100 {
		return shortOperands[op]
	}
	return longOperands[op&0xff]
}

var shortOperands, longOperands = func() (short, long [256]operand) {
	for _, r := range operandRanges {
		for op := r.first; op <= r.last; op++ {
			if op < 0x100 {
				short[op] = r.kind
			} else {
				long[op&0xff] = r.kind
			}
		}
	}
	return short, long
}()
