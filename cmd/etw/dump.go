package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/internal/decode"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/internal/trace"
	"github.com/etwgen/etwgen/runtime/etw"
)

// newDump returns the command that prints events.
func newDump() *cobra.Command {
	var in input
	var sel selection
	var style dumpStyle
	cmd := &cobra.Command{
		Use:   "dump [flags] FILE...",
		Short: "Print the events of traces with their fields",
		Long: `Dump prints every event in the order of time; several traces are merged. Payloads
are decoded by the built-in packages, else by schemas in the trace, else by the
manifests of --manifest, which describe classic events, such as those of the kernel,
by tasks that have the class as eventGUID. An event with a newer version than those
is decoded as the newest known one, and says so. Others are printed as bytes in
hexadecimal.

With --format json each line is an object with the keys time (UTC), ms (since the
session's start), provider, guid, id, version, opcode, level, task, keywords, event,
pid, tid, cpu (-1 if not known), size (of the payload), activity and related (if
there are), fields, stack (with --stacks), payload (with --payload, or if not all of
it was decoded) and error (if it does not fit its description, or that is of another
version).

Filters choose events before they are decoded, --where after it. An event must pass
all of them. A filter that is given several times passes what one of its values
does, but of several --where all must hold.`,
		Example: `  etw dump app.nettrace
  etw dump --provider clr --event 'GC*' --limit 20 app.nettrace
  etw dump --where 'TypeName ~ ^System' --from 1.5s --to 2s app.nettrace
  etw dump --manifest MyProvider.man --format csv trace.etl
  etw dump --format json trace.etl.zip | jq -c 'select(.pid == 1234) | .fields'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts, err := in.options(cmd)
			if err != nil {
				return err
			}
			known, err := readManifests(cmd, in.manifests)
			if err != nil {
				return err
			}
			d := &dump{decoder: decode.New(known.providers, known.classes), limit: sel.limit}
			if err := sel.parse(d, known.providers); err != nil {
				return err
			}
			out := bufio.NewWriterSize(cmd.OutOrStdout(), 1<<16)
			if d.writer, err = style.writer(cmd.OutOrStdout()); err != nil {
				return err
			}
			t, err := trace.OpenTimeline(args, opts)
			if err != nil {
				return err
			}
			defer t.Close()
			return d.run(cmd, t, out)
		},
	}
	style.flags(cmd)
	sel.flags(cmd)
	in.attributeFlag(cmd)
	in.manifestFlag(cmd)
	in.flags(cmd)
	return cmd
}

// A dump prints the events of a timeline.
type dump struct {
	decoder *decode.Decoder
	header  filter.Header
	wheres  []*filter.Where
	limit   int64 // 0 is none
	printed int64
	writer  eventWriter
	shot    shot
	buf     []byte
}

// A shot is one event with everything that is known of it.
type shot struct {
	*etw.Record
	elapsed time.Duration
	event   *decode.Event
	values  etw.Described // nil if there is no description
	err     error         // why not all is in values
	rest    []byte        // of the payload, that is not in values
}

// An eventWriter formats events.
type eventWriter interface {
	// begin appends what comes before the first event.
	begin(b []byte) []byte
	// append appends an event.
	append(b []byte, s *shot) []byte
}

// run prints the events of t.
func (d *dump) run(cmd *cobra.Command, t *trace.Timeline, out *bufio.Writer) error {
	if _, err := out.Write(d.writer.begin(nil)); err != nil {
		return err
	}
	r := &reading{cmd: cmd, progress: newProgress(cmd.ErrOrStderr(), cmd.OutOrStdout()), share: t.Progress}
	trouble := r.each(t.Next, func(rec *etw.Record, elapsed time.Duration) error { return d.event(out, rec, elapsed) })
	if err := out.Flush(); err != nil {
		return err
	}
	for _, s := range t.Sources() {
		if n := s.Stats().OutOfOrder; n > 0 {
			report(cmd, fmt.Errorf("%s: %d events are printed after later ones, because the trace tells too late of them", s.Name(), n))
		}
	}
	return trouble
}

// event prints a record if no filter is against it.
func (d *dump) event(out io.Writer, rec *etw.Record, elapsed time.Duration) error {
	e := d.decoder.Event(rec)
	switch d.header.Judge(rec, e, elapsed) {
	case filter.Skip:
		return nil
	case filter.Late:
		return errStop // the rest is later still
	}
	s := &d.shot
	s.Record, s.elapsed, s.event = rec, elapsed, e
	s.values, s.err = d.decoder.Decode(e, rec)
	s.rest = d.decoder.Rest()
	for _, w := range d.wheres {
		if s.values == nil || !w.Match(s.values) {
			return nil
		}
	}
	d.buf = d.writer.append(d.buf[:0], s)
	if _, err := out.Write(d.buf); err != nil {
		return err
	}
	if d.printed++; d.printed == d.limit {
		return errStop
	}
	return nil
}

// A dumpStyle holds the flags that say how events are printed.
type dumpStyle struct {
	format  string
	enums   string
	stacks  bool
	payload bool
}

var (
	dumpFormats = []string{"text", "json", "csv"}
	enumNames   = []string{"object", "name", "number"}
	enumStyles  = map[string]etw.EnumStyle{"object": etw.EnumObjects, "name": etw.EnumNames, "number": etw.EnumNumbers}
)

func (s *dumpStyle) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&s.format, "format", "f", "text", "print as text, json or csv")
	f.StringVar(&s.enums, "enums", "object", "in JSON, print a value that has a name as an `object` with value and\nname, or as just the name or the number")
	f.BoolVar(&s.stacks, "stacks", false, "print call stacks")
	f.BoolVar(&s.payload, "payload", false, "print payloads in hexadecimal, too")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(dumpFormats, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("enums", cobra.FixedCompletions(enumNames, cobra.ShellCompDirectiveNoFileComp))
}

// writer returns what formats events for stdout.
func (s *dumpStyle) writer(stdout io.Writer) (eventWriter, error) {
	enums, ok := enumStyles[s.enums]
	if !ok {
		return nil, usagef("--enums %s: there are %s", s.enums, strings.Join(enumNames, ", "))
	}
	j := jsonWriter{enums: enums, stacks: s.stacks, payload: s.payload}
	switch s.format {
	case "text":
		return &textWriter{stacks: s.stacks, payload: s.payload, color: wantsColor(stdout)}, nil
	case "json":
		return &j, nil
	case "csv":
		return &csvWriter{json: j}, nil
	}
	return nil, usagef("--format %s: there are %s", s.format, strings.Join(dumpFormats, ", "))
}
