package etw

import (
	"strings"
	"testing"
)

func TestAppendMessage(t *testing.T) {
	d := &EventDesc{Fields: []FieldDesc{{Name: "Article", Type: InUnicodeString}, {Name: "Size", Type: InUInt32}}}
	payload := append(append(AppendUTF16(nil, "bread"), 0, 0), 7, 0, 0, 0)
	for _, c := range []struct{ message, want string }{
		{"", ""},
		{"Sold %2 of %1.", "Sold 7 of bread."},
		{"%1!S!: %2!d!%%", "bread: 7%"},
		{"%1%n%t%2%r%b%!%.", "bread\n\t7\r !."},
		{"%3 and %12 are of nobody, %", "%3 and %12 are of nobody, %"},
		{"%2!d has no end", "7!d has no end"},
		{"100%0", "100"},
		{"%1%2%", "bread7%"},
	} {
		d.Message = c.message
		var e Dynamic
		if _, err := e.Decode(d, payload, Ptr64); err != nil {
			t.Fatal(err)
		}
		if got := string(AppendMessage(nil, &e)); got != c.want {
			t.Errorf("%q: %q, want %q", c.message, got, c.want)
		}
	}
}

// TestLongMessage has a message that asks for a long value again and again.
func TestLongMessage(t *testing.T) {
	d := &EventDesc{Fields: []FieldDesc{{Name: "Text", Type: InUnicodeString}}, Message: strings.Repeat("%1", 10000)}
	var e Dynamic
	if _, err := e.Decode(d, append(AppendUTF16(nil, strings.Repeat("x", 30000)), 0, 0), Ptr64); err != nil {
		t.Fatal(err)
	}
	if n := len(AppendMessage(nil, &e)); n != 90000 {
		t.Errorf("%d bytes, want the three values that begin before the limit", n)
	}
}
