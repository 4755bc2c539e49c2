package main

import "math/rand/v2"

// testPayloads holds the decoders against an encoder of its own: generated code,
// and the decoder by description.
func testPayloads(c *campaign, cfg config) error {
	return testGenerated(c, 100, 100, randomProvider)
}

// testGenerated holds generated code for a number of events at a time, or fewer if it is asked
// for less, against the encoder, each with so many payloads.
func testGenerated(c *campaign, events, perEvent int, provide func(r *rand.Rand, events int) *provider) error {
	b, err := newBatch(c)
	if err != nil {
		return err
	}
	defer b.close()
	if c.n > 0 {
		events = min(events, 1+c.n/perEvent)
	}
	return b.repeat(func(r *rand.Rand) *provider { return provide(r, events) }, perEvent)
}
