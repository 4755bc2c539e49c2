// Package types knows the names of the types whose ids other events carry, from the events
// in which the runtime describes each type once in a session. The analyses that show types
// by name share the table.
//
// The keyword Type (0x80000) switches those events on, and GCHeapAndTypeNames
// (0x1000000) the names in them.
package types

import (
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/analysis/internal/hear"
	"github.com/etwgen/etwgen/analysis/internal/lives"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An Analysis collects the types of all runtimes in a trace.
type Analysis struct {
	runtimes lives.Table[map[uint64]Type]
	byKey    map[lives.Key]map[uint64]Type
}

// A Type is the runtime's description of one type.
type Type struct {
	Module     uint64 // id of the module that declares it
	Token      uint32 // of its metadata in there
	Flags      clr.TypeFlags
	Element    clr.CorElementType
	Name       string // "" if the names were not switched on
	Parameters []uint64
}

// Of returns the types that all analyses at a mux share. Its handlers are registered
// when it is first asked for, and so before those of whoever asks.
func Of(mux *etw.Mux) *Analysis { return etw.Shared(mux, begin) }

func begin(mux *etw.Mux) *Analysis {
	a := &Analysis{byKey: make(map[lives.Key]map[uint64]Type)}
	a.runtimes.Watch(mux)
	hear.On(mux, func(r *etw.Record, e *clr.BulkType) {
		rt := a.runtimes.At(r, e.ClrInstanceID)
		if rt.State == nil {
			rt.State = make(map[uint64]Type)
			a.byKey[rt.Key] = rt.State
		}
		for v := range e.Values.All() {
			a.add(rt.State, &v)
		}
	})
	return a
}

func (a *Analysis) add(types map[uint64]Type, v *clr.BulkTypeValue) {
	if old, ok := types[v.TypeID]; ok && (old.Name != "" || v.Name.Len() == 0) {
		return
	}
	t := Type{Module: v.ModuleID, Token: v.TypeNameID, Flags: v.Flags, Element: v.CorElementType, Name: v.Name.String()}
	for p := range v.TypeParameters.All() {
		t.Parameters = append(t.Parameters, p)
	}
	types[v.TypeID] = t
}

// Lookup returns the description of a type of a runtime.
func (a *Analysis) Lookup(k lives.Key, id uint64) (Type, bool) {
	t, ok := a.byKey[k][id]
	return t, ok
}

// maxNesting bounds how deep type parameters are written out. Only damaged
// traces go there.
const maxNesting = 8

// Name returns the name of a type of a runtime. Where it is not known, it is the
// token of the type in its module, or the id, in hexadecimal.
func (a *Analysis) Name(k lives.Key, id uint64) string { return name(a.byKey[k], id, 0) }

func name(types map[uint64]Type, id uint64, depth int) string {
	t, ok := types[id]
	switch {
	case !ok || depth > maxNesting:
		return fmt.Sprintf("type %#x", id)
	case t.Name != "":
		return t.Name
	case t.Flags&clr.TypeFlagsArray != 0 && len(t.Parameters) == 1:
		rank := max(t.Flags.ArrayRank(), 1)
		return name(types, t.Parameters[0], depth+1) + "[" + strings.Repeat(",", rank-1) + "]"
	}
	return fmt.Sprintf("token %#x of module %#x", t.Token, t.Module)
}
