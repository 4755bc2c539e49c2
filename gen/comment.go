package gen

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// The texts of generated comments.

// doc returns the paragraphs of the package comment.
func (p *pkg) doc() []string {
	return []string{
		fmt.Sprintf("Package %s has the events of %s as Go types.", p.name, p.m.Name),
		p.m.Doc,
		"Decoding allocates nothing: strings and arrays are views of the payload, and valid as long as it is. Clone makes copies that stay.",
	}
}

// doc returns the paragraphs of the documentation of ev. Facts of all versions are said once,
// by the type for all of them.
func (ev *event) doc() []string {
	text := ev.goName + " is "
	if symbol := ev.m.Symbol; symbol != "" && symbol != ev.goName {
		text += symbol + ": "
	}
	text += fmt.Sprintf("%s, version %d", ev.identity(), ev.m.Version)
	var paragraphs []string
	if all := ev.any; ev.isOneOfSeveral() {
		if place := ev.place(); place != all.newest().place() {
			text += place
		}
		text += "." + ev.wireSize() + " [" + all.goName + "] explains it."
		paragraphs = append([]string{text}, ev.meaning(all.newest())...)
	} else {
		text += ev.place() + "." + ev.wireSize()
		if all != nil {
			text += " [" + all.goName + "] takes newer versions, too."
		}
		paragraphs = append([]string{text}, ev.meaning(nil)...)
	}
	if ev.lost != "" {
		paragraphs = append(paragraphs, fmt.Sprintf("No record leads to this type, and Provider does not list it: %s.", ev.lost))
	}
	if fields := ev.fields(); len(fields) > 0 && fields[len(fields)-1].m.Type == manifest.Opaque {
		paragraphs = append(paragraphs, opaqueDoc(fields[len(fields)-1]))
	}
	return paragraphs
}

// isOneOfSeveral reports whether a type for all versions has the fields of ev, and describes
// them.
func (ev *event) isOneOfSeveral() bool { return ev.any != nil && !ev.any.embeds() }

// wireSize says how many bytes a payload has, if all have the same.
func (ev *event) wireSize() string {
	if ev.layout == nil {
		return " It has no payload."
	}
	switch size, exact := ev.layout.least(); {
	case !exact:
		return ""
	case size.narrow == size.wide:
		return fmt.Sprintf(" Its payload has %d bytes.", size.wide)
	default:
		return fmt.Sprintf(" Its payload has %d bytes, %d in programs of 32 bits.", size.wide, size.narrow)
	}
}

// identity tells the identity in records of the event that ev is a version of.
func (ev *event) identity() string {
	if !ev.isClassic() {
		return fmt.Sprintf("event %d", ev.number())
	}
	opcode := fmt.Sprint(ev.number())
	if o := ev.m.Opcode; o != nil {
		opcode += " (" + o.Name + ")"
	}
	return fmt.Sprintf("the classic event of class %v, opcode %s", ev.key.Provider, opcode)
}

// place says where the provider has put ev and the keywords that bring it, after a comma.
func (ev *event) place() string {
	e, text := ev.m, ""
	if t := e.Task; t != nil {
		text += ", of " + ev.pkg.link(t, "task "+t.Name)
	}
	if o := e.Opcode; o != nil && !ev.isClassic() {
		text += ", opcode " + ev.pkg.link(o, windowsOpcode(o))
	}
	list := each.Of(e.Keywords, func(k *manifest.Keyword) string { return fmt.Sprintf("%s (%#x)", ev.pkg.link(k, k.Name), k.Mask) })
	level := cmp.Or(e.SessionLevel, e.Level)
	switch {
	case len(list) > 0 && level != nil:
		text += ", enabled by " + joinWith(list, "or") + " at " + ev.pkg.level(level)
	case len(list) > 0:
		text += ", enabled by " + joinWith(list, "or")
	case level != nil:
		text += ", enabled at " + ev.pkg.level(level)
	}
	return text
}

// link returns the constant of a node of the manifest, as a link of documentation, or else text.
func (p *pkg) link(node any, text string) string {
	if name := p.goNames[node]; name != "" {
		return "[" + name + "]"
	}
	return text
}

// level returns the constant of a level, with its number.
func (p *pkg) level(l *manifest.Level) string {
	text := "level " + l.Name
	if l.Value <= etw.LevelVerbose {
		text = "[etw.Level" + l.Value.String() + "]"
	}
	return fmt.Sprintf("%s (%d)", p.link(l, text), l.Value)
}

