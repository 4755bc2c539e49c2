package nettrace

import "github.com/etwgen/etwgen/runtime/nettrace/internal/layout"

// sequencePoint checks the numbers of all threads and forgets the tables that events before
// it could refer to.
//
//	time u64, number of threads u32, each with thread u64 and number u32
//	version 6: time u64, flags u32, number u32, each with uvar index and uvar number
func (k *known) sequencePoint(b []byte) error {
	c := layout.Cursor{B: b}
	c.U64()
	flags := uint32(0)
	if k.v6 {
		flags = c.U32()
	}
	n := c.U32()
	if err := k.checkNumbers(c, n); err != nil {
		return err
	}
	for range n {
		k.loss.point(k.number(&c))
	}
	k.stats.SequencePoints++
	k.stacks.reset()
	k.labels.reset()
	k.threads.dropRemoved()
	if flags&layout.ForgetThreads != 0 {
		k.loss.forget()
		k.threads.reset()
	}
	if flags&layout.ForgetMetadata != 0 {
		k.kinds.reset()
		k.rows.reset()
		k.last = nil
	}
	return nil
}

// number reads a thread and the number of its last event.
func (k *known) number(c *layout.Cursor) (thread uint64, sequence uint32) {
	if k.v6 {
		return c.Uvar(64), uint32(c.Uvar(32))
	}
	return c.U64(), c.U32()
}

// checkNumbers reports whether n threads and their numbers are all that is left
// at c. Of a damaged sequence point nothing is believed.
func (k *known) checkNumbers(c layout.Cursor, n uint32) error {
	for range n {
		if k.number(&c); c.Bad {
			return layout.Damaged("a thread does not fit")
		}
	}
	if c.Bad {
		return layout.Damaged("its header does not fit")
	}
	if c.Left() > 0 {
		return layout.Damaged("%d bytes follow the last thread", c.Left())
	}
	return nil
}

// removeThreads reads a block of version 6 that says which threads have ended,
// with the number of the last event of each. They are dropped with dropRemoved. Of a
// damaged block nothing is believed.
func (k *known) removeThreads(b []byte) error {
	c := layout.Cursor{B: b}
	for c.Left() > 0 {
		if k.number(&c); c.Bad {
			return layout.Damaged("a thread does not fit")
		}
	}
	for c = (layout.Cursor{B: b}); c.Left() > 0; {
		index, sequence := k.number(&c)
		k.loss.remove(index, sequence)
		k.threads.remove(index)
	}
	return nil
}
