package manifest

import "iter"

// A cause is one fault that shows in many places, such as a name that many
// events give and nothing declares. It is reported where it shows first.
type cause struct {
	in         *Provider // nil for the whole file
	kind, name string    // what tells it from others
	place      string    // what it shows in, such as an event
}

// seen reports whether c is reported already. If so it counts one more place.
func (p *parser) seen(c cause) bool {
	e := p.causes[c]
	if e != nil {
		e.more++
	}
	return e != nil
}

// countCauses adds to each error in how many more places its cause shows.
func (p *parser) countCauses() {
	for c, e := range p.causes {
		if e.more > 0 {
			e.Msg += " (as in " + plural(e.more, "more "+c.place) + ")"
		}
	}
}

// undefined reports a reference that leads nowhere. The candidates are the names that it may
// have been meant for. lenient is its form in lenient mode, "" if it is an error there, too.
func (p *providerParser) undefined(n *node, what, kind, name, lenient string, candidates ...iter.Seq[string]) {
	c := cause{p.prov, kind, name, "event"}
	if n.el.Tag != "event" {
		c.place = "field"
	}
	switch {
	case p.seen(c):
	case p.opts.Lenient && lenient != "":
		p.causes[c] = p.warn(n, "%s has "+kind+" %s, which is not declared: "+lenient, what, quote(name))
	case p.strayed(kind, name), p.misbound(n, name):
	default:
		remedy := "declare it in <" + kind + "s>"
		if near := p.nearest(name, candidates...); near != "" {
			remedy = didYouMean(near)
		}
		p.causes[c] = p.fail(n, "%s has "+kind+" %s, which is not declared; %s", what, quote(name), remedy)
	}
}
