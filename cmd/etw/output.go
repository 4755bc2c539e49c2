package main

import (
	"bufio"
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// An output holds the flags that say how results are printed. All commands that
// print results have them.
type output struct {
	format  string
	json    bool
	csvRaw  bool
	wide    bool
	color   string
	noPager bool

	about about // what JSON has beside the result
}

// The formats.
const (
	formatText  = "text"
	formatJSON  = "json"
	formatJSONL = "jsonl"
	formatCSV   = "csv"
	formatMD    = "md"
)

var (
	formats = []string{formatText, formatJSON, formatJSONL, formatCSV, formatMD}
	colors  = []string{"auto", "always", "never"}
)

func (o *output) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.format, "format", "f", formatText, "print as `FORMAT`: text, json (one document), jsonl (an object in each\nline), csv or md (a table of Markdown)")
	f.BoolVar(&o.json, "json", false, "the same as --format json")
	f.BoolVar(&o.csvRaw, "csv-raw", false, "leave texts in CSV as they are, also those that a spreadsheet would\ntake as formulas and those that a terminal would take as commands")
	f.BoolVar(&o.wide, "wide", false, "do not fit text to the width of the terminal")
	f.StringVar(&o.color, "color", "auto", "use colours: auto (on a terminal), always or never")
	f.BoolVar(&o.noPager, "no-pager", false, "do not show text in a pager; which one is, PAGER says")
	completions(cmd, map[string]cobra.CompletionFunc{
		"format": cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp),
		"color":  cobra.FixedCompletions(colors, cobra.ShellCompDirectiveNoFileComp),
	})
}

// check reads the flags.
func (o *output) check(cmd *cobra.Command) error {
	if o.json {
		if cmd.Flags().Changed("format") && o.format != formatJSON {
			return usagef("--json and --format %s exclude each other", o.format)
		}
		o.format = formatJSON
	}
	switch {
	case !slices.Contains(formats, o.format):
		return usagef("--format %s: there are %s", o.format, strings.Join(formats, ", "))
	case !slices.Contains(colors, o.color):
		return usagef("--color %s: there are %s", o.color, strings.Join(colors, ", "))
	}
	return nil
}

// A printer is where results are printed, and how.
type printer struct {
	*bufio.Writer
	format string
	width  int // of the terminal, 0 if there is none or the text need not fit
	color  bool
	csv    csvStyle
	screen *screen  // nil if it is not a terminal
	about  *about   // what JSON has beside the result
	gone   []string // columns that small tables had no room for, which is yet to be said
}

// open prepares printing to the standard output of cmd. Text on a terminal goes
// through a pager, unless live says that it is to be seen as it comes.
func (o *output) open(cmd *cobra.Command, live bool) *printer {
	stdout := cmd.OutOrStdout()
	p := &printer{format: o.format, csv: csvStyle{raw: o.csvRaw}, about: &o.about}
	tty, ok := terminal(stdout)
	if o.format == formatText {
		p.color = o.color == "always" || o.color == "auto" && wantsColor(stdout)
		if ok {
			p.screen = newScreen(tty, cmd.ErrOrStderr(), !o.wide, !o.noPager && !live)
			p.width = p.screen.width
		}
	}
	var w io.Writer = stdout
	if p.screen != nil {
		w = p.screen
	}
	p.Writer = bufio.NewWriterSize(w, 1<<16)
	return p
}

// close prints what is left, waits for the pager, and returns the first error of
// all that it is given and its own.
func (p *printer) close(errs ...error) error {
	err := p.Flush()
	if p.screen != nil {
		err = cmp.Or(err, p.screen.Close())
	}
	if isBrokenPipe(err) { // whoever reads the output has enough
		err = nil
	}
	return cmp.Or(cmp.Or(errs...), err)
}

// paint puts text between codes of a terminal, if there are to be colours.
func (p *printer) paint(b []byte, code, text string) []byte {
	if !p.color || code == "" {
		return append(b, text...)
	}
	return append(append(append(b, code...), text...), colorEnd...)
}

// Codes of terminals. They are of the basic ones, which people choose to suit
// their background.
const (
	colorBold   = "\x1b[1m"
	colorDim    = "\x1b[2m"
	colorRed    = "\x1b[31m"
	colorYellow = "\x1b[33m"
	colorEnd    = "\x1b[0m"
)
