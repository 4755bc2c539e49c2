package etl

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// prepare reads all files once before the first record is delivered, for what
// comes later than the records that need it: schemas and the owners of threads.
func (r *Reader) prepare() {
	if !r.options.schemas && !r.options.attribution {
		return
	}
	plan := r.ahead.plan
	findings := make([]finding, min(runtime.GOMAXPROCS(0), len(plan)))
	var next atomic.Int64
	var wg sync.WaitGroup
	for i := range findings {
		wg.Go(func() { findings[i].collect(r, &next) })
	}
	wg.Wait()
	if r.options.schemas {
		r.schemas = newSchemas(findings)
	}
	if r.options.attribution {
		r.owners = newOwners(findings)
	}
}

// A finding is what one goroutine has found.
type finding struct {
	metadata metadataFinding
	owners   ownerFinding
}

// A place is where in the plan a record was found. It orders those of the same
// time that different goroutines found.
type place struct{ block, entry int }

// collect reads the blocks of the plan that no other goroutine reads.
func (f *finding) collect(r *Reader, next *atomic.Int64) {
	b := new(block)
	for {
		i := int(next.Add(1)) - 1
		if i >= len(r.ahead.plan) {
			return
		}
		b.ref = r.ahead.plan[i]
		b.file = r.files[b.ref.file]
		b.load()
		for j, e := range b.entries {
			p := b.record(e)
			if r.options.schemas && isMetadata(p) {
				f.metadata.add(e.key, place{i, j}, b, p)
			}
			if r.options.attribution {
				f.owners.visit(b, p, e.key)
			}
		}
	}
}
