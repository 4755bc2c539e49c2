package peers

type peerExceptions struct {
	Count, Catches, Finallys, Filters int
	ByType                            map[string]int
	Thrown                            []struct {
		MS            float64
		TID           int64
		Type, Message string
		HResult       int32
	}
}

func compareExceptions(s *sheet) {
	theirs, ours := &s.theirs.Exceptions, s.ours.Exceptions
	if theirs.Count+ours.Count == 0 {
		return
	}
	s.equal("count", ours.Count, theirs.Count)
	s.equal("types", len(ours.Types), len(theirs.ByType))
	for _, t := range ours.Types {
		s.equal("count of "+t.Type, t.Count, theirs.ByType[t.Type])
	}
	catches, finallys, filters, at := 0, 0, 0, 0
	for _, rt := range ours.Runtimes {
		catches, finallys, filters = catches+int(rt.Catches.Or(0)), finallys+int(rt.Finallys.Or(0)), filters+int(rt.Filters.Or(0))
		for _, e := range rt.Thrown { // the corpus has no trace with several runtimes that throw
			if at == len(theirs.Thrown) {
				break
			}
			p := &theirs.Thrown[at]
			s.near("time", e.AtMS, p.MS)
			s.equal("thread", e.Thread, p.TID)
			s.equal("type", e.Type, p.Type)
			s.equal("message", e.Message, p.Message)
			s.equal("HRESULT", e.HResult, p.HResult)
			at++
		}
	}
	s.equal("catches", catches, theirs.Catches)
	s.equal("finallys", finallys, theirs.Finallys)
	s.equal("filters", filters, theirs.Filters)
}
