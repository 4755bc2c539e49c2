package etwtest_test

import (
	"context"
	"fmt"
	"log"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/etwtest"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// A program that collects the types of exceptions keeps a view where it needs a
// copy.
func ExamplePoison() {
	trace, err := nettrace.Open("../../tests/recorded/exceptions.nettrace")
	if err != nil {
		log.Fatal(err)
	}
	defer trace.Close()

	var views, copies []etw.UTF16
	var mux etw.Mux
	etw.Handle(&mux, func(_ *etw.Record, e *clr.ExceptionThrownV1) error {
		views = append(views, e.ExceptionType)
		copies = append(copies, e.ExceptionType.Clone())
		return nil
	})
	if err := mux.Run(context.Background(), etwtest.Poison(trace)); err != nil {
		log.Fatal(err)
	}
	fmt.Println("view:", views[0])
	fmt.Println("copy:", copies[0])
	// Output:
	// view: ��������������������������������
	// copy: System.InvalidOperationException
}
