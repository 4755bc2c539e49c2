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

// elementRules has a rule for each element of a manifest.
var elementRules = map[string]elementRule{
	rootTag:           {children: words("instrumentation localization metadata")},
	"instrumentation": {children: words("events counters messageTable"), misplaced: words("provider")},
	"events":          {children: words("provider event messageTable")},
	"provider": {
		attrs: words("name guid symbol resourceFileName messageFileName parameterFileName message source helpLink " +
			"warningsAsErrors namespace controlGuid"),
		children: words("channels levels tasks opcodes keywords filters maps namedQueries templates events traits " +
			"messageTable"),
		misplaced: words("valueMap bitMap"),
	},
	"channels":      {children: words("channel importChannel")},
	"channel":       {attrs: words("name chid type symbol value message enabled isolation access"), children: words("logging publishing")},
	"importChannel": {attrs: words("name chid symbol value message enabled")},
	"levels":        {children: words("level")},
	"level":         {attrs: words("name value symbol message")},
	"tasks":         {children: words("task"), misplaced: words("opcodes")},
	"task":          {attrs: words("name value symbol message eventGUID"), children: words("opcodes")},
	"opcodes":       {children: words("opcode")},
	"opcode":        {attrs: words("name value symbol message mofValue")},
	"keywords":      {children: words("keyword")},
	"keyword":       {attrs: words("name mask symbol message")},
	"maps":          {children: words("valueMap bitMap patternMap")},
	"valueMap":      {attrs: words("name symbol"), children: words("map")},
	"bitMap":        {attrs: words("name symbol"), children: words("map")},
	"map":           {attrs: words("value message symbol")},
	"templates":     {children: words("template")},
	"template":      {attrs: words("tid name"), children: words("data struct UserData")},
	"struct":        {attrs: words("name count length"), children: words("data struct")},
	"data":          {attrs: words("name inType outType map count length tags")},
	"event": {attrs: words("value version symbol level task opcode keywords template channel message notLogged " +
		"attributes tags")},
	"localization": {children: words("resources")},
	"resources":    {attrs: words("culture"), children: words("stringTable")},
	"stringTable":  {children: words("string")},
	"string":       {attrs: words("id value")},

	"metadata":     {opaque: true},
	"counters":     {opaque: true},
	"messageTable": {opaque: true},
	"filters":      {opaque: true},
	"namedQueries": {opaque: true},
	"traits":       {opaque: true},
	"logging":      {opaque: true},
	"publishing":   {opaque: true},
	"patternMap":   {opaque: true},
	"UserData":     {opaque: true},
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
