package main

import "math/rand/v2"

// testPayloads holds the decoders against an encoder of its own: generated code,
// and the decoder by description.
func testPayloads(c *campaign, cfg config) error {
	b, err := newBatch(c)
	if err != nil {
		return err
	}
	defer b.close()
	events, perEvent := 100, 100
	if c.n > 0 {
		events = min(events, 1+c.n/100)
	}
	return b.repeat(func(r *rand.Rand) *provider { return randomProvider(r, events) }, perEvent)
}
