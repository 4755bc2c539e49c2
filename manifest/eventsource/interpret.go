package eventsource

import (
	"maps"
	"slices"

	"github.com/etwgen/etwgen/internal/ecma335"
)

// How far code is followed.
const (
	mostSteps  = 3000
	mostPaths  = 40
	mostNested = 3 // calls within calls
	mostStack  = 256
)

// An interpreter follows the code of a method over values of which it knows some. It runs
// nothing: others decide on the effect of a call.
type interpreter struct {
	*assembly
	body  ecma335.Body
	steps int
	paths []state

	// call is asked for the result of a call. If stop is set, the path ends.
	call func(c *call) (result value, stop bool)
	// load and store are asked for static fields, and returned for results.
	load  func(field ecma335.Token) value
	store func(field ecma335.Token, v value)
	done  func(result value)
}

// A state is where a path is.
type state struct {
	at     int
	stack  []value
	args   []value
	locals map[int64]value
}

func (s *state) clone() state {
	return state{s.at, slices.Clone(s.stack), slices.Clone(s.args), maps.Clone(s.locals)}
}

func (s *state) push(v value) { s.stack = append(s.stack, v) }

func (s *state) pop() value {
	if len(s.stack) == 0 {
		return value{}
	}
	v := s.stack[len(s.stack)-1]
	s.stack = s.stack[:len(s.stack)-1]
	return v
}

// A call is one that code makes: of a method or, by newobj, of a constructor.
type call struct {
	new    bool
	method ecma335.Token
	parent ecma335.Token
	name   string
	sig    *ecma335.MethodSig
	this   value
	args   []value
}

// run follows a method. It reports whether all paths were followed to their end.
func (in *interpreter) run(method ecma335.MethodRow, args []value) bool {
	body, ok := in.image.Body(method.RVA)
	if !ok {
		return false
	}
	in.body = body
	in.paths = []state{{args: args, locals: make(map[int64]value)}}
	for count := 0; len(in.paths) > 0; count++ {
		if count == mostPaths {
			return false
		}
		s := in.paths[len(in.paths)-1]
		in.paths = in.paths[:len(in.paths)-1]
		if !in.follow(&s) {
			return false
		}
	}
	return true
}

// follow follows one path to its end.
func (in *interpreter) follow(s *state) bool {
	for {
		in.world.step()
		if in.steps++; in.steps > mostSteps || len(s.stack) > mostStack {
			return false
		}
		i, ok := in.body.Instruction(s.at)
		if !ok {
			return false
		}
		s.at = i.Next
		more, ok := in.step(s, i)
		if !ok {
			return false
		}
		if !more {
			return true
		}
	}
}

// fork has another path begin where this one is.
func (in *interpreter) fork(s *state, target int64) {
	in.world.charge(64 * (len(s.stack) + len(s.args) + len(s.locals)))
	other := s.clone()
	other.at = int(target)
	in.paths = append(in.paths, other)
}

// step does one instruction. It reports whether the path goes on, and whether the
// instruction is known.
func (in *interpreter) step(s *state, i ecma335.Instruction) (more, known bool) {
	switch op := i.Op; {
	case op >= 0x2b && op <= 0x45 || op == 0xdd || op == 0xde:
		in.branch(s, i)
		return true, true
	case op == 0x2a: // ret
		if in.done != nil {
			in.done(s.pop())
		}
		return false, true
	case op == 0x7a || op == 0xdc || op == 0xfe11 || op == 0xfe1a: // throw, endfinally, endfilter, rethrow
		return false, true
	case op == 0x28 || op == 0x6f || op == 0x73:
		return in.doCall(s, i)
	case in.access(s, i):
	default:
		return true, in.compute(s, i)
	}
	return true, true
}

// branch goes on elsewhere, or both there and here.
func (in *interpreter) branch(s *state, i ecma335.Instruction) {
	switch op := i.Op; {
	case op == 0xdd || op == 0xde: // leave
		s.stack = nil
		s.at = int(i.Arg)
	case op == 0x2b || op == 0x38: // br
		s.at = int(i.Arg)
	case op == 0x45: // switch
		v := s.pop()
		if v.kind == integer {
			if v.n >= 0 && v.n < i.Arg {
				s.at = int(in.body.Target(i, int(v.n)))
			}
			return
		}
		for n := range min(int(i.Arg), mostPaths) {
			in.fork(s, in.body.Target(i, n))
		}
	default:
		var b value
		if op != 0x2c && op != 0x2d && op != 0x39 && op != 0x3a {
			b = s.pop()
		}
		yes, known := taken(op, s.pop(), b)
		switch {
		case !known:
			in.fork(s, i.Arg)
		case yes:
			s.at = int(i.Arg)
		}
	}
}

// doCall does a call, as far as call tells the result.
func (in *interpreter) doCall(s *state, i ecma335.Instruction) (more, known bool) {
	c := &call{new: i.Op == 0x73, method: ecma335.Token(i.Arg)}
	var signature []byte
	c.parent, c.name, signature = in.MethodOf(c.method)
	in.world.charge(16 * len(signature))
	sig, ok := ecma335.MethodSignature(signature)
	if !ok || len(sig.Params) > mostStack {
		return false, false
	}
	c.sig = sig
	c.args = make([]value, len(sig.Params))
	for n := len(c.args) - 1; n >= 0; n-- {
		c.args[n] = s.pop()
	}
	if sig.HasThis() && !c.new {
		c.this = s.pop()
	}
	result, stop := in.call(c)
	if c.new || sig.Return.Unmodified().Kind != ecma335.Void {
		s.push(result)
	}
	return !stop, true
}

