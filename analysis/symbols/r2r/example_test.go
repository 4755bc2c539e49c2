package r2r_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/etwgen/etwgen/analysis/symbols/r2r"
)

// Which method an address in a file is of, without a trace and without the process.
func ExampleParse() {
	data, err := os.ReadFile("System.Private.CoreLib.dll")
	if err != nil {
		fmt.Println(err)
		return
	}
	image, err := r2r.Parse(data)
	if err != nil {
		fmt.Println(err) // r2r.ErrNoCode of a file that has IL alone
		return
	}
	if method, ok := image.Lookup(0x12340); ok {
		fmt.Println(method.Name())
	}
}

// The files inside of a program that is a single file.
func ExampleReadBundle() {
	program := strings.NewReader("no program of .NET")
	_, err := r2r.ReadBundle(program, program.Size())
	fmt.Println(err)
	// Output: r2r: the program has no files inside
}
