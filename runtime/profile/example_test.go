package profile_test

import (
	"fmt"

	"github.com/etwgen/etwgen/runtime/profile"
)

// The contents of a file of folded stacks.
func ExampleRead() {
	p, err := profile.Read([]byte("main;bake;knead 12\nmain;bake 3\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, s := range p.Samples {
		innermost := p.Frames[p.AppendStack(nil, s.Stack)[0]]
		fmt.Println(p.Functions[innermost.Function].Name, p.Values(i)[0])
	}
	// Output:
	// knead 12
	// bake 3
}
