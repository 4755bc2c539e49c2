package eventsource_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/internal/ecma335"
	"github.com/etwgen/etwgen/internal/ecma335/ecma335test"
	"github.com/etwgen/etwgen/manifest/eventsource"
)

// A crafted is an assembly that no compiler makes, with a class that is an EventSource.
type crafted struct {
	*ecma335test.Builder
	source, enum, base, write uint16
}

const (
	this, void, i4 = 0x20, 0x01, 0x08
	opLoad0, opRet = 0x02, 0x2a
	opCall, opLdc1 = 0x28, 0x17
	opBranch       = 0x2b // short, as the next
	opIfTrue       = 0x2d
	opSwitch       = 0x45
)

func newCrafted() *crafted {
	c := &crafted{Builder: ecma335test.NewBuilder()}
	c.Row(ecma335.Module, uint16(0), "C.dll", uint16(1), uint16(0), uint16(0))
	c.Row(ecma335.Assembly, uint32(0x8004), uint16(1), uint16(0), uint16(0), uint16(0), uint32(0), []byte(nil), "C", "")
	runtime := c.Row(ecma335.AssemblyRef, uint16(9), uint16(0), uint16(0), uint16(0), uint32(0), []byte(nil), "System.Runtime", "", []byte(nil))
	const tracing = "System.Diagnostics.Tracing"
	c.source = c.Row(ecma335.TypeRef, runtime<<2|2, "EventSource", tracing)
	c.enum = c.Row(ecma335.TypeRef, runtime<<2|2, "Enum", "System")
	c.base = c.Row(ecma335.MemberRef, c.source<<3|1, ".ctor", []byte{this, 0, void})
	c.write = c.Row(ecma335.MemberRef, c.source<<3|1, "WriteEvent", []byte{this, 1, void, i4})
	c.Row(ecma335.TypeDef, uint32(0), "<Module>", "", uint16(0), uint16(1), uint16(1))
	return c
}

// class adds a class that extends another, a coded reference. The methods that follow are its.
func (c *crafted) class(name string, extends uint16, firstMethod int) uint16 {
	return c.Row(ecma335.TypeDef, uint32(1), name, "C", extends, uint16(1), uint16(firstMethod))
}

func (c *crafted) method(name string, sig []byte, il ...byte) uint16 {
	flags := uint16(0x86)
	if name == ".ctor" {
		flags = 0x1886
	}
	return c.Row(ecma335.MethodDef, c.Code(il...), uint16(0), flags, name, sig, uint16(1))
}

// constructed is a class of which the constructor and an event have code.
func constructed(il func(c *crafted) []byte) []byte {
	c := newCrafted()
	c.class("Source", c.source<<2|1, 1)
	code := il(c)
	c.method(".ctor", []byte{this, 0, void}, code...)
	c.method("Event", []byte{this, 0, void}, code...)
	return c.Bytes()
}

func callTo(t ecma335.Table, row uint16) []byte {
	return ecma335test.IL(opLoad0, opCall, ecma335.MakeToken(t, uint32(row)))
}

