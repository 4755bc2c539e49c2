package look

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An enabled is the set that a tool would enable, as it reads it.
type enabled struct {
	provider string // a GUID, or a name
	mask     uint64
	level    uint64
}

const guid = `[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`

// The grammars of the tools, as far as they are about one provider.
var (
	xperfOn      = regexp.MustCompile(`^(` + guid + `)(?::(0x[0-9a-fA-F]+)(?::(0x[0-9a-fA-F]+|\d+)(?::'(?:stack|sid|tsid)')?)?)?$`)
	logmanP      = regexp.MustCompile(`^"\{(` + guid + `)\}" (0x[0-9a-fA-F]+) (0x[0-9a-fA-F]+|\d+)$`)
	perfviewSpec = regexp.MustCompile(`^(\*?[^:,=@*]+):(0x[0-9a-fA-F]+|\d+):(Always|Critical|Error|Warning|Informational|Verbose|\d+)$`)
	traceSpec    = regexp.MustCompile(`^([^:,]+):0x([0-9a-fA-F]+):([0-9])$`)
	envSpec      = regexp.MustCompile(`^([^:,;]+):([0-9a-fA-F]+):([0-9])$`) // the mask without 0x
)

var perfviewLevels = []string{"Always", "Critical", "Error", "Warning", "Informational", "Verbose"}

// parsers read the output of recorders, each by the grammar of its tool.
var parsers = map[string]func(text string) (enabled, error){
	"xperf": func(text string) (enabled, error) {
		spec, ok := strings.CutPrefix(text, "-on ")
		return byGrammar(xperfOn, spec, ok, 0)
	},
	"logman": func(text string) (enabled, error) {
		spec, ok := strings.CutPrefix(text, "-p ")
		return byGrammar(logmanP, spec, ok, 0)
	},
	"perfview": func(text string) (enabled, error) {
		spec, ok := strings.CutPrefix(text, "/OnlyProviders:")
		e, err := byGrammar(perfviewSpec, spec, ok, 0)
		e.provider = strings.TrimPrefix(e.provider, "*")
		return e, err
	},
	"dotnet-trace": func(text string) (enabled, error) { return byGrammar(traceSpec, text, true, 16) },
	"env":          func(text string) (enabled, error) { return byGrammar(envSpec, text, true, 16) },
	"wpr":          parseWPR,
}

// byGrammar reads a name, a mask and a level.
func byGrammar(re *regexp.Regexp, spec string, ok bool, base int) (e enabled, err error) {
	m := re.FindStringSubmatch(spec)
	if !ok || m == nil {
		return e, fmt.Errorf("%q is not of the grammar", spec)
	}
	e.provider = m[1]
	if e.mask, err = strconv.ParseUint(m[2], base, 64); err != nil {
		return e, err
	}
	if i := slices.Index(perfviewLevels, m[3]); i >= 0 {
		e.level = uint64(i)
		return e, nil
	}
	e.level, err = strconv.ParseUint(m[3], 0, 8)
	return e, err
}

// parseWPR reads an element of a profile.
func parseWPR(text string) (e enabled, err error) {
	var element struct {
		XMLName xml.Name `xml:"EventProvider"`
		ID      string   `xml:"Id,attr"`
		Name    string   `xml:"Name,attr"`
		Level   uint64   `xml:"Level,attr"`
		Words   []struct {
			Value string `xml:"Value,attr"`
		} `xml:"Keywords>Keyword"`
		Other []xml.Attr `xml:",any,attr"`
	}
	if err := xml.Unmarshal([]byte(text), &element); err != nil {
		return e, err
	}
	if element.ID == "" || strings.ContainsAny(element.ID, ": ") || !regexp.MustCompile("^"+guid+"$").MatchString(element.Name) || len(element.Words) != 1 || element.Level > 255 || len(element.Other) > 0 {
		return e, fmt.Errorf("%s is no element of a profile", text)
	}
	e.provider, e.level = element.Name, element.Level
	hex, ok := strings.CutPrefix(element.Words[0].Value, "0x")
	if !ok {
		return e, fmt.Errorf("the mask %s is not hexadecimal", element.Words[0].Value)
	}
	e.mask, err = strconv.ParseUint(hex, 16, 64)
	return e, err
}

