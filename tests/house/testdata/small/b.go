package small

var _ = plain

func back(p *pair[int]) int { return p.x }
