package lake

import (
	"fmt"
	"strings"
)

// A duckType is a type as DuckDB writes it.
type duckType struct {
	name    string // LIST and STRUCT for these
	members []member
}

type member struct {
	name string
	typ  duckType
}

// parseType reads a type such as STRUCT(a INTEGER, "b c" VARCHAR[])[].
func parseType(s string) duckType {
	t, rest := readType(s)
	if rest != "" {
		panic("type " + s)
	}
	return t
}

func readType(s string) (duckType, string) {
	var t duckType
	if rest, ok := strings.CutPrefix(s, "STRUCT("); ok {
		t.name = "STRUCT"
		for {
			var m member
			m.name, rest = readName(rest)
			m.typ, rest = readType(strings.TrimPrefix(rest, " "))
			t.members = append(t.members, m)
			if next, more := strings.CutPrefix(rest, ", "); more {
				rest = next
				continue
			}
			s = strings.TrimPrefix(rest, ")")
			break
		}
	} else if strings.HasPrefix(s, "MAP(") {
		t.name, s = "MAP", s[strings.Index(s, ")")+1:]
	} else {
		n := strings.IndexAny(s, "[,)")
		if n < 0 {
			n = len(s)
		}
		t.name, s = s[:n], s[n:]
	}
	for strings.HasPrefix(s, "[]") {
		t, s = duckType{"LIST", []member{{"", t}}}, s[2:]
	}
	return t, s
}

func readName(s string) (name, rest string) {
	if !strings.HasPrefix(s, `"`) {
		n := strings.IndexByte(s, ' ')
		return s[:n], s[n:]
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] == '"' {
			if i+1 < len(s) && s[i+1] == '"' {
				i++
			} else {
				return b.String(), s[i+1:]
			}
		}
		b.WriteByte(s[i])
	}
	panic("name " + s)
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// digest returns an expression for a number that stands for a value, whatever its type:
// an integer for itself, a text for a part of its hash, a list for the sum of its
// elements and their number. A null is 0.
func (t duckType) digest(expr string, depth int) string {
	var e string
	switch t.name {
	case "LIST":
		x := fmt.Sprintf("x%d", depth)
		e = fmt.Sprintf("(len(%s)::HUGEINT + coalesce(list_sum(list_transform(%s, lambda %s: %s)), 0))", expr, expr, x, t.members[0].typ.digest(x, depth+1))
	case "STRUCT":
		var parts []string
		for _, m := range t.members {
			parts = append(parts, m.typ.digest(fmt.Sprintf("struct_extract(%s, '%s')", expr, strings.ReplaceAll(m.name, "'", "''")), depth+1))
		}
		e = "(" + strings.Join(parts, " + ") + ")"
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT":
		e = expr + "::HUGEINT"
	case "BOOLEAN":
		e = expr + "::INTEGER::HUGEINT"
	case "TIMESTAMP WITH TIME ZONE":
		e = "epoch_us(" + expr + ")::HUGEINT"
	case "MAP":
		e = "cardinality(" + expr + ")::HUGEINT"
	case "TIMESTAMP_NS":
		e = "epoch_ns(" + expr + ")::HUGEINT"
	case "FLOAT", "DOUBLE":
		// In millionths, where that is a number of moderate size.
		e = fmt.Sprintf("(CASE WHEN abs(%s::DOUBLE) < 1e9 THEN round(%s::DOUBLE * 1e6) ELSE 0 END)::HUGEINT", expr, expr)
	case "UUID":
		e = "md5_number_lower(" + expr + "::VARCHAR)::HUGEINT"
	default: // VARCHAR, BLOB
		e = "md5_number_lower(" + expr + ")::HUGEINT"
	}
	return "coalesce(" + e + ", 0::HUGEINT)"
}
