package etw

import (
	"strconv"
)

// appendValue appends the result of ValueString.
func (m *MapDesc) appendValue(b []byte, v uint32) []byte {
	if name, ok := m.Lookup(v); ok {
		return append(b, name...)
	}
	if !m.Flags || v == 0 {
		return strconv.AppendUint(b, uint64(v), 10)
	}
	mark := len(b)
	for i := range m.Entries {
		e := &m.Entries[i]
		if e.Value != 0 && v&e.Value == e.Value {
			if len(b) > mark {
				b = append(b, '|')
			}
			b = append(b, e.Name...)
			v &^= e.Value
		}
	}
	if v != 0 {
		if len(b) > mark {
			b = append(b, '|')
		}
		b = strconv.AppendUint(append(b, "0x"...), uint64(v), 16)
	}
	return b
}

// ValueString returns the name of v. Flags are joined with |, and bits without a
// name follow in hexadecimal. A value without a name is a number.
func (m *MapDesc) ValueString(v uint32) string {
	if name, ok := m.Lookup(v); ok {
		return name
	}
	return string(m.appendValue(nil, v))
}

// ValueName is ValueString for a Go type that has the values of the map: one without a
// name is shown as that of stringer is, such as State(2). Flags are as ValueString has them.
func (m *MapDesc) ValueName(goType string, v uint32) string {
	if name, ok := m.Lookup(v); ok {
		return name
	}
	if m.Flags {
		return m.ValueString(v)
	}
	return numbered(goType, uint64(v))
}

// numbered returns the text of a value of a Go type that has no name.
func numbered(goType string, v uint64) string {
	return goType + "(" + strconv.FormatUint(v, 10) + ")"
}
