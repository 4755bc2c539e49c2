package main

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/etwgen/etwgen/analysis"
	"github.com/etwgen/etwgen/tests/hostile/mutate"
)

// analyze gives a mutant to all analyses. They end, take memory in proportion to it, and
// their findings are JSON. How many records there are they count as the reader does.
func (t *traces) analyze(s *subject, data []byte, sorted bool) {
	in := &meter{Reader: bytes.NewReader(data), left: 100*int64(len(data)) + 1<<20}
	r, _, err := open(s.Format, in, sorted)
	if err != nil {
		return
	}
	defer r.Close()
	before := t.allocated()
	res, err := analysis.Run(context.Background(), r)
	if err != nil {
		t.find("analysis", "%v", err)
		return
	}
	text, err := json.Marshal(res)
	if err != nil {
		t.find("analysis", "the result is no JSON: %v", err)
	}
	if res.Records != uint64(len(t.got)) {
		t.find("analysis", "%d records, but the reader has %d", res.Records, len(t.got))
	}
	most := uint64(32<<20 + 1000*len(data))
	if s.Format == mutate.ETLCompressed {
		most *= 4
	}
	if used := t.allocated() - before; used > most {
		t.find("memory of analyses", "%d MiB allocated for %d bytes, %d of them JSON", used>>20, len(data), len(text))
	}
}
