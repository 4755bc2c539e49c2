package golden

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
	changed "github.com/etwgen/etwgen/tests/golden/changed/want"
	lenient "github.com/etwgen/etwgen/tests/golden/lenient/want"
	outer "github.com/etwgen/etwgen/tests/golden/outer/want"
)

// TestChangedFields: a type of all versions keeps fields apart that share a name and differ,
// in values and in text.
func TestChangedFields(t *testing.T) {
	pairs := new(changed.AnyPairs)
	decodeAny(t, pairs, &changed.Pairs{Items: must(changed.MakePairsItems(etw.Ptr64, changed.PairsItem{X: 1}, changed.PairsItem{X: 2}))})
	if got, want := fmt.Sprint(slices.Collect(pairs.ItemsV0.All())), "[{X=1} {X=2}]"; got != want {
		t.Errorf("items %s, want %s", got, want)
	}
	states := new(changed.AnyStates)
	decodeAny(t, states, &changed.States{All: etw.MakeInts[changed.State8](1, 2, 1, 2)})
	if got, want := fmt.Sprint(slices.Collect(states.AllV0.All())), "[Idle Busy Idle Busy]"; got != want {
		t.Errorf("states %s, want %s", got, want)
	}
	head := new(changed.AnyHead)
	decodeAny(t, head, &changed.HeadV1{Info: changed.HeadV1Info{X: 3, Y: 4}})
	if got, want := fmt.Sprint(head.InfoV1, head.HasInfo(), head.HasInfoV1()), "{X=3 Y=4} false true"; got != want {
		t.Errorf("head %s, want %s", got, want)
	}
	names := new(lenient.AnyNames)
	decodeAny(t, names, &lenient.NamesV1{Name: etw.MakeUTF16("one"), Name2: etw.MakeUTF16("two")})
	decodeAny(t, names, &lenient.Names{Name: etw.MakeUTF16("one")})
	address := new(changed.AnyAddress)
	decodeAny(t, address, &changed.Address{Base: 1, Size: 2})
	decodeAny(t, address, &changed.AddressV1{Base: 1, Size: 2})
}

// decodeAny decodes e as the type of all versions, and checks that this shows the
// same as e.
func decodeAny(t *testing.T, a etw.AnyVersion, e etw.Event) {
	t.Helper()
	payload := must(e.AppendPayload(nil, etw.Ptr64))
	if n, err := a.DecodeVersion(e.EventDesc().Version, payload, etw.Ptr64); err != nil || n != len(payload) {
		t.Errorf("%s: read %d of %d bytes, error %v", e, n, len(payload), err)
	}
	if got, want := string(must(json.Marshal(etw.Show(a)))), string(must(json.Marshal(etw.Show(e)))); got != want {
		t.Errorf("JSON %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(a), fmt.Sprint(e); got != want {
		t.Errorf("text %s, want %s", got, want)
	}
}

// TestOuterLength: arrays whose elements' length a field outside of their struct
// gives are shown with all elements, also where the struct stands alone.
func TestOuterLength(t *testing.T) {
	e := outer.Head{Size: 2, Info: outer.HeadInfo{
		Hashes: must(etw.MakeBinariesN(2, etw.Binary{1, 2}, etw.Binary{3, 4})),
		Names:  must(etw.MakeUTF16sN(2, etw.MakeUTF16("ab"), etw.MakeUTF16("cd"))),
		Paths:  must(etw.MakeANSIsN(2, etw.ANSI("ef"), etw.ANSI("gh"))),
	}}
	const want = `{"Size":2,"Info":{"Hashes":["0102","0304"],"Names":["ab","cd"],"Paths":["ef","gh"]}}`
	if got := string(must(json.Marshal(etw.Show(&e)))); got != want {
		t.Errorf("JSON %s, want %s", got, want)
	}
	if got, want := e.Info.String(), "{Hashes=[0102 0304] Names=[ab cd] Paths=[ef gh]}"; got != want {
		t.Errorf("text %s, want %s", got, want)
	}
	decodeAny(t, new(outer.AnyHead), &e)
}
