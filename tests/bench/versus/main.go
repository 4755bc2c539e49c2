// Command versus holds the readers of this module against other programs, on the
// same files and in the same session:
//
//	go run ./tests/bench/versus -bound PROGRAM -boundetl PROGRAM -traceevent PROGRAM -etw PROGRAM FILE...
//
// In each round every program reads each file in a process of its own, several times, and
// the best time counts. The output is the ratios of these times, the median of all rounds
// with the least and the greatest: they carry over to other machines, and to busy ones,
// better than the times beside them.
//
// A program for -traceevent is called with "speed FILE N" and prints lines of a way to read,
// an input and the best time in seconds, with commas between them; the letters of ways are
// explained in ways.go. One for -bound is called with "FILE N" and prints its milliseconds
// behind the words "headers" and "merged". One for -boundetl is called with "FILE.etl N" and
// prints them behind "unpacked):". With -etw the processor time of whole processes is taken,
// too, the least of five: of "gc FILE" of both, of "stacks FILE" and our "top FILE", and of
// commands that only ours has. Missing tools are named, and left out.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "versus:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	var who cast
	var measured string
	var rounds, n int
	flags := flag.NewFlagSet("versus", flag.ContinueOnError)
	flags.StringVar(&who.traceEvent, "traceevent", "", "program that reads with Microsoft's TraceEvent library")
	flags.StringVar(&who.bound, "bound", "", "program that only decodes headers and merges threads")
	flags.StringVar(&who.boundETL, "boundetl", "", "the same for .etl files: buffers are unpacked, processors merged")
	flags.StringVar(&who.etw, "etw", "", "our tool, as releases are built, to measure whole processes of it and of -traceevent")
	flags.IntVar(&rounds, "rounds", 5, "number of rounds")
	flags.IntVar(&n, "n", 20, "how often a process reads a file")
	flags.StringVar(&measured, "measure", "", "measure this file in this process, and print times")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if measured != "" {
		return measure(out, measured, n)
	}
	if flags.NArg() == 0 || rounds < 1 || n < 1 {
		return errors.New("give files, and rounds and n above 0")
	}
	var err error
	if who.self, err = os.Executable(); err != nil {
		return err
	}
	for _, line := range who.absent() {
		fmt.Fprintln(out, line)
	}
	fmt.Fprintf(out, "%-32s %-34s %10s %10s %8s  %s\n", "file", "", "ms", "ours, ms", "ratio", "of all rounds")
	for _, file := range flags.Args() {
		if file, err = filepath.Abs(file); err != nil {
			return err
		}
		var all []times
		for range rounds {
			t, err := who.round(file, n)
			if err != nil {
				return err
			}
			all = append(all, t)
		}
		for _, c := range comparisons {
			c.print(out, filepath.Base(file), all)
		}
	}
	return nil
}