// assemblies are made to cost more than their size, of some n parts.
var assemblies = map[string]func(n int) []byte{
	"a circle of classes": func(n int) []byte {
		c := newCrafted()
		n = min(n, 8000)
		for i := range n {
			c.class(fmt.Sprint("C", i), uint16((i+1)%n+2)<<2, 1)
		}
		return c.Bytes()
	},
	"a long row of classes": func(n int) []byte {
		c := newCrafted()
		n = min(n, 8000)
		for i := range n {
			c.class(fmt.Sprint("C", i), uint16(i+3)<<2, 1)
		}
		c.class("Last", c.source<<2|1, 1)
		return c.Bytes()
	},
	"classes within each other": func(n int) []byte {
		c := newCrafted()
		n = min(n, 8000)
		for i := range n {
			c.class(fmt.Sprint("C", i), c.source<<2|1, 1)
		}
		for i := range n {
			c.Row(ecma335.NestedClass, uint16(i+2), uint16((i+1)%n+2))
		}
		return c.Bytes()
	},
	"code that loops": func(n int) []byte {
		return constructed(func(*crafted) []byte { return []byte{opBranch, 0xfe} })
	},
	"branches that double": func(n int) []byte {
		return constructed(func(*crafted) []byte {
			return append(slices.Repeat([]byte{opLoad0, opIfTrue, 0}, n), opRet)
		})
	},
	"branches back": func(n int) []byte {
		return constructed(func(*crafted) []byte {
			return append(slices.Repeat([]byte{opLoad0, opIfTrue, 0xfd}, n), opRet)
		})
	},
	"a switch of all": func(n int) []byte {
		return constructed(func(*crafted) []byte {
			il := binary.LittleEndian.AppendUint32([]byte{opLdc1, opSwitch}, uint32(n))
			for range n {
				il = binary.LittleEndian.AppendUint32(il, uint32(-4*n-6))
			}
			return append(il, opRet)
		})
	},
	"a switch of more than there is": func(n int) []byte {
		return constructed(func(*crafted) []byte { return []byte{opLdc1, opSwitch, 0xff, 0xff, 0xff, 0xff, opRet} })
	},
	"a stack that grows": func(n int) []byte {
		return constructed(func(*crafted) []byte { return append(slices.Repeat([]byte{opLdc1}, n), opBranch, 0xfd) })
	},
	"calls of itself": func(n int) []byte {
		return constructed(func(c *crafted) []byte {
			return append(slices.Concat(callTo(ecma335.MethodDef, 1), callTo(ecma335.MethodDef, 2), slices.Repeat(callTo(ecma335.MethodDef, 1), n)), opRet)
		})
	},
	"classes with code that loops": func(n int) []byte {
		c := newCrafted()
		n = min(n, 8000)
		for i := range n {
			c.class(fmt.Sprint("C", i), c.source<<2|1, 2*i+1)
		}
		for range n {
			c.method(".ctor", []byte{this, 0, void}, opBranch, 0xfe)
			c.method("Event", []byte{this, 0, void}, opBranch, 0xfe)
		}
		return c.Bytes()
	},
	"a signature of arrays of arrays":     nestedSignature(0x1d),
	"a signature of pointers to pointers": nestedSignature(0x0f),
	"a signature of generic types":        nestedSignature(0x15, 0x12, 5, 1),
	"a signature of functions":            nestedSignature(0x1b, 0, 0),
	"an enum of itself": func(n int) []byte {
		c := newCrafted()
		c.class("Source", c.source<<2|1, 1)
		c.class("E", c.enum<<2|1, 3)
		c.Row(ecma335.Field, uint16(0x606), "value__", []byte{6, 0x11, 3 << 2})
		c.method(".ctor", []byte{this, 0, void}, append(callTo(ecma335.MemberRef, c.base), opRet)...)
		c.method("Event", []byte{this, 1, void, 0x11, 3 << 2}, append(callTo(ecma335.MemberRef, c.write), opRet)...)
		return c.Bytes()
	},
}

func nestedSignature(part ...byte) func(n int) []byte {
	return func(n int) []byte {
		c := newCrafted()
		c.class("Source", c.source<<2|1, 1)
		c.method(".ctor", []byte{this, 0, void}, append(callTo(ecma335.MemberRef, c.base), opRet)...)
		sig := append([]byte{this, 1, void}, slices.Repeat(part, min(n, 16000/len(part)))...)
		c.method("Event", append(sig, i4), opRet)
		return c.Bytes()
	}
}

// TestCrafted reads assemblies whose code and types lead nowhere, or to themselves: reading
// them ends, in memory in proportion, and the findings make XML.
func TestCrafted(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(assemblies)) {
		for _, n := range []int{1, 100, 3000} {
			data := assemblies[name](n)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for _, semantics := range []eventsource.Semantics{eventsource.Live, eventsource.Strict} {
				sources, err := eventsource.Read("C.dll", data, eventsource.Options{Semantics: semantics, Accidents: true})
				if err == nil {
					wellFormed(t, eventsource.AppendXML(nil, "", sources...))
				}
				if n == 1 {
					t.Logf("%s: %d sources, %v", name, len(sources), err)
				}
			}
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > uint64(8<<20+5000*len(data)) {
				t.Errorf("%s of %d: %d KiB are allocated for %d bytes", name, n, used>>10, len(data))
			}
		}
	}
}
