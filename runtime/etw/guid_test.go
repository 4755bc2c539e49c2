package etw

import (
	"encoding/json"
	"testing"
)

func TestGUID(t *testing.T) {
	const text = "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4"
	want := GUID{0x23, 0x0d, 0x3c, 0xe1, 0xbc, 0xcc, 0x12, 0x4e, 0x93, 0x1b, 0xd9, 0xcc, 0x2e, 0xee, 0x27, 0xe4}
	for _, s := range []string{text, "{" + text + "}", "{E13C0D23-CCBC-4E12-931B-D9CC2EEE27E4}"} {
		got, err := ParseGUID(s)
		if err != nil || got != want {
			t.Errorf("ParseGUID(%q) = %v, %v; want %v", s, got, err, want)
		}
	}
	if got := want.String(); got != text {
		t.Errorf("String() = %q, want %q", got, text)
	}
	for _, s := range []string{"", "{}", text[1:], text + "0", "{" + text, "g" + text[1:], text[:35] + "x",
		"e13c0d23xccbc-4e12-931b-d9cc2eee27e4", "e13c0d23-ccbc-4e12-931b-d9cc2e-e27e4", "e13c0d23-ccbc-4e12-931b--9cc2eee27e4"} {
		if g, err := ParseGUID(s); err == nil {
			t.Errorf("ParseGUID(%q) = %v, want an error", s, g)
		}
	}

	b, err := json.Marshal(map[string]GUID{"id": want})
	if err != nil || string(b) != `{"id":"`+text+`"}` {
		t.Fatalf("JSON = %s, %v", b, err)
	}
	var back map[string]GUID
	if err := json.Unmarshal(b, &back); err != nil || back["id"] != want {
		t.Errorf("JSON came back as %v, %v", back, err)
	}
	if !(GUID{}).IsZero() || want.IsZero() {
		t.Error("IsZero is wrong")
	}
	defer func() {
		if recover() == nil {
			t.Error("MustParseGUID took a malformed GUID")
		}
	}()
	MustParseGUID("no")
}

func FuzzParseGUID(f *testing.F) {
	f.Add("{e13c0d23-ccbc-4e12-931b-d9cc2eee27e4}")
	f.Fuzz(func(t *testing.T, s string) {
		g, err := ParseGUID(s)
		if err != nil {
			return
		}
		if back, err := ParseGUID(g.String()); err != nil || back != g {
			t.Errorf("%q became %v, then %v, %v", s, g, back, err)
		}
	})
}
