package pcapng_test

import (
	"bytes"
	"fmt"

	"github.com/etwgen/etwgen/export/pcapng"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A record of netsh becomes a packet. Records of a trace come from package trace.
func Example() {
	h := etltest.DefaultHeader()
	frame := append(make([]byte, 12), 0x08, 0x06) // the begin of an ARP frame
	records := []*etw.Record{{
		Kind: etw.KindManifest, Provider: pcapng.NDISCapture, ID: 1001, Keywords: 0x1c0000001, PointerSize: etw.Ptr64,
		ProcessID: 4, ThreadID: 8, Timestamp: h.Clock.Origin, Clock: &h.Clock,
		Payload: append([]byte{7, 0, 0, 0, 12, 0, 0, 0, byte(len(frame)), 0, 0, 0}, frame...),
	}}
	var file bytes.Buffer
	out := pcapng.NewWriter(&file)
	capture := pcapng.NewCapture(func(p *pcapng.Packet) error {
		fmt.Println(p.Interface.Name, len(p.Data), p.Comment)
		return out.Packet(p)
	})
	for _, r := range records {
		if err := capture.Record(r); err != nil {
			fmt.Println(err)
		}
	}
	capture.End()
	if err := out.Flush(); err != nil {
		fmt.Println(err)
	}
	fmt.Println(capture.Stats().Packets)
	// Output:
	// eth:12 14 PID=4 TID=8
	// 1
}
