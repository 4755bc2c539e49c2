package system_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestRegistry: keys have whole paths, by blocks that are named before their use or at the end, and
// whose addresses come again; names have no case, and those of values are no keys.
func TestRegistry(t *testing.T) {
	const ms = time.Millisecond
	var mux etw.Mux
	g := system.NewRegistry(&mux)
	s := testtrace.NewScript(t, &mux)
	op := func(begun, over time.Duration, block etw.Pointer, name string, status uint32) kernel.RegistryCreateV2 {
		return kernel.RegistryCreateV2{InitialTime: int64(at(begun)), Status: status, KeyHandle: block, KeyName: etw.MakeUTF16(name)}
	}
	event := func(begun, over time.Duration, e etw.Event) { s.Event(over, 6+s.PID, e) }
	named := func(over time.Duration, block etw.Pointer, name string) {
		k := op(over, over, block, name, 0)
		event(over, over, (*kernel.RegistryKCBRundownBeginV2)(&k))
	}
	named(0, 0xa, `\REGISTRY\MACHINE\SOFTWARE`)
	open := op(1*ms, 3*ms, 0xa, `Shop\Oven`, 0)
	event(1*ms, 3*ms, (*kernel.RegistryOpenV2)(&open))
	missing := op(3*ms, 4*ms, 0xa, `shop\oven`, 0xc0000034)
	event(3*ms, 4*ms, (*kernel.RegistryOpenV2)(&missing))
	s.PID = 2
	query := op(4*ms, 5*ms, 0xb, `Heat`, 0)
	event(4*ms, 5*ms, (*kernel.RegistryQueryValueV2)(&query))
	set := op(5*ms, 7*ms, 0xb, `Heat`, 0)
	event(5*ms, 7*ms, (*kernel.RegistrySetValueV2)(&set))
	more := op(5*ms, 7*ms, 0xa, ``, 0x8000001a) // there are no more
	event(5*ms, 7*ms, (*kernel.RegistryEnumerateKeyV2)(&more))
	gone := op(8*ms, 8*ms, 0xb, `\Registry\User\S-1-5-21\Shop`, 0)
	event(8*ms, 8*ms, (*kernel.RegistryKCBDeleteV2)(&gone))
	again := op(9*ms, 10*ms, 0xb, ``, 0)
	event(9*ms, 10*ms, (*kernel.RegistryCloseV2)(&again))
	late := op(11*ms, 11*ms, 0xb, `\REGISTRY\MACHINE`, 0)
	event(11*ms, 11*ms, (*kernel.RegistryKCBRundownEndV2)(&late))
	nameless := op(11*ms, 12*ms, 0xd, `Deep`, 0)
	event(11*ms, 12*ms, (*kernel.RegistryCreateV2)(&nameless))
	whole := op(12*ms, 13*ms, 0, `\REGISTRY\A\{app}`, 0)
	event(12*ms, 13*ms, (*kernel.RegistryOpenV2)(&whole))
	s.Event(14*ms, 8, &kernel.RegistryOpenV1{KeyName: etw.MakeUTF16("old")})

	got := g.Result()
	want := []system.RegistryFacts{
		{Path: `(unknown)\Deep`, PID: 2, Opens: 1, MS: 1, LongestMS: 1},
		{Path: `HKLM`, PID: 2, Others: 1, MS: 1, LongestMS: 1},
		{Path: `HKLM\SOFTWARE`, PID: 2, Reads: 1, MS: 2, LongestMS: 2},
		{Path: `HKLM\SOFTWARE\Shop\Oven`, PID: 1, Opens: 2, Failed: 1, MS: 3, LongestMS: 2},
		{Path: `HKU\S-1-5-21\Shop`, PID: 2, Reads: 1, Writes: 1, MS: 3, LongestMS: 2},
		{Path: `\REGISTRY\A\{app}`, PID: 2, Opens: 1, MS: 1, LongestMS: 1},
	}
	if diff := cmp.Diff(want, got.Keys); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if sum := got.Sum(); got.Unfit != 1 || sum.Operations() != 8 || sum.MS != 11 || sum.LongestMS != 2 {
		t.Errorf("%+v, %+v", got, sum)
	}
	for _, v := range got.Tables() {
		if want := map[string]int{"key": 6, "process": 2, "access": 6}[v.Name]; v.Rows != want {
			t.Errorf("%s: %d rows, want %d", v.Name, v.Rows, want)
		}
	}
}
