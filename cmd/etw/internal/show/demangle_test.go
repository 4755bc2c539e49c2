package show

import (
	"strings"
	"testing"
)

func TestDemangler(t *testing.T) {
	d := NewDemangler()
	for name, want := range map[string]string{
		"_ZN4Oven4bakeEi":               "Oven::bake(int)",
		"plain":                         "plain",
		"_ZN4Oven4fillIJRKiRfEEEvDpOT_": "void Oven::fill<int const&, float&>(int const&, float&)",
	} {
		if got := d.Name(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if got := d.Name("_Z1f" + strings.Repeat("P", 3000) + "i"); !strings.HasPrefix(got, "f(int*****") {
		t.Errorf("a long name is %.40s", got)
	}
	// Each of these takes a library that is not held back seconds or hours.
	for n := 256; n <= 1<<20; n *= 2 {
		name := "_Z1fIJ" + strings.Repeat("i", n/2) + "EEv" + strings.Repeat("DpT_", n/8)
		if got := d.Name(name); got != name {
			t.Errorf("a name of %d bytes is taken apart: %.40s", len(name), got)
		}
	}
}

// TestDemanglerBudget has many names of which each is allowed: together they are not.
func TestDemanglerBudget(t *testing.T) {
	d := &Demangler{left: 10 * stepsOfName}
	name := "_Z1fIJ" + strings.Repeat("i", 40) + "EEvDpT_DpT_"
	taken := 0
	for d.Name(name) != name {
		taken++
	}
	if want := 10 * stepsOfName / demanglerSteps(name); taken != want {
		t.Errorf("%d names, want %d", taken, want)
	}
}
