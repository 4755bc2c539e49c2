package clr_test

import (
	"encoding/json"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestAnyJSON: a type for all versions has the fields of the version as JSON, whether there
// is one version or several, so that nothing else changes when a second one comes.
func TestAnyJSON(t *testing.T) {
	for want, e := range map[string]etw.AnyVersion{
		`{"Reason":"Induced","ClrInstanceID":7}`: &clr.AnyGCTriggered{GCTriggered: clr.GCTriggered{Reason: clr.GCReasonInduced, ClrInstanceID: 7}},
		`{"Count":3,"Reason":"AllocSmall"}`:      &clr.AnyGCStart{Count: 3},
	} {
		if got, err := json.Marshal(e); err != nil || string(got) != want {
			t.Errorf("%s, error %v; want %s", got, err, want)
		}
	}
}
