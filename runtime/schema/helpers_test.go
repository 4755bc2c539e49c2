package schema_test

import (
	"fmt"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/schema"
)

var testProvider = etw.MustParseGUID("5ac7e5e5-0000-4000-8000-000000000001")

// event returns an event of the test provider.
func event() *etw.Record {
	return &etw.Record{Provider: testProvider, ID: 1, PointerSize: etw.Ptr64, ProcessID: 100, ThreadID: 200}
}

// described returns the records after a set has learned from all of them, in
// their order, and then described them.
func described(records ...*etw.Record) []*etw.Record {
	var set schema.Set
	for _, r := range records {
		set.Learn(r)
	}
	return describe(&set, records...)
}

func describe(set *schema.Set, records ...*etw.Record) (all []*etw.Record) {
	for _, r := range records {
		c := r.Clone()
		set.Describe(c)
		all = append(all, c)
	}
	return all
}

// decoded returns how the records decode by their own schemas.
func decoded(t *testing.T, records []*etw.Record) (lines []string) {
	t.Helper()
	var d etw.Dynamic
	for _, r := range records {
		if r.Schema == nil {
			lines = append(lines, fmt.Sprintf("%s: no schema", r.ProviderName))
			continue
		}
		if _, err := d.Decode(r.Schema, r.Payload, r.PointerSize); err != nil {
			lines = append(lines, fmt.Sprintf("%s: %v", r.ProviderName, err))
			continue
		}
		if r.Schema == nil || r.Schema.Provider.Name != r.ProviderName && r.ID != 0xfffe {
			t.Errorf("schema of %q on a record of %q", r.Schema.Provider.Name, r.ProviderName)
		}
		lines = append(lines, fmt.Sprintf("%s: %s", r.ProviderName, etw.AppendText(nil, &d)))
	}
	return lines
}
