package manifest

import (
	"slices"
	"strings"
)

// An elementRule lists the attributes and children of an element of the manifest proper.
type elementRule struct {
	attrs     []string
	children  []string
	misplaced []string // children that belong elsewhere, and are read nevertheless
	opaque    bool     // what is in it says nothing about events
}

// elementRules has a rule for each element of a manifest. It is made of a table of texts, which
// takes less of a program than lists that it would make at its start.
var elementRules = func() map[string]elementRule {
	rules := make(map[string]elementRule, len(vocabularyTable))
	for _, v := range vocabularyTable {
		rules[v.tag] = elementRule{words(v.attrs), words(v.children), words(v.misplaced), v.children == unread}
	}
	return rules
}()

// unread stands for the children of an element that says nothing about events.
const unread = "-"

var vocabularyTable = [...]struct{ tag, attrs, children, misplaced string }{
	{rootTag, "", "instrumentation localization metadata", ""},
	{"instrumentation", "", "events counters messageTable", "provider"},
	{"events", "", "provider event messageTable", ""},
	{"provider", "name guid symbol resourceFileName messageFileName parameterFileName message source helpLink " +
		"warningsAsErrors namespace controlGuid",
		"channels levels tasks opcodes keywords filters maps namedQueries templates events traits messageTable",
		"valueMap bitMap"},
	{"channels", "", "channel importChannel", ""},
	{"channel", "name chid type symbol value message enabled isolation access", "logging publishing", ""},
	{"importChannel", "name chid symbol value message enabled", "", ""},
	{"levels", "", "level", ""},
	{"level", "name value symbol message", "", ""},
	{"tasks", "", "task", "opcodes"},
	{"task", "name value symbol message eventGUID", "opcodes", ""},
	{"opcodes", "", "opcode", ""},
	{"opcode", "name value symbol message mofValue", "", ""},
	{"keywords", "", "keyword", ""},
	{"keyword", "name mask symbol message", "", ""},
	{"maps", "", "valueMap bitMap patternMap", ""},
	{"valueMap", "name symbol", "map", ""},
	{"bitMap", "name symbol", "map", ""},
	{"map", "value message symbol", "", ""},
	{"templates", "", "template", ""},
	{"template", "tid name", "data struct UserData", ""},
	{"struct", "name count length", "data struct", ""},
	{"data", "name inType outType map count length tags", "", ""},
	{"event", "value version symbol level task opcode keywords template channel message notLogged attributes tags", "", ""},
	{"localization", "", "resources", ""},
	{"resources", "culture", "stringTable", ""},
	{"stringTable", "", "string", ""},
	{"string", "id value", "", ""},

	{"metadata", "", unread, ""},
	{"counters", "", unread, ""},
	{"messageTable", "", unread, ""},
	{"filters", "", unread, ""},
	{"namedQueries", "", unread, ""},
	{"traits", "", unread, ""},
	{"logging", "", unread, ""},
	{"publishing", "", unread, ""},
	{"patternMap", "", unread, ""},
	{"UserData", "", unread, ""},
}

func words(s string) []string { return strings.Fields(s) }

// checkVocabulary looks for elements and attributes that mean nothing. Those of
// the extension namespace are errors.
func (p *parser) checkVocabulary(n *node) {
	rule := elementRules[n.el.Tag]
	if rule.opaque {
		return
	}
	p.checkAttrs(n, rule)
	for c := n.first; c != nil; c = c.next {
		switch {
		case c.vocab == extension:
			if c.el.Tag != "doc" || !slices.Contains(extensionAttrs[n.el.Tag], "doc") {
				p.fail(c, "%s cannot have an element %s from the etwgen namespace; remove it", n.el.Tag, quote(c.el.Tag))
			}
		case c.vocab == foreign:
		case !slices.Contains(rule.children, c.el.Tag) && !slices.Contains(rule.misplaced, c.el.Tag):
			p.ignore(c)
		default:
			p.checkVocabulary(c)
		}
	}
}

// checkAttrs reports attributes that mean nothing.
func (p *parser) checkAttrs(n *node, rule elementRule) {
	for i := range n.el.Attr {
		a := &n.el.Attr[i]
		switch {
		case a.Space == "" && a.Key != "xmlns":
			if !p.opts.Lenient && !slices.Contains(rule.attrs, a.Key) {
				remedy := "correct or remove it"
				if near := p.nearest(a.Key, slices.Values(rule.attrs)); near != "" {
					remedy = didYouMean(near)
				}
				p.doubt(n, "attribute %s of %s has no meaning and is ignored; %s", quote(a.Key), n.el.Tag, remedy)
			}
		case n.inExtension(a):
			if !slices.Contains(extensionAttrs[n.el.Tag], a.Key) {
				p.fail(n, "%s cannot have an attribute %s from the etwgen namespace; %s", n.el.Tag, quote(a.Key), allowed(extensionAttrs[n.el.Tag]))
			}
		}
	}
}

// allowed lists the names to choose from.
func allowed(names []string) string {
	if len(names) == 0 {
		return "remove it"
	}
	return "choose from " + strings.Join(names, ", ")
}
