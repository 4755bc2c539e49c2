package names

import (
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
)

func TestTable(t *testing.T) {
	var table Table[int]
	a, b := etw.MakeUTF16("a"), etw.MakeUTF16("b")
	table.At(a).Value++
	table.At(b).Value += 5
	table.At(etw.MakeUTF16("a")).Value++
	all := table.All()
	if len(all) != 2 || *all[0] != (Entry[int]{"a", 2}) || *all[1] != (Entry[int]{"b", 5}) || !table.Has(a) || table.Has(etw.MakeUTF16("c")) {
		t.Errorf("%+v", all)
	}
	if n := testing.AllocsPerRun(100, func() { table.At(a).Value++ }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
