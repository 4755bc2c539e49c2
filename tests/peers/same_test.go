package peers

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/big"
	"slices"
	"strings"
)

// An agreement is how far two values are the same.
type agreement int

const (
	equal   agreement = iota
	signed            // as numbers of some width, of which one side reads the sign
	differs           // not at all
)

// same compares a value of TraceEvent with one of ours, both as JSON has them. Numbers may
// be text, bytes may be a list of numbers, and a number that is not finite is null.
func same(theirs, ours any) agreement {
	switch ours := ours.(type) {
	case []any:
		return sameList(theirs, ours)
	case map[string]any:
		return sameMembers(theirs, ours)
	case string:
		if theirs == nil && slices.Contains([]string{"NaN", "+Inf", "-Inf", "Inf"}, ours) || theirs == any(ours) {
			return equal
		}
	case bool, json.Number:
		if theirs == ours {
			return equal
		}
	}
	return sameNumber(theirs, ours)
}

func sameList(theirs any, ours []any) agreement {
	if text, ok := theirs.(string); ok {
		b, err := hex.DecodeString(text)
		list := make([]any, len(b))
		for i := range b {
			list[i] = json.Number(big.NewInt(int64(b[i])).String())
		}
		if theirs = list; err != nil {
			return differs
		}
	}
	list, ok := theirs.([]any)
	if !ok || len(list) != len(ours) {
		return differs
	}
	worst := equal
	for i := range list {
		worst = max(worst, same(list[i], ours[i]))
	}
	return worst
}

// peerMembers are names that TraceEvent gives the members of records.
var peerMembers = map[string]string{
	"freelistspacebefore": "freelistbefore", "freeobjspacebefore": "freeobjbefore", "freelistspaceafter": "freelistafter",
	"freeobjspaceafter": "freeobjafter", "budget": "newallocation", "target": "value", "referencingfield": "referencingfieldid",
}

func sameMembers(theirs any, ours map[string]any) agreement {
	members, ok := theirs.(map[string]any)
	if !ok {
		if len(ours) != 1 {
			return differs
		}
		for _, v := range ours { // a record of one value
			return same(theirs, v)
		}
	}
	left, right := lowered(members), lowered(ours)
	worst, common := equal, 0
	for name, v := range left {
		name = cmp.Or(peerMembers[name], name)
		if w, ok := right[name]; ok {
			common++
			worst = max(worst, same(v, w))
		}
	}
	if common == 0 && len(right) == 1 {
		for _, v := range left {
			for _, w := range right {
				if got := same(v, w); got < differs {
					return got
				}
			}
		}
	}
	if common == 0 {
		return differs
	}
	return worst
}

func lowered(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[strings.ToLower(k)] = v
	}
	return out
}

// number returns a value as a number, if it is one or the text of one.
func number(v any) *big.Float {
	var text string
	switch v := v.(type) {
	case bool:
		if v {
			return big.NewFloat(1)
		}
		return new(big.Float)
	case json.Number:
		text = v.String()
	case string:
		text = v
	default:
		return nil
	}
	if n, ok := new(big.Int).SetString(text, 0); ok {
		return new(big.Float).SetPrec(80).SetInt(n)
	}
	f, ok := new(big.Float).SetPrec(80).SetString(text)
	if !ok {
		return nil
	}
	return f
}

func sameNumber(theirs, ours any) agreement {
	x, y := number(theirs), number(ours)
	if x == nil || y == nil {
		return differs
	}
	if x.Cmp(y) == 0 {
		return equal
	}
	a, accuracyA := x.Int(nil)
	b, accuracyB := y.Int(nil)
	if accuracyA != big.Exact || accuracyB != big.Exact {
		u, _ := x.Float64()
		v, _ := y.Float64()
		if math.Abs(u-v) <= 1e-6*max(math.Abs(u), math.Abs(v)) {
			return equal
		}
		return differs
	}
	if a.Sign()*b.Sign() < 0 {
		for _, bits := range []uint{8, 16, 32, 64} {
			wrap := new(big.Int).Lsh(big.NewInt(1), bits)
			if sum := new(big.Int).Sub(a, b); sum.CmpAbs(wrap) == 0 {
				return signed
			}
		}
	}
	return differs
}
