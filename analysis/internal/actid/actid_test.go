package actid

import (
	"slices"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
)

func TestText(t *testing.T) {
	for _, test := range []struct {
		id   etw.GUID
		want string
	}{
		{Make(7, 0x12), "/#7/1/2/"},
		{Make(0, 0x1a, 0x30), "//1/10/3/"},
		{Make(0, 0x1c, 0x0b), "//1/11/"},
		{Make(0, 0xc1, 0x02), "//258/"},
		{Make(0, 0xbd, 0x34, 0x12), "//$4660/"},
		{Make(0, 0xb1), "//"},
		{etw.GUID{1, 2, 3}, etw.GUID{1, 2, 3}.String()},
	} {
		if got := Text(test.id, 7); got != test.want {
			t.Errorf("%v is %s, want %s", test.id, got, test.want)
		}
	}
	if IsPath(etw.GUID{}, 1) {
		t.Error("no id is taken for one")
	}
	for n := range 256 { // whatever comes, it ends
		id := Make(7, byte(n), byte(n), byte(n), byte(n), byte(n), byte(n), byte(n), byte(n), byte(n), byte(n), byte(n), byte(n))
		_ = Text(id, 7)
		for p := range Parents(id, 7) {
			if !IsPath(p, 7) {
				t.Errorf("above %v there is %v", id, p)
			}
		}
	}
}

func TestParents(t *testing.T) {
	for _, test := range []struct {
		id   etw.GUID
		want []etw.GUID
	}{
		{Make(7, 0x12, 0x30), []etw.GUID{Make(7, 0x12), Make(7, 0x10)}},
		{Make(0, 0x1c, 0x0b, 0x20), []etw.GUID{Make(0, 0x1c, 0x0b), Make(0, 0x10)}},
		{Make(7, 0x10), nil},
		{Make(0, 0xbd, 0x34, 0x12, 0x10), nil},
	} {
		if got := slices.Collect(Parents(test.id, 7)); !slices.Equal(got, test.want) {
			t.Errorf("above %v there are %v, want %v", test.id, got, test.want)
		}
	}
}
