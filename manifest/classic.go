package manifest

import (
	"fmt"

	"github.com/etwgen/etwgen/runtime/etw"
)

// kindOfEvents reads etwgen:events of a provider: the kind of its events, if they are not
// those of a manifest.
func (p *parser) kindOfEvents(n *node, prov *Provider) {
	prov.SelfDescribing = p.opts.SelfDescribing
	switch text, ok := n.extension("events"); {
	case !ok:
	case text == "classic":
		prov.Classic = true
	case text == "self-describing":
		prov.SelfDescribing = true
	case text == "eventsource":
		prov.EventSource = true
	default:
		p.fail(n, "etwgen:events of provider %s is %s; there are only classic, self-describing and eventsource", quote(n.attr("name")), quote(text))
	}
}

// checkClassic checks that the class, the opcode and the version of a classic
// event lead to it alone.
func (p *providerParser) checkClassic(n *node, what string, e *Event) {
	e.Classic = true
	switch {
	case e.Task == nil && n.attr("task") != "", e.Opcode == nil && n.attr("opcode") != "":
		return // reported already
	case e.Task == nil || e.Task.EventGUID.IsZero():
		p.fail(n, "%s is classic and has no class; give it a task with an eventGUID", what)
		return
	case e.Opcode == nil:
		p.fail(n, "%s is classic and has no opcode; declare one in its task", what)
		return
	}
	key := etw.Key{Kind: etw.KindClassic, Provider: e.Task.EventGUID, ID: uint16(e.Opcode.Value), Version: e.Version}
	first := p.classic[key]
	if first == nil {
		p.classic[key] = e
		return
	}
	e.Undispatched = fmt.Sprintf("the event in line %d has the same class, opcode and version", first.Pos.Line)
	p.strictly(n, "opcode %s of task %s is declared twice in version %d, first at %s%s", quote(e.Opcode.Name), quote(e.Task.Name),
		e.Version, first.Pos, p.mode("; give one another version", ": nothing is dispatched to this one"))
}