// windowsOpcode returns the constant of an opcode that Windows defines, or else its name.
func windowsOpcode(o *manifest.Opcode) string {
	if name := o.Value.Name(); name != "" && strings.HasPrefix(o.Name, "win:") {
		return "[etw.Opcode" + strings.ReplaceAll(name, "_", "") + "]"
	}
	return o.Name
}

// meaning returns the manifest's text on ev: its documentation and, if that says more, its
// message. Sentences of newest are left out.
func (ev *event) meaning(newest *event) []string {
	text := ev.m.Doc
	if newest != nil {
		text = withoutBegin(text, newest.m.Doc)
	}
	paragraphs := []string{text}
	if newest != nil && newest.m.Message == ev.m.Message {
		return paragraphs
	}
	if msg := plainMessage(ev.m.Message, ev.fields()); saysMore(msg, ev.fields(), ev.names()...) {
		paragraphs = append(paragraphs, "Message: "+msg)
	}
	return paragraphs
}

// withoutBegin returns text without the sentences that it begins with like said, or as it is
// if the rest would not stand alone.
func withoutBegin(text, said string) string {
	rest, other := text, said
	for {
		sentence, after := cutSentence(rest)
		same, next := cutSentence(other)
		if rest == "" || sentence != same {
			break
		}
		rest, other = after, next
	}
	first, _, _ := strings.Cut(rest, " ")
	switch strings.TrimSuffix(first, ",") {
	case "It", "Its", "They", "Their", "This", "That", "These", "Those", "There", "Then", "So", "But", "And", "Both", "Here", "Also", "Others", "Otherwise":
		return text
	}
	return rest
}

// cutSentence returns the first sentence of a text, and the rest.
func cutSentence(text string) (sentence, rest string) {
	if i := strings.Index(text, ". "); i >= 0 {
		return text[:i+1], text[i+2:]
	}
	return text, ""
}

// names returns the names that a message may repeat without saying more than the header of
// an event does.
func (ev *event) names() []string {
	list := []string{ev.m.Symbol, ev.goName}
	if ev.m.Task != nil {
		list = append(list, ev.m.Task.Name)
	}
	if ev.m.Opcode != nil {
		list = append(list, ev.m.Opcode.Name, strings.TrimPrefix(ev.m.Opcode.Name, "win:"))
	}
	return list
}

// opaqueDoc says why the last field of an event holds the rest of the payload.
func opaqueDoc(f *field) string {
	text := fmt.Sprintf("%s holds the rest of the payload as it is: %s.", f.goName, f.m.Opaque)
	if len(f.m.Lost) > 0 {
		text += " It takes the place of " + strings.Join(f.m.Lost, ", ") + "."
	}
	return text
}

// doc returns the paragraphs of the documentation of a, in place of that of its newest
// version.
func (a *anyVersion) doc() []string {
	newest := a.newest()
	if a.embeds() {
		return []string{fmt.Sprintf("%s is [%s] in any version: a newer one is decoded like it.", a.goName, newest.goName)}
	}
	paragraphs := append([]string{
		fmt.Sprintf("%s is %s in any version%s.", a.goName, newest.identity(), newest.place()),
	}, newest.meaning(nil)...)
	text := fmt.Sprintf("The only version is [%s]; a newer one is decoded like it.", newest.goName)
	if len(a.versions) > 1 {
		list := each.Of(a.versions, func(ev *event) string { return "[" + ev.goName + "]" })
		text = fmt.Sprintf("The versions are %s; a newer one is decoded like the last of these.", joinAnd(list))
	}
	if slices.ContainsFunc(a.layout.fields, func(f *anyField) bool { return !f.everywhere() }) {
		text += " Fields that the decoded version lacks are zero."
	}
	return append(paragraphs, text)
}

// doc returns the documentation of f, and the other place of it: that of the newest version
// that has one.
func (f *anyField) doc() (text string, see []string) {
	var said *accessor
	for _, own := range f.of {
		if own != nil {
			said = cmp.Or(said, own.accessor)
		}
	}
	return said.unlessSaid(f.text())
}

// text returns the documentation of f in the newest version that has one.
func (f *anyField) text() string {
	for _, own := range slices.Backward(f.of) {
		if own != nil && own.m.Doc != "" {
			return own.m.Doc
		}
	}
	return ""
}

