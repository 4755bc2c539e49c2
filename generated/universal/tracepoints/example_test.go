package tracepoints_test

import (
	"fmt"

	"github.com/etwgen/etwgen/generated/universal/tracepoints"
)

// A kernel's format of one of its events, as a description to decode by.
func ExampleParseFormat() {
	const format = `name: shop_sold
ID: 4711
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:int pieces;	offset:8;	size:4;	signed:1;

print fmt: "pieces=%d", REC->pieces
`
	event, err := tracepoints.ParseFormat("shop", []byte(format))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range event.Fields {
		fmt.Println(event.Name, f.Name, f.Type)
	}
	// Output:
	// shop_sold common_type win:UInt16
	// shop_sold common_flags win:UInt8
	// shop_sold common_preempt_count win:UInt8
	// shop_sold common_pid win:Int32
	// shop_sold pieces win:Int32
}

// Events of the kernel that are known without asking one.
func ExampleEvent() {
	for _, f := range tracepoints.Event("sched/sched_switch").Fields {
		fmt.Println(f.Name)
	}
	// Output:
	// common_type
	// common_flags
	// common_preempt_count
	// common_pid
	// prev_comm
	// prev_pid
	// prev_prio
	// prev_state
	// next_comm
	// next_pid
	// next_prio
}
