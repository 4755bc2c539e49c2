package adapters

import (
	winio "github.com/Microsoft/go-winio/pkg/etw"

	"github.com/etwgen/etwgen/runtime/etw"
)

// Write writes an event by a provider of go-winio: its fields with their names, as an
// event that describes itself, with the level, the opcode and the keywords of ours.
func Write(p *winio.Provider, e etw.Described) error {
	d := e.EventDesc()
	return p.WriteEvent(d.Title(), []winio.EventOpt{
		winio.WithLevel(winio.Level(d.Level)), winio.WithOpcode(winio.Opcode(d.Opcode)), winio.WithKeyword(d.Keywords),
	}, Fields(e))
}

// Fields returns the fields of an event. Those that go-winio has no type for are text.
func Fields(e etw.Described) []winio.FieldOpt {
	var list []winio.FieldOpt
	for name, v := range etw.Fields(e) {
		switch v.Kind() {
		case etw.ValueInt:
			list = append(list, winio.Int64Field(name, v.Int()))
		case etw.ValueUint:
			list = append(list, winio.Uint64Field(name, v.Uint()))
		case etw.ValueFloat, etw.ValueFloat32:
			list = append(list, winio.Float64Field(name, v.Float()))
		case etw.ValueBool:
			list = append(list, winio.BoolField(name, v.Bool()))
		default:
			list = append(list, winio.StringField(name, v.Text()))
		}
	}
	return list
}
