package show

import (
	"bufio"
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
)

// An Output holds the flags that say how results are printed. All commands that
// print results have them.
type Output struct {
	Format  string
	JSON    bool
	CsvRaw  bool
	wide    bool
	Color   string
	noPager bool

	Also string // a format that this command has beside those of all

	About About // what JSON has beside the result
}

// The Formats.
const (
	FormatText  = "text"
	FormatJSON  = "json"
	FormatJSONL = "jsonl"
	FormatCSV   = "csv"
	FormatMD    = "md"
)

var (
	Formats = []string{FormatText, FormatJSON, FormatJSONL, FormatCSV, FormatMD}
	colors  = []string{"auto", "always", "never"}
)

// Flags adds the flags to a command.
func (o *Output) Flags(cmd *cobra.Command) {
	f := cmd.Flags()
	last := "csv or md (a table of Markdown)"
	if o.Also != "" {
		last = "csv, md (a table of Markdown) or " + o.Also
	}
	f.StringVarP(&o.Format, "format", "f", FormatText, "print as `FORMAT`: text, json (one document), jsonl (an object in each\nline), "+last)
	f.BoolVar(&o.JSON, "json", false, "the same as --format json")
	f.BoolVar(&o.CsvRaw, "csv-raw", false, "leave texts in CSV as they are, also those that a spreadsheet would\ntake as formulas and those that a terminal would take as commands")
	f.BoolVar(&o.wide, "wide", false, "do not fit text to the width of the terminal")
	f.StringVar(&o.Color, "color", "auto", "use colours: auto (on a terminal), always or never")
	f.BoolVar(&o.noPager, "no-pager", false, "do not show text in a pager; which one is, PAGER says")
	cli.Completions(cmd, map[string]cobra.CompletionFunc{
		"format": cobra.FixedCompletions(o.formats(), cobra.ShellCompDirectiveNoFileComp),
		"color":  cobra.FixedCompletions(colors, cobra.ShellCompDirectiveNoFileComp),
	})
}

// formats returns those that the command has.
func (o *Output) formats() []string {
	if o.Also == "" {
		return Formats
	}
	return append(slices.Clip(Formats), o.Also)
}

// Check reads the flags.
func (o *Output) Check(cmd *cobra.Command) error {
	if o.JSON {
		if cmd.Flags().Changed("format") && o.Format != FormatJSON {
			return cli.Usagef("--json and --format %s exclude each other", o.Format)
		}
		o.Format = FormatJSON
	}
	switch {
	case !slices.Contains(o.formats(), o.Format):
		return cli.Usagef("--format %s: there are %s", o.Format, strings.Join(o.formats(), ", "))
	case !slices.Contains(colors, o.Color):
		return cli.Usagef("--color %s: there are %s", o.Color, strings.Join(colors, ", "))
	}
	return nil
}

// A Printer is where results are printed, and how.
type Printer struct {
	*bufio.Writer
	Format string
	Width  int // of the terminal, 0 if there is none or the text need not fit
	Color  bool
	CSV    CsvStyle
	Screen *screen  // nil if it is not a terminal
	About  *About   // what JSON has beside the result
	gone   []string // columns that small tables had no room for, which is yet to be said
}

// Open prepares printing to the standard output of cmd. Text on a terminal goes
// through a pager, unless live says that it is to be seen as it comes.
func (o *Output) Open(cmd *cobra.Command, live bool) *Printer {
	stdout := cmd.OutOrStdout()
	p := &Printer{Format: o.Format, CSV: CsvStyle{Raw: o.CsvRaw}, About: &o.About}
	tty, ok := cli.Terminal(stdout)
	if o.Format == FormatText {
		p.Color = o.Color == "always" || o.Color == "auto" && cli.WantsColor(stdout)
		if ok {
			p.Screen = newScreen(tty, cmd.ErrOrStderr(), !o.wide, !o.noPager && !live)
			p.Width = p.Screen.width
		}
	}
	var w io.Writer = stdout
	if p.Screen != nil {
		w = p.Screen
	}
	p.Writer = bufio.NewWriterSize(w, 1<<16)
	return p
}

// Close prints the rest, waits for the pager, and returns the first error of all that it is
// given and its own.
func (p *Printer) Close(errs ...error) error {
	err := p.Flush()
	if p.Screen != nil {
		err = cmp.Or(err, p.Screen.Close())
	}
	if cli.IsBrokenPipe(err) { // whoever reads the output has enough
		err = nil
	}
	return cmp.Or(cmp.Or(errs...), err)
}

// Paint puts text between codes of a terminal, if there are to be colours.
func (p *Printer) Paint(b []byte, code, text string) []byte {
	if !p.Color || code == "" {
		return append(b, text...)
	}
	return append(append(append(b, code...), text...), ColorEnd...)
}

// Codes of terminals. They are of the basic ones, which people choose to suit
// their background.
const (
	ColorBold   = "\x1b[1m"
	ColorDim    = "\x1b[2m"
	ColorRed    = "\x1b[31m"
	ColorYellow = "\x1b[33m"
	ColorEnd    = "\x1b[0m"
)
