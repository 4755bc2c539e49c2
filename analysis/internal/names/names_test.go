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
	if len(all) != 2 || all[0].Name != "a" || all[0].Value != 2 || all[1].Name != "b" || all[1].Value != 5 || table.Find(a) != all[0] || table.Find(etw.MakeUTF16("c")) != nil {
		t.Errorf("%+v", all)
	}
	if n := testing.AllocsPerRun(100, func() { table.At(a).Value++ }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
