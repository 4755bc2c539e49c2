package symbols

import (
	"strconv"
	"strings"
)

// Short returns the last part of the type and the name, without type arguments, as
// in Oven.Bake.
func (m Method) Short() string {
	if !m.Named() {
		return m.Qualified()
	}
	typ := dropArguments(m.Namespace)
	if i := strings.LastIndexByte(typ, '.'); i >= 0 {
		typ = typ[i+1:]
	}
	if typ == "" {
		return dropArguments(m.Name)
	}
	return typ + "." + dropArguments(m.Name)
}

// dropArguments leaves out type arguments in brackets and numbers of type parameters,
// as the runtime writes them: List`1[System.__Canon].
func dropArguments(name string) string {
	if !strings.ContainsAny(name, "`[") {
		return name
	}
	var b strings.Builder
	depth := 0
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '[':
			depth++
		case c == ']':
			depth = max(depth-1, 0)
		case depth > 0:
		case c == '`':
			for i+1 < len(name) && name[i+1] >= '0' && name[i+1] <= '9' {
				i++
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// Demangled returns the method with the type and name that its source has: the compiler
// makes types and methods of async methods, iterators, lambdas and local functions. Other
// names stay as they are.
func (m Method) Demangled() Method {
	types := splitTypes(m.Namespace)
	// A state machine is a type Outer+<Method>d__5, and runs in MoveNext.
	if last := types[len(types)-1]; len(types) > 1 {
		if method, rest, ok := cutMangled(last); ok && strings.HasPrefix(rest, "d") && m.Name == "MoveNext" {
			m.Namespace, m.Name = strings.Join(types[:len(types)-1], "+"), demangleName(method)
			types = types[:len(types)-1]
		}
	}
	// The methods of closures are in a type Outer+<>c or Outer+<>c__DisplayClass1_0.
	if last := types[len(types)-1]; len(types) > 1 && (last == "<>c" || strings.HasPrefix(last, "<>c__DisplayClass") || strings.HasPrefix(last, "<>c`") || strings.HasPrefix(last, "<>c[")) {
		m.Namespace = strings.Join(types[:len(types)-1], "+")
	}
	m.Name = demangleName(m.Name)
	return m
}

// maxLambdas is how deep lambdas and local functions are named within each other.
const maxLambdas = 16

// demangleName returns the meaning of a name such as <Main>b__0 or <Main>g__Local|1_0.
func demangleName(name string) string { return demangleWithin(name, maxLambdas) }

// demangleWithin is demangleName for a name so many levels from the deepest that is looked at.
func demangleWithin(name string, levels int) string {
	if levels == 0 {
		return name
	}
	method, rest, ok := cutMangled(name)
	if !ok || method == "" || len(rest) < 3 || rest[1:3] != "__" {
		return name
	}
	method = demangleWithin(method, levels-1)
	switch rest[0] {
	case 'b':
		return method + ".lambda" + lambdaNumber(rest[3:])
	case 'g':
		local, _, _ := strings.Cut(rest[3:], "|")
		if local != "" {
			return method + "." + local
		}
	}
	return name
}

// lambdaNumber returns the number of a lambda, which the compiler counts from 0 within the
// method: that of b__0_1 and, in a closure, b__1 is #2. The first has none, so that the only
// one has none. It depends on nothing else, so that every answer has the same name.
func lambdaNumber(ordinals string) string {
	last := ordinals[strings.LastIndexByte(ordinals, '_')+1:]
	end := 0
	for end < len(last) && last[end] >= '0' && last[end] <= '9' {
		end++
	}
	if n, err := strconv.ParseUint(last[:end], 10, 31); err == nil && n > 0 {
		return "#" + strconv.FormatUint(n+1, 10)
	}
	return ""
}

// cutMangled parts <Method>rest. The method may be mangled itself.
func cutMangled(s string) (method, rest string, ok bool) {
	if !strings.HasPrefix(s, "<") {
		return "", "", false
	}
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '<':
			depth++
		case '>':
			if depth--; depth == 0 {
				return s[1:i], s[i+1:], true
			}
		}
	}
	return "", "", false
}

// splitTypes parts the name of a type at the + of nested types, which type arguments
// may have, too.
func splitTypes(name string) []string {
	var parts []string
	depth, begin := 0, 0
	for i := 0; i < len(name); i++ {
		switch name[i] {
		case '[':
			depth++
		case ']':
			depth = max(depth-1, 0)
		case '+':
			if depth == 0 {
				parts = append(parts, name[begin:i])
				begin = i + 1
			}
		}
	}
	return append(parts, name[begin:])
}