// access does an instruction that moves a value, and reports whether it is one.
func (in *interpreter) access(s *state, i ecma335.Instruction) bool {
	switch i = longForm(i); i.Op {
	case ilLdarg:
		s.push(s.arg(i.Arg))
	case ilStarg:
		if v := s.pop(); i.Arg < int64(len(s.args)) {
			s.args[i.Arg] = v
		}
	case ilLdloc:
		s.push(s.locals[i.Arg])
	case ilStloc:
		s.locals[i.Arg] = s.pop()
	case ilLdloca: // who has the address can change it
		delete(s.locals, i.Arg)
		s.push(value{})
	case 0x14: // ldnull
		s.push(value{kind: null})
	case ilLdcI8:
		s.push(value{kind: integer, n: i.Arg})
	case 0x25: // dup
		v := s.pop()
		s.push(v)
		s.push(v)
	case 0x72: // ldstr
		t, ok := in.UserString(ecma335.Token(i.Arg))
		if !ok {
			s.push(value{})
			break
		}
		in.world.charge(len(t))
		s.push(value{kind: text, s: t})
	case 0x7e: // ldsfld
		s.push(in.load(ecma335.Token(i.Arg)))
	case 0x80: // stsfld
		in.store(ecma335.Token(i.Arg), s.pop())
	case 0x8c: // box
		v := s.pop()
		v.boxed = ecma335.Token(i.Arg)
		s.push(v)
	case 0x8d: // newarr
		s.push(newArray(s.pop()))
	case 0x9b, 0x9c, 0x9d, 0x9e, 0x9f, 0xa0, 0xa1, 0xa2, 0xa4: // stelem
		elem, at := s.pop(), s.pop()
		s.pop().store(at, elem)
	default:
		return false
	}
	return true
}

func (s *state) arg(i int64) value {
	if i < int64(len(s.args)) {
		return s.args[i]
	}
	return value{}
}

// effects has the numbers of values that instructions without a meaning here take from the
// stack, and leave there, by ranges.
var effects = []struct {
	first, last ecma335.Opcode
	pop, push   int
}{
	{0x00, 0x01, 0, 0},     // nop, break
	{0x0f, 0x0f, 0, 1},     // ldarga.s
	{0x22, 0x23, 0, 1},     // ldc.r4, ldc.r8
	{0x26, 0x26, 1, 0},     // pop
	{0x46, 0x50, 1, 1},     // ldind
	{0x51, 0x57, 2, 0},     // stind
	{0x65, 0x66, 1, 1},     // neg, not
	{0x70, 0x70, 2, 0},     // cpobj
	{0x71, 0x71, 1, 1},     // ldobj
	{0x75, 0x75, 1, 1},     // isinst
	{0x76, 0x76, 1, 1},     // conv.r.un
	{0x79, 0x79, 1, 1},     // unbox
	{0x7b, 0x7c, 1, 1},     // ldfld, ldflda
	{0x7d, 0x7d, 2, 0},     // stfld
	{0x7f, 0x7f, 0, 1},     // ldsflda
	{0x81, 0x81, 2, 0},     // stobj
	{0x8e, 0x8e, 1, 1},     // ldlen
	{0x8f, 0x9a, 2, 1},     // ldelema, ldelem
	{0xa3, 0xa3, 2, 1},     // ldelem
	{0xc2, 0xc3, 1, 1},     // refanyval, ckfinite
	{0xc6, 0xc6, 1, 1},     // mkrefany
	{0xd0, 0xd0, 0, 1},     // ldtoken
	{0xdf, 0xdf, 2, 0},     // stind.i
	{0xfe00, 0xfe00, 0, 1}, // arglist
	{0xfe06, 0xfe06, 0, 1}, // ldftn
	{0xfe07, 0xfe07, 1, 1}, // ldvirtftn
	{0xfe0a, 0xfe0a, 0, 1}, // ldarga
	{0xfe0f, 0xfe0f, 1, 1}, // localloc
	{0xfe12, 0xfe14, 0, 0}, // prefixes
	{0xfe15, 0xfe15, 1, 0}, // initobj
	{0xfe16, 0xfe16, 0, 0}, // constrained
	{0xfe17, 0xfe18, 3, 0}, // cpblk, initblk
	{0xfe19, 0xfe19, 0, 0}, // no
	{0xfe1c, 0xfe1c, 0, 1}, // sizeof
	{0xfe1d, 0xfe1d, 1, 1}, // refanytype
	{0xfe1e, 0xfe1e, 0, 0}, // readonly
}

// compute does an instruction that computes, and reports whether it is known.
func (in *interpreter) compute(s *state, i ecma335.Instruction) bool {
	switch op := i.Op; {
	case op >= 0x67 && op <= 0x6e, op >= 0x82 && op <= 0x8b, op >= 0xb3 && op <= 0xba,
		op >= 0xd1 && op <= 0xd5, op == 0xe0, op == 0x74, op == 0xa5: // conversions and casts
		return true
	case op >= 0x58 && op <= 0x64, op >= 0xd6 && op <= 0xdb, op >= 0xfe01 && op <= 0xfe05:
		b := s.pop()
		s.push(combine(op, s.pop(), b))
		return true
	}
	for _, e := range effects {
		if i.Op < e.first || i.Op > e.last {
			continue
		}
		for range e.pop {
			s.pop()
		}
		for range e.push {
			s.push(value{})
		}
		return true
	}
	return false
}
