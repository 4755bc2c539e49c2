package wevt

import "testing"

// TestTexts: of several languages English counts, and else the first one.
func TestTexts(t *testing.T) {
	table := func(text string) []byte {
		b, err := messageTable{15: text, 0x4000000f: text + "!"}.encode()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	r := Resources{Messages: map[Language][]byte{0x407: table("warm?"), English: table("warm"), 0: table("none")}}
	if got := r.Texts(); got[15] != "warm" || got[0x4000000f] != "warm!" || len(got) != 2 {
		t.Errorf("%v", got)
	}
	delete(r.Messages, English)
	if got := r.Texts(); got[15] != "none" {
		t.Errorf("%v", got)
	}
	if got := (Resources{}).Texts(); len(got) != 0 {
		t.Errorf("%v", got)
	}
}
