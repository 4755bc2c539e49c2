package main

import (
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(&out, "../../tests/recorded/exceptions.nettrace"); err != nil {
		t.Fatal(err)
	}
	want := `   COUNT  TYPE                                      FIRST MESSAGE
       4  System.InvalidOperationException          "number 0"
       1  System.ArgumentException                  "outer é世😀"
       1  System.NullReferenceException             "Object reference not set to an instance of an object."
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestLost(t *testing.T) {
	var out strings.Builder
	if err := run(&out, "../../tests/recorded/lost.nettrace"); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(out.String(), "\n7861 events were lost\n") {
		t.Errorf("the losses are not told of:\n%s", out.String())
	}
}
