package perfmap

import (
	"fmt"
	"strings"
	"testing"
)

// TestRead reads what runtimes write, and what is none of it.
func TestRead(t *testing.T) {
	got := ""
	err := Read(strings.NewReader("7f00 10 void [Shop] Oven::Bake()[Tier0]\r\n0x7f10 0x20 stub\n\n7f20 0 empty\n7f30 8\nnonsense here too\n7f40 8 last"), func(start, size uint64, name string) {
		got += fmt.Sprintf("%x %x %s; ", start, size, name)
	})
	if want := "7f00 10 void [Shop] Oven::Bake()[Tier0]; 7f10 20 stub; 7f40 8 last; "; got != want || err != nil {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}
