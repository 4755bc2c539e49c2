// Package initials spells initialisms as Go does, in capitals: ThreadID for ThreadId.
package initials

import (
	"strings"
	"unicode"
)

// initialisms are the words that Go names have in capitals, as golint and the linters after it
// list them. The plural of ID is one too.
var initialisms = func() map[string]string {
	m := map[string]string{"IDS": "IDs"}
	for word := range strings.FieldsSeq(`
		ACL API ASCII CPU CSS DNS EOF GUID HTML HTTP HTTPS ID IP JSON LHS QPS RAM RHS RPC SLA SMTP
		SQL SSH TCP TLS TTL UDP UI UID UUID URI URL UTF8 VM XML XMPP XSRF XSS`) {
		m[word] = word
	}
	return m
}()

// Of returns a Go name with its initialisms in capitals: ThreadID for ThreadId. A word
// ends where something else than a small letter follows a small letter.
func Of(name string) string {
	var b strings.Builder
	runes := []rune(name)
	from := 0
	for i, c := range runes {
		if i+1 < len(runes) && runes[i+1] != '_' && (!unicode.IsLower(c) || unicode.IsLower(runes[i+1])) {
			continue
		}
		word := string(runes[from : i+1])
		if known := initialisms[strings.ToUpper(word)]; known != "" {
			word = known
		}
		b.WriteString(word)
		from = i + 1
	}
	return b.String()
}
