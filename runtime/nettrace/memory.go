package nettrace

// A memory is the pages in which events are held, of one Reader.
type memory struct {
	page  *page // for the next events
	spare *page // for those after them, or nil
	paged int64 // bytes of the pages that are in use
}

// room returns a page with room for events.
func (m *memory) room() *page {
	if p := m.page; p == nil || p.isFull() {
		if m.page = m.spare; m.page == nil {
			m.page = pages.Get().(*page)
		}
		m.spare = nil
		m.paged += m.page.size()
		if p != nil && p.batches == 0 {
			m.giveUp(p)
		}
	}
	m.page.batches++
	return m.page
}

// leave gives up a page for one batch, which was delivered.
func (m *memory) leave(p *page) {
	if p.batches--; p.batches == 0 && p != m.page {
		m.giveUp(p)
	}
}

// giveUp gives up a page of which all was delivered.
func (m *memory) giveUp(p *page) {
	m.paged -= p.size()
	if m.spare != nil {
		p.free()
		return
	}
	p.reset()
	m.spare = p
}

// end leaves the pages to others, after the last event.
func (m *memory) end() {
	if p := m.page; p != nil && p.batches == 0 {
		m.page = nil
		m.giveUp(p)
	}
	if m.spare != nil {
		m.spare.free()
		m.spare = nil
	}
}
