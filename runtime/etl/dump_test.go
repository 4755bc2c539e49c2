package etl

import (
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
)

func TestDump(t *testing.T) {
	p := os.Getenv("DUMP")
	if p == "" {
		t.Skip()
	}
	r, err := Open(p)
	if err != nil {
		t.Fatal(err)
	}
	var rec etw.Record
	var d etw.Dynamic
	type k struct {
		p     etw.GUID
		id    uint16
		v, op uint8
		cl    etw.Kind
	}
	seen := map[k]int{}
	bad := map[k]int{}
	for {
		err := r.Next(&rec)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		kk := k{rec.Provider, rec.ID, rec.Version, rec.Opcode, rec.Kind}
		seen[kk]++
		if rec.Schema != nil {
			n, err := d.Decode(rec.Schema, rec.Payload, rec.PointerSize)
			if err != nil {
				bad[kk]++
				if bad[kk] == 1 {
					fmt.Println("BAD", rec.ProviderName, rec.ID, err)
				}
				continue
			}
			if seen[kk] <= 1 {
				s := string(etw.AppendText(nil, &d))
				if len(s) > 400 {
					s = s[:400]
				}
				fmt.Printf("%s %d.%d %s n=%d/%d\n", rec.ProviderName, rec.ID, rec.Version, s, n, len(rec.Payload))
			}
		} else if seen[kk] <= 1 {
			fmt.Printf("NOSCHEMA %s %q %d.%d op %d %s %s\n", rec.Provider, rec.ProviderName, rec.ID, rec.Version, rec.Opcode, ClassName(rec.Provider), OpcodeName(rec.Provider, rec.Opcode))
		}
	}
}
