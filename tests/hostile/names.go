package main

import (
	"math/rand/v2"
	"strings"
)

// hostileNames are names that nobody would choose for something that becomes a Go
// identifier, a string, a comment or a line for a terminal.
var hostileNames = strings.Split(
	// keywords and predeclared names
	"break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var "+
		"any append bool byte cap clear close comparable complex copy delete error false float32 imag int iota len make max min new nil panic print println real recover rune string true uint8 uintptr "+
		// names that generated code declares or imports
		"_ init main p e b n err off ok c r a v i d ptr etw slog binary math iter bytes testing etwtest Testing Etwtest ETWTest Etw Slog Math Iter "+
		"EventDesc DecodePayload AppendPayload FieldValue String LogValue MarshalJSON Seen DecodeVersion EventDescs HasSeen HasString Has Clone All At Len Equal Desc Value "+
		"Provider Events Keyword Task Keywords Levels Maps Tasks Opcodes FuzzEvents TestEvents TestEventsRoundTrip TestEventsTruncate TestEventsAllocs Test Fuzz Benchmark Example "+
		// case variants and names that become one
		"name Name NAME nAME _name Name_ na_me na-me na.me Foo foo FOO foo_V1 Foo_V1 FooV1 foov1 AnyFoo anyFoo Any FooItems Foo_Items ID Id id iD "+
		// beyond ASCII
		"größe Größe ǆ ǅ Ǆ ß ẞ ı İ ſ 𝔘 𝔲 名前 имя اسم שם ª ² Ⅷ ⅷ ª1 é é e\u0301 \u0301e \u202eevil \u200bzero a\u200db \u2066x\u2069 \ufeffbom \u2028 \u0085 \ufffd 👍 "+
		// digits and punctuation
		"1 1a 007 0x1 -1 - -- . .. / \\ \" ' ` ``` $ $(string.x) %1 %%% %n # #1 @ ! ? * ** & < > <a> ]]> <!-- --> ; : :: , () [] {} {{.}} ~ ^ | = == "+
		// code that wants to be run
		"*/func\u00a0init(){panic(1)}/* \n//go:generate\u00a0false \r//go:embed\u00a0x //line\u00a0x:1 `+x+` \"+x+\" x;import\u00a0\"os\" \\x00 \\n \\u202e \x1b[2J \u009b2J =cmd|'/C\u00a0calc'!A0 @SUM(1) +1 .../etc/passwd CON nul.go _test windows_amd64 x_test",
	" ")

// hostileName returns one of the names, something made of them, or nothing.
func hostileName(r *rand.Rand) string {
	pick := func() string { return strings.ReplaceAll(hostileNames[r.IntN(len(hostileNames))], "\u00a0", " ") }
	switch r.IntN(24) {
	case 0:
		return ""
	case 1:
		return strings.Repeat(pick()+"x", 280)[:280]
	case 2:
		return pick() + pick()
	case 3:
		return pick() + " " + pick()
	case 4:
		return "  " + pick() + "\t"
	case 5:
		return strings.ToUpper(pick())
	case 6:
		return strings.ToLower(pick())
	}
	return pick()
}
