package eventsource

import "github.com/etwgen/etwgen/internal/ecma335"

// Instructions that have a name here, by their short forms.
const (
	ilLdarg0  = 0x02
	ilLdcM1   = 0x15
	ilLdc0    = 0x16
	ilLdc8    = 0x1e
	ilLdcS    = 0x1f
	ilCall    = 0x28
	ilRet     = 0x2a
	ilBranchS = 0x2c // brfalse.s and brtrue.s
	ilBranch  = 0x39 // brfalse and brtrue
)

// The long forms of instructions that have short ones.
const (
	ilLdcI8  = 0x21
	ilLdarg  = 0xfe09
	ilStarg  = 0xfe0b
	ilLdloc  = 0xfe0c
	ilLdloca = 0xfe0d
	ilStloc  = 0xfe0e
)

// longForm returns the instruction that does the same with its number in Arg.
func longForm(i ecma335.Instruction) ecma335.Instruction {
	short := func(op, first ecma335.Opcode) { i.Op, i.Arg = op, int64(i.Op)-int64(first) }
	switch op := i.Op; {
	case op >= 0x02 && op <= 0x05:
		short(ilLdarg, 0x02)
	case op >= 0x06 && op <= 0x09:
		short(ilLdloc, 0x06)
	case op >= 0x0a && op <= 0x0d:
		short(ilStloc, 0x0a)
	case op >= ilLdcM1 && op <= ilLdc8:
		short(ilLdcI8, ilLdc0)
	case op == 0x0e:
		i.Op = ilLdarg
	case op == 0x10:
		i.Op = ilStarg
	case op == 0x11:
		i.Op = ilLdloc
	case op == 0x12:
		i.Op = ilLdloca
	case op == 0x13:
		i.Op = ilStloc
	case op == 0x1f || op == 0x20: // ldc.i4.s, ldc.i4
		i.Op = ilLdcI8
	}
	return i
}
