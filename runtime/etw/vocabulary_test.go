package etw

import (
	"strconv"
	"strings"
	"testing"
)

// Whatever String returns, Parse reads.
func TestVocabularyRoundTrips(t *testing.T) {
	for n := range 256 {
		l, o := Level(n), Opcode(n)
		for _, s := range []string{l.String(), strings.ToLower(l.String()), "win:" + l.String(), strconv.Itoa(n), "0x" + strconv.FormatInt(int64(n), 16)} {
			if got, ok := ParseLevel(s); strings.HasPrefix(s, "win:") && l > LevelVerbose {
				if ok {
					t.Errorf("level %q is %d, want none", s, got)
				}
			} else if got != l || !ok {
				t.Errorf("level %q is %d, %v; want %d", s, got, ok, l)
			}
		}
		for _, s := range []string{o.String(), strings.ToUpper(o.String()), strconv.Itoa(n)} {
			if got, ok := ParseOpcode(s); got != o || !ok {
				t.Errorf("opcode %q is %d, %v; want %d", s, got, ok, o)
			}
		}
		if got, ok := ParseOpcode("win:" + o.String()); ok != (o.Name() != "") || ok && got != o {
			t.Errorf("opcode win:%v is %d, %v", o, got, ok)
		}
		if (o.Name() == "") != (o.String() == strconv.Itoa(n)) {
			t.Errorf("opcode %d has name %q and text %q", n, o.Name(), o)
		}
		in, known := ParseInType(InType(n).String())
		if want := n > 0 && n <= int(InCountedBinary) && n != int(InStruct); known != want || known && in != InType(n) {
			t.Errorf("inType %v is %d, %v; want %d, %v", InType(n), in, known, n, want)
		}
		out, known := ParseOutType(OutType(n).String())
		if want := n > 0 && n <= int(OutDateTimeUTC); known != want || known && out != OutType(n) {
			t.Errorf("outType %v is %d, %v; want %d, %v", OutType(n), out, known, n, want)
		}
	}
}

func TestVocabularyNames(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{LevelInformational.String(), "Informational"},
		{Level(16).String(), "16"},
		{OpcodeDCStart.String(), "DC_Start"},
		{OpcodeReceive.String(), "Receive"},
		{Opcode(10).String(), "10"},
		{InUInt32.String(), "win:UInt32"},
		{InFileTime.String(), "win:FILETIME"},
		{InStruct.String(), "struct"},
		{InVarInt.String(), "varint"},
		{InType(0x3f).String(), "63"},
		{InType(0xfe).String(), "254"},
		{OutDefault.String(), ""},
		{OutHexInt32.String(), "win:HexInt32"},
		{OutType(39).String(), "39"},
		{ValueFileTime.String(), "FileTime"},
		{ValueKind(99).String(), "unknown"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
	for _, s := range []string{"", "win:", "Verbos", "256", "-1", "0x", "0x100", "1_0", "Level"} {
		if l, ok := ParseLevel(s); ok || l != 0 {
			t.Errorf("level %q is %v", s, l)
		}
		if o, ok := ParseOpcode(s); ok || o != 0 {
			t.Errorf("opcode %q is %v", s, o)
		}
	}
	for _, s := range []string{"", "UInt32", "win:uint32", "win:Null", "struct", "varint", "7"} {
		if in, ok := ParseInType(s); ok || in != 0 {
			t.Errorf("inType %q is %v", s, in)
		}
		if out, ok := ParseOutType(s); ok || out != 0 {
			t.Errorf("outType %q is %v", s, out)
		}
	}
	if l, ok := ParseLevel("010"); l != 10 || !ok {
		t.Errorf("level 010 is %d, %v: numbers are not octal", l, ok)
	}
}

func TestEventName(t *testing.T) {
	for _, test := range []struct {
		symbol, task, opcode string
		kind                 Kind
		number               uint16
		want                 string
	}{
		{"Symbol", "Task", "Start", KindManifest, 1, "Symbol"},
		{"", "Task", "Start", KindManifest, 1, "Task/Start"},
		{"", "Task", "", KindManifest, 1, "Task"},
		{"", "Task", "Info", KindManifest, 1, "Task"},
		{"", "ThreadStart", "Start", KindManifest, 1, "ThreadStart"},
		{"", "", "Start", KindManifest, 7, "Event7"},
		{"", "", "", KindClassic, 36, "Opcode36"},
		{"", "", "", KindMessage, 12, "Message12"},
		{"", "", "", 9, 12, "Message12"},
	} {
		if got := EventName(test.symbol, test.task, test.opcode, test.kind, test.number); got != test.want {
			t.Errorf("%+v is %q", test, got)
		}
	}
}
