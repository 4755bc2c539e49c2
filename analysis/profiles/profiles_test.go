package profiles_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/analysis/profiles"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/runtime/profile"
)

func read(t *testing.T, text string) *profile.Profile {
	t.Helper()
	p, err := profile.Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A name that .NET has comes in all forms, another as it is.
func TestNames(t *testing.T) {
	p := read(t, "Shop!Bakery.Oven.Bake(int32);Shop!Bakery.Oven..ctor();libc.so!malloc;[waiting];a.out!f(int) 7\n")
	for names, want := range map[stacks.Names][]string{
		stacks.FullNames:      {"Shop!Bakery.Oven.Bake(int32)", "Shop!Bakery.Oven..ctor()", "libc.so!malloc", "[waiting]", "a.out!f(int)"},
		stacks.QualifiedNames: {"Bakery.Oven.Bake", "Bakery.Oven..ctor", "libc.so!malloc", "[waiting]", "a.out!f(int)"},
		stacks.ShortNames:     {"Oven.Bake", "Oven..ctor", "libc.so!malloc", "[waiting]", "a.out!f(int)"},
	} {
		made, _ := profiles.New(p, 0, profiles.Options{Names: names})
		var got []string
		for s := range made.Samples() {
			for i := range made.Stack(s.Stack) {
				got = append(got, made.Frames[i].Name)
			}
		}
		slices.Reverse(got)
		if !slices.Equal(got, want) {
			t.Errorf("%v: %q, want %q", names, got, want)
		}
	}
	made, _ := profiles.New(p, 0, profiles.Options{})
	kinds := make(map[string]symbols.Kind)
	for _, f := range made.Frames {
		kinds[f.Name] = f.Kind
		if f.Pseudo != (f.Name == stacks.WaitingName) || f.Waiting != f.Pseudo {
			t.Errorf("%+v", f)
		}
	}
	if kinds["Shop!Bakery.Oven.Bake(int32)"] != symbols.Managed || kinds["libc.so!malloc"] != symbols.NativeCode || made.Naming.Percent() != 100 {
		t.Errorf("%v, %+v", kinds, made.Naming)
	}
}

// Threads that have a name and no number are told apart, and those of which nothing is known
// are one.
func TestThreads(t *testing.T) {
	p := read(t, `{"$schema":"x","shared":{"frames":[{"name":"a"}]},"profiles":[
		{"type":"sampled","name":"one","unit":"none","samples":[[0]],"weights":[1]},
		{"type":"sampled","name":"two","unit":"none","samples":[[0]],"weights":[2]},
		{"type":"sampled","name":"","unit":"none","samples":[[0]],"weights":[4]}]}`)
	made, names := profiles.New(p, 0, profiles.Options{})
	got := ""
	for s := range made.Samples() {
		got += fmt.Sprintf("%s %v %s, ", names.Threads[s.Thread], s.Values, names.Processes[s.Process])
	}
	if want := "one [1] (unknown), two [2] (unknown), (unknown) [4] (unknown), "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestFind(t *testing.T) {
	p := &profile.Profile{Types: []profile.ValueType{{Name: "a", Unit: "count"}, {Name: "b", Unit: "bytes"}}, Default: 1}
	if i, err := profiles.Find(p, ""); i != 1 || err != nil {
		t.Error(i, err)
	}
	if i, err := profiles.Find(p, "a"); i != 0 || err != nil {
		t.Error(i, err)
	}
	if _, err := profiles.Find(p, "c"); err == nil || err.Error() != "the profile has no values of that name; there are a, b" {
		t.Error(err)
	}
}

// The heaviest methods in a file of folded stacks.
func ExampleNew() {
	p, err := profile.Read([]byte("main;bake;knead 12\nmain;bake 3\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	made, _ := profiles.New(p, p.Default, profiles.Options{})
	for _, row := range made.View().Top() {
		fmt.Println(made.Frames[row.Frame].Name, row.Self[0], row.Total[0])
	}
	// Output:
	// knead 12 12
	// bake 3 15
	// main 0 15
}
