package code

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/symbols/fetch"
	views "github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/order"
)

// A missingFlags holds the flags about files of symbols that are not here.
type missingFlags struct {
	list, fetch, dry, lines bool
	path                    fetch.Path
}

func (m *missingFlags) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&m.list, "missing", false, "list the files without names of functions, with the keys of files that would name them")
	cmd.Flags().BoolVar(&m.fetch, "fetch", false, "get these files from the servers of --symbol-path, and keep them in its store")
	cmd.Flags().BoolVar(&m.lines, "lines", false, "with --fetch: the portable PDBs, too, which have the lines of source code")
	cmd.Flags().BoolVar(&m.dry, "dry-run", false, "with --fetch: list the addresses that would be asked, and ask none")
}

func (m *missingFlags) asked() bool { return m.list || m.fetch }

// check reports faults in the flags. With them servers are asked for all at once, or for
// nothing.
func (m *missingFlags) check(cmd *cobra.Command, s *frames.SymbolFiles) error {
	path, err := s.SymbolPath(cmd)
	m.path, s.Local = path, m.asked()
	switch {
	case err != nil:
		return err
	case m.lines && !m.fetch:
		return cli.Usagef("--lines: it goes with --fetch")
	case m.dry && !m.fetch:
		return cli.Usagef("--dry-run: it goes with --fetch")
	case m.list && m.fetch:
		return cli.Usagef("--missing and --fetch: one of them")
	case m.fetch && !path.HasServer():
		return cli.Usagef("--fetch: it needs a server, such as --symbol-path srv*%s", microsoft)
	}
	return nil
}

// The servers that most files are on, which are proposed and never asked unless the user
// says so.
const (
	microsoft  = "https://msdl.microsoft.com/download/symbols"
	elfServers = "https://debuginfod.elfutils.org"
)

// proposal returns the symbol path that may name the code of a file: debug files of what
// distributions build are on servers of debuginfod, and of .NET on Microsoft's.
func proposal(file string, keys []fetch.Key) string {
	isELF := len(keys) > 0 && strings.HasPrefix(keys[0].ID, "elf-")
	isSystem := strings.HasPrefix(file, "/usr/") || strings.HasPrefix(file, "/lib") || strings.HasPrefix(file, "/bin/")
	switch {
	case len(keys) == 0:
		return ""
	case !isELF:
		return "srv*" + microsoft
	case isSystem && !strings.Contains(file, "/shared/Microsoft."):
		return "debuginfod*" + elfServers
	}
	return "srv*" + microsoft + ";debuginfod*" + elfServers
}

// A missing is a file with code of which functions have no names.
type missing struct {
	frames.Namesake
	count int64
	key   string
	path  string // that may name it
	asked string // an address
}

// command returns the command that would name the code, about traces, or "" if none does.
func (m *missing) command(traces string) string {
	switch {
	case m.path != "":
		return "etw symbols --fetch --symbol-path " + show.ShellWord(m.path) + traces
	case strings.HasPrefix(m.Wanted, "the "):
		return "etw top --symbols DIR" + traces + " (DIR has " + strings.TrimSuffix(m.Wanted, ", in --symbols") + ")"
	case strings.HasPrefix(m.Wanted, "vdso64.so"):
		return "etw top --symbols /lib/modules/$(uname -r)/vdso" + traces
	case strings.HasPrefix(m.Wanted, "kallsyms"):
		return "sudo cat /proc/kallsyms >DIR/kallsyms; etw top --symbols DIR" + traces
	case strings.HasPrefix(m.Wanted, "perf-PID.map"):
		return "etw top --symbols /tmp" + traces + " (where the program ran with DOTNET_PerfMapEnabled=1)"
	case strings.HasPrefix(m.Wanted, "a rundown"):
		return "etw collect --rundown full"
	}
	return ""
}

// missingTable lists the files without names, those with most frames first: which file
// would name each, or why none can.
func (p *Profiled) missingTable(cmd *cobra.Command, o *frames.Origins) *show.Table {
	traces := ""
	for _, path := range cmd.Flags().Args() {
		traces += " " + show.ShellWord(path)
	}
	var rows []missing
	for _, m := range p.missing(o) {
		keys := o.Keys(m.File)
		m.path = proposal(m.File, keys)
		if len(keys) > 0 {
			m.key = keys[0].String()
		}
		rows = append(rows, m)
	}
	return pick.Rows(rows,
		views.Count("frames", func(m missing) int64 { return m.count }),
		views.Text("file", func(m missing) string { return m.File }),
		views.Text("key", func(m missing) string { return m.key }),
		views.Text("symbolPath", func(m missing) string { return m.path }).For(views.Programs),
		views.Text("command", func(m missing) string { return cmp.Or(m.command(traces), m.Wanted) }).For(views.People),
		views.Text("command", func(m missing) string { return m.command(traces) }).For(views.Programs),
		views.Text("wanted", func(m missing) string { return m.Wanted }).For(views.Programs))
}

// missing returns the files with frames that have no names.
func (p *Profiled) missing(o *frames.Origins) []missing {
	var all []missing
	for k, n := range p.countOrigins(o) {
		if k.Wanted != "" {
			all = append(all, missing{Namesake: k, count: n})
		}
	}
	order.Sort(all, func(a, b missing) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.File, b.File), cmp.Compare(a.Wanted, b.Wanted))
	})
	return all
}

// missingKeys returns the keys to fetch, each once.
func (p *Profiled) missingKeys(o *frames.Origins) []fetch.Key {
	var all []fetch.Key
	for _, m := range p.missing(o) {
		for _, k := range o.Keys(m.File) {
			if !slices.Contains(all, k) {
				all = append(all, k)
			}
		}
	}
	return all
}

// addressTable lists the requests to servers, in order.
func addressTable(path fetch.Path, keys []fetch.Key) *show.Table {
	var rows []missing
	for _, k := range keys {
		for i := range path {
			for _, at := range path[i].Addresses(k) {
				rows = append(rows, missing{key: k.String(), asked: at})
			}
		}
	}
	return pick.Rows(rows,
		views.Text("key", func(m missing) string { return m.key }),
		views.Text("address", func(m missing) string { return m.asked }))
}

// table carries the flags out, and returns the table to show.
func (m *missingFlags) table(cmd *cobra.Command, p *Profiled, o *Profiling) *show.Table {
	if m.list {
		return p.missingTable(cmd, o.origins)
	}
	keys := append(p.missingKeys(o.origins), o.Symbols.Portable...)
	if m.dry {
		return addressTable(m.path, keys)
	}
	return fetchTable(cmd, frames.NewFinder(cmd, m.path), keys)
}

// fetchTable gets files, and those of which they tell, and lists where they are now.
func fetchTable(cmd *cobra.Command, f *fetch.Finder, keys []fetch.Key) *show.Table {
	f.Fetch(cmd.Context(), keys)
	for _, k := range keys {
		keys = append(keys, k.Next(f.Find(cmd.Context(), k))...)
	}
	f.Fetch(cmd.Context(), keys)
	return pick.Rows(keys,
		views.Text("key", func(k fetch.Key) string { return k.String() }),
		views.Text("path", func(k fetch.Key) string { return f.Find(cmd.Context(), k) }))
}