// doc returns the documentation of f in the event ev, and the other place of it. The type for
// all versions may.
func (f *field) doc(ev *event) (text string, see []string) {
	if ev != nil && ev.isOneOfSeveral() {
		for _, all := range ev.any.layout.fields {
			if slices.Contains(all.of, f) && all.text() == f.m.Doc {
				return "", nil
			}
		}
	}
	return f.accessor.unlessSaid(f.m.Doc)
}

// unlessSaid returns text, or, if that is a's text for all fields with its name, where.
func (a *accessor) unlessSaid(text string) (string, []string) {
	if a == nil || a.differs || text == "" || text != a.doc {
		return text, nil
	}
	return "", []string{"see " + a.goName}
}

// notes returns the note on f, on its line, for the given versions.
func (f *anyField) notes(versions []*event) []string {
	var notes []string
	for i, own := range slices.Backward(f.of) {
		if own != nil { // the newest
			notes = own.notes(versions[i].labels()[own.index])
			break
		}
	}
	if !f.everywhere() {
		notes = append(notes, versionsNote(versions, f.in(versions)))
	}
	return notes
}

// versionsNote says which of all versions have a field.
func versionsNote(all, in []*event) string {
	numbers := each.Of(in, func(ev *event) string { return strconv.Itoa(int(ev.m.Version)) })
	switch {
	case slices.Equal(in, all[len(all)-len(in):]):
		return "since version " + numbers[0]
	case len(in) == 1:
		return "version " + numbers[0]
	}
	return "versions " + joinAnd(numbers)
}

// notes returns the note on a field, on its line: the name that it has in the manifest, if
// that is not clear; its meaning, if no documentation tells it; and how many elements it
// has. label is its name in the message, or "".
func (f *field) notes(label string) []string {
	var notes []string
	if name := oneLine(f.m.Name); !strings.EqualFold(name, f.goName) && f.inType == f.m.Type {
		notes = append(notes, name)
	}
	if what := cmp.Or(outNotes[f.m.OutType], oneLine(label)); f.m.Doc == "" && what != "" {
		notes = append(notes, what)
	}
	if n := countNote(f); n != "" {
		notes = append(notes, n)
	}
	return notes
}

// countNote says how many elements an array has, or that a field takes all that
// is left.
func countNote(f *field) string {
	count, _ := f.kind.sizes()
	switch count.kind {
	case etw.SizeConst:
		if count.n == 1 {
			return "1 element"
		}
		return fmt.Sprintf("%d elements", count.n)
	case etw.SizeField:
		return count.field.goName + " elements"
	case etw.SizeRest:
		return "as many elements as the payload holds"
	}
	if isRest(f.kind) {
		return "the rest of the payload"
	}
	return ""
}

// outNotes describes fields, where the way to show them does.
var outNotes = map[etw.OutType]string{
	etw.OutBoolean:       "a Boolean",
	etw.OutPID:           "a process id",
	etw.OutTID:           "a thread id",
	etw.OutPort:          "a port, big-endian",
	etw.OutIPv4:          "an IPv4 address",
	etw.OutIPv6:          "an IPv6 address",
	etw.OutSocketAddress: "a socket address",
	etw.OutXML:           "XML",
	etw.OutErrorCode:     "an error code",
	etw.OutWin32Error:    "a Win32 error code",
	etw.OutNTStatus:      "an NTSTATUS",
	etw.OutHResult:       "an HRESULT",
	etw.OutJSON:          "JSON",
	etw.OutUTF8:          "UTF-8 text",
	etw.OutPKCS7:         "PKCS #7 data",
	etw.OutCodePointer:   "the address of code",
}

// labels returns the names of fields in the message of ev, by their index, where that is
// more than their names: Latency in ms for the second field of
//
//	Target: %1%nLatency in ms: %2
func (ev *event) labels() map[int]string {
	labels := make(map[int]string)
	for _, m := range labelled.FindAllStringSubmatch(ev.m.Message, -1) {
		n, err := strconv.Atoi(m[2])
		fields := ev.fields()
		if err == nil && n >= 1 && n <= len(fields) && len(letters(m[1])) > len(letters(fields[n-1].name)) {
			labels[n-1] = m[1]
		}
	}
	return labels
}

// labelled finds words before a colon or an equals sign and an insert.
var labelled = regexp.MustCompile(`(?:^|%n|[\n;,(])[ \t]*(\pL[^%\n;,():=]{2,39}?)[ \t]*[:=][ \t]*%(\d{1,2})`)
