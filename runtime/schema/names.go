package schema

import (
	_ "embed" // for the table
	"iter"
	"strings"
	"sync"

	"github.com/etwgen/etwgen/internal/packed"
	"github.com/etwgen/etwgen/runtime/etw"
)

// packedNames is names.txt, which has a line for each provider, its GUID and its name, sorted.
// The test of this file makes both: go test ./runtime/schema -run ProviderNames -update.
//
//go:embed names.txt.gz
var packedNames string

var names struct {
	sync.Once
	text string
}

// providerNames returns the table. The linker would keep one that a variable has from the start.
func providerNames() string {
	names.Do(func() { names.text = packed.Text(packedNames) })
	return names.text
}

// guidLength is the length of a GUID as text.
const guidLength = len("00000000-0000-0000-0000-000000000000")

// ProviderName returns the name of the provider of a GUID, for the providers that come with
// Windows 7 and 10 and those of .NET and of common libraries for it. It returns "" for
// others. Its first call unpacks the table, and others allocate nothing. A program that does
// not call it does not contain the table.
func ProviderName(g etw.GUID) string {
	var buf [guidLength]byte
	key, _ := g.AppendText(buf[:0])
	for table := providerNames(); table != ""; {
		// The line in the middle of the rest.
		start := strings.LastIndexByte(table[:len(table)/2], '\n') + 1
		end := start + strings.IndexByte(table[start:], '\n')
		switch guid := table[start : start+guidLength]; {
		case string(key) == guid:
			return table[start+guidLength+1 : end]
		case string(key) < guid:
			table = table[:start]
		default:
			table = table[end+1:]
		}
	}
	return ""
}

// ProviderNames iterates over the providers that [ProviderName] knows, in the order of
// their GUIDs.
func ProviderNames() iter.Seq2[etw.GUID, string] {
	return func(yield func(etw.GUID, string) bool) {
		for line := range strings.Lines(providerNames()) {
			guid, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			if g, err := etw.ParseGUID(guid); err == nil && !yield(g, name) {
				return
			}
		}
	}
}
