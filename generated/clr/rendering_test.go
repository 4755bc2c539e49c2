package clr_test

import (
	"regexp"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
)

// Quantities are shown in decimal, so that programs can add them. Ids and addresses are
// shown in hexadecimal.
var (
	quantity = regexp.MustCompile(`Size\d?$|Size(Before|After)|Amount|Length|Count|Bytes|Survived|Surv$|` +
		`Alloc(ated|ation)|Desired|Budget|FreeList|FreeObj|Commit|Threshold|Limit|Refs$|^Time|Percent`)
	identity = regexp.MustCompile(`Address|EIP|Flags?$|Token|(Method|Module|Assembly|Type|Root|Object|Lock)I[Dd]$|HRESULT`)
)

// TestRendering checks the way numbers of the four providers are shown, by the names of
// their fields.
func TestRendering(t *testing.T) {
	seen := map[bool]int{}
	var check func(event string, fields []etw.FieldDesc)
	check = func(event string, fields []etw.FieldDesc) {
		for i := range fields {
			f := &fields[i]
			check(event, f.Fields)
			isHex, isNumber := hexadecimal(f)
			if !isNumber {
				continue
			}
			switch {
			case quantity.MatchString(f.Name) && !identity.MatchString(f.Name):
				seen[false]++
				if isHex {
					t.Errorf("%s.%s is a quantity, and shown in hexadecimal", event, f.Name)
				}
			case identity.MatchString(f.Name):
				seen[true]++
				if !isHex && f.Map == nil {
					t.Errorf("%s.%s is no quantity, and shown in decimal", event, f.Name)
				}
			}
		}
	}
	for _, p := range providers {
		for _, d := range p.Events {
			check(d.Name, d.Fields)
		}
	}
	t.Logf("%d quantities, %d others", seen[false], seen[true])
	if seen[false] < 200 || seen[true] < 300 {
		t.Errorf("%d quantities, %d others: the patterns miss most", seen[false], seen[true])
	}
}

// hexadecimal reports whether a field is shown in hexadecimal, and whether it is
// a number at all. Pointers are shown so unless something else is asked for.
func hexadecimal(f *etw.FieldDesc) (isHex, isNumber bool) {
	switch f.Type {
	case etw.InUInt8, etw.InUInt16, etw.InUInt32, etw.InUInt64:
		return f.Out == etw.OutHexInt32 || f.Out == etw.OutHexInt64, true
	case etw.InPointer:
		return f.Out != etw.OutUInt64, true
	}
	return false, false
}
