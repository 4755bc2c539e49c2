package stacks

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/etwgen/etwgen/analysis/symbols"
)

// moduleEntries is the rule that PerfView begins with.
const moduleEntries = `{%}!=>module $1`

// JustMyApp is the preset that depends on the profile: the files of the program itself stay as
// they are, and all else is one group.
const JustMyApp = "just my app"

// presets are lists of groups that have names, as PerfView calls them.
var presets = map[string]string{
	"no grouping":                    "",
	"group modules":                  `{%}!->module $1`,
	"group module entries":           moduleEntries,
	"group full path module entries": `{*}!=>module $1`,
	"group class entries":            `{%!*}.%(=>class $1;{%!*}::=>class $1`,
	"group classes":                  `{%!*}.%(->class $1;{%!*}::->class $1`,
	"group framework":                `mscorlib!=>LIB;System%!=>LIB`,
	"group clr/os entries": `\Temporary ASP.NET Files\->;v4.0.30319\%!=>CLR;v2.0.50727\%!=>CLR;mscoree=>CLR;\mscorlib.*!=>LIB;` +
		`\System.Xaml.*!=>WPF;\System.*!=>LIB;Presentation%=>WPF;WindowsBase%=>WPF;system32\*!=>OS;syswow64\*!=>OS;` + moduleEntries,
	"fold threads": `Thread -> AllThreads`,
}

// Presets returns the names of lists of groups that [Filter].Group takes in brackets.
func Presets() []string { return append(slices.Sorted(maps.Keys(presets)), JustMyApp) }

// preset returns the rules that a text of groups stands for: itself, or those of the preset that
// it names and nothing else.
func (p *Profile) preset(text string) (string, error) {
	name, rest := cutComment(text)
	if name == "" || rest != "" {
		return text, nil
	}
	name = strings.ToLower(strings.TrimSpace(name))
	if name == JustMyApp {
		return p.justMyApp()
	}
	rules, ok := presets[name]
	if !ok {
		return "", fmt.Errorf("group %q: there is no preset of that name; there are [%s]", text, strings.Join(Presets(), "], ["))
	}
	return rules, nil
}

// justMyApp leaves the modules in the folders of the program's own assemblies.
func (p *Profile) justMyApp() (string, error) {
	folders := make(map[string]bool)
	for i := range p.Frames {
		if f := &p.Frames[i]; f.Kind == symbols.Managed && isFolder(f.folder()) {
			folders[f.folder()] = true
		}
	}
	if len(folders) == 0 && len(p.Frames) > 0 {
		return "", fmt.Errorf("[%s]: no method is of an assembly outside of the folders of .NET and of packages", JustMyApp)
	}
	var b strings.Builder
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		// A character that would end the rule is written as its number.
		name := strings.NewReplacer(";", `\x3b`, ">", `\x3e`).Replace(regexp.QuoteMeta(folder))
		b.WriteString(`@^` + name + `[^\\/]*!->;`)
	}
	return b.String() + "!=>OTHER", nil
}

// folder returns the folder of the file that the code is from, with the separator behind it, or
// "".
func (f *Frame) folder() string { return f.Module[:strings.LastIndexAny(f.Module, `\/`)+1] }

// isFolder reports whether a folder is one that a program's own assemblies can be in.
func isFolder(folder string) bool {
	folder = strings.ToLower(strings.ReplaceAll(folder, `\`, "/"))
	if folder == "" {
		return false
	}
	for _, of := range []string{"/.nuget/packages/", "/windows/microsoft.net/", "/windows/assembly/"} {
		if strings.Contains(folder, of) {
			return false
		}
	}
	// A framework that is shared is in shared/NAME/VERSION.
	up := path.Dir(path.Dir(strings.TrimSuffix(folder, "/")))
	return path.Base(up) != "shared" || !strings.HasPrefix(path.Base(path.Dir(strings.TrimSuffix(folder, "/"))), "microsoft.")
}

// isNotOfModule reports whether a character ends the name of a module from behind.
func isNotOfModule(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' && r != '_'
}