// TestRecorders: the text printed for each tool is of its grammar, and asks for the same.
func TestRecorders(t *testing.T) {
	if len(parsers) != len(recorderNames) || len(recorders) != len(recorderNames) {
		t.Fatalf("%d tools, %d recorders, %d parsers", len(recorderNames), len(recorders), len(parsers))
	}
	providers := append(pick.BuiltinProviders(), pick.FindProviders("System.Net.Http", nil)...)
	for _, tool := range recorderNames {
		for _, p := range providers {
			for _, mask := range []uint64{0, 1, 0x1ccbd, 1 << 43, ^uint64(0)} {
				for _, level := range []etw.Level{etw.LevelCritical, etw.LevelInformational, etw.LevelVerbose} {
					text := recorders[tool](p.Desc, mask, level)
					got, err := parsers[tool](text)
					if err != nil {
						t.Fatalf("%s: %v", tool, err)
					}
					if got.provider != p.Desc.GUID.String() && got.provider != p.Desc.Name || got.mask != mask || got.level != uint64(level) {
						t.Errorf("%s: %s says %+v", tool, text, got)
					}
				}
			}
		}
	}
}

// recipeWords are the words that begin a line of a recipe, with the words that may follow:
// flags take as many values as are said here.
var recipeWords = map[string]map[string]int{
	"etw":          {"ps": 0, "collect": 0, "info": 1, "-p": 1, "--profile": 1, "--duration": 1, "-o": 1, "--": 2},
	"dotnet":       {"tool": 0, "install": 0, "--global": 1, "app.dll": 0},
	"dotnet-trace": {"ps": 0, "collect": 0, "-p": 1, "--providers": 1, "-o": 1, "--": 2},
	"export":       {"DOTNET_EnableEventPipe=1": 0, "DOTNET_EventPipeConfig": 0, "DOTNET_EventPipeOutputPath=/tmp/app_{pid}.nettrace": 0},
	"logman":       {"start": 1, "stop": 1, "-p": 3, "-ct": 1, "-nb": 2, "-bs": 1, "-o": 1, "-ets": 0},
	"wpr":          {"-profiles": 0, "-start": 1, "-filemode": 0, "-stop": 1},
	"PerfView":     {"/NoGui": 0, "/AcceptEULA": 0, "/MaxCollectSec:30": 0, "/Zip:true": 0, "/GCCollectOnly": 0, "/ThreadTime": 0, "collect": 1},
	"xperf":        {"-start": 1, "-on": 1, "-f": 1, "-stop": 1, "-merge": 3},
}

// TestRecipes: each command of each recipe is of the grammar of its tool, and records the
// same as a preset.
func TestRecipes(t *testing.T) {
	presets := make(map[string]bool)
	for _, p := range []*etw.Provider{clr.Provider, rundown.Provider} {
		for _, preset := range pick.PresetsOf(p) {
			e := preset.Enable()
			for _, name := range []string{p.Desc.Name, p.Desc.GUID.String()} {
				presets[fmt.Sprint(enabled{name, e.Keywords, uint64(e.Level)})] = true
			}
		}
	}
	for tool, text := range recipes {
		commands, found := 0, 0
		for line := range strings.Lines(text) {
			line, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "  ")
			if !ok {
				continue
			}
			commands++
			words := strings.Fields(line)
			known := recipeWords[words[0]]
			if known == nil {
				t.Errorf("%s: %s begins with no known word", tool, line)
			}
			for i := 1; i < len(words); {
				word, _, _ := strings.Cut(words[i], "=Microsoft")
				n, ok := known[word]
				if !ok || i+n >= len(words) {
					t.Errorf("%s: %s is not of the grammar, from %q on", tool, line, words[i])
					break
				}
				spec := strings.Join(words[i:i+n+1], " ")
				parse := parsers[tool]
				switch word {
				case "-on", "DOTNET_EventPipeConfig":
					spec = strings.TrimPrefix(spec, "DOTNET_EventPipeConfig=")
				case "--providers":
					spec = words[i+1]
				case "-p":
					if tool != "logman" {
						parse = nil
					}
				default:
					parse = nil
				}
				if parse != nil {
					found++
					if e, err := parse(spec); err != nil || !presets[fmt.Sprint(e)] {
						t.Errorf("%s: %s enables %+v, as no preset does (%v)", tool, spec, e, err)
					}
				}
				i += n + 1
			}
		}
		if commands < 4 {
			t.Errorf("the recipe for %s has %d commands", tool, commands)
		}
		if slices.Contains([]string{"xperf", "logman", "dotnet-trace", "env"}, tool) && found == 0 {
			t.Errorf("the recipe for %s enables nothing", tool)
		}
	}
}
