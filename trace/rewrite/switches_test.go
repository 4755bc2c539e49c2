package rewrite

import (
	"encoding/binary"
	"testing"

	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestKeeperSwitches: of a chosen thread stays also when it stopped and when it could run again,
// but nothing of a thread that has its number later.
func TestKeeperSwitches(t *testing.T) {
	about := func(e etw.AnyVersion, numbers ...uint32) *etw.Record {
		r := recordOf(e)
		for _, n := range numbers {
			r.Payload = binary.LittleEndian.AppendUint32(r.Payload, n)
		}
		return r
	}
	to := func(thread, from uint32) *etw.Record { return about(new(kernel.AnyThreadCSwitch), thread, from) }
	ready := func(thread uint32) *etw.Record { return about(new(kernel.AnyThreadReadyThread), thread, 0) }
	k, answer := new(Keeper), &Keeper{Answer: true}
	for i, step := range []struct {
		r             *etw.Record
		chosen, needs bool
	}{
		{r: ready(8)}, // nothing is known of it
		{r: about(new(kernel.AnyThreadDCStart), 7, 8), chosen: true},
		{r: ready(8), needs: true},
		{r: to(8, 1), chosen: true},
		{r: to(1, 8), needs: true},
		{r: to(2, 1)},
		{r: to(9, 2), chosen: true},
		{r: ready(9), needs: true},
		{r: to(8, 9), needs: true}, // 8 is another process's now
		{r: to(1, 8)},
		{r: ready(8)},
		{r: about(new(kernel.AnyThreadCSwitch))}, // damaged
	} {
		if step.chosen {
			k.Chose(step.r)
			answer.Chose(step.r)
			continue
		}
		if got := k.Needs(step.r); got != step.needs || answer.Needs(step.r) {
			t.Errorf("step %d: needed is %v", i, got)
		}
	}
}
