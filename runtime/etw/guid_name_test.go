package etw

import "testing"

func TestNameGUID(t *testing.T) {
	for _, name := range []string{"System.Runtime", "system.RUNTIME"} {
		if got, want := NameGUID(name).String(), "49592c0f-5a05-516d-aa4b-a64e02026c89"; got != want {
			t.Errorf("NameGUID(%q) = %s, want %s", name, got, want)
		}
	}
}
