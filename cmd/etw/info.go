package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/internal/decode"
	"github.com/etwgen/etwgen/internal/trace"
	"github.com/etwgen/etwgen/runtime/etw"
)

// newInfo returns the command that tells what a trace is.
func newInfo() *cobra.Command {
	var in input
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "info [flags] FILE...",
		Short: "Tell what traces are",
		Long: `Info tells what traces are: format, session, machine, clock, start and duration,
what was lost, whether they ended cleanly, and which providers they have events of.
Each trace is read to its end.

With --json it prints one object for each trace, in one line. Which keys there are
depends on the format; file, format, events and providers are always there.`,
		Example: `  etw info trace.etl
  etw info *.nettrace
  curl -s https://example.com/app.nettrace.gz | etw info -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts, err := in.options(cmd)
			if err != nil {
				return err
			}
			out := bufio.NewWriter(cmd.OutOrStdout())
			files := 0
			return eachFile(cmd, args, opts, func(s trace.Source) error {
				st := newStats(s, decode.New(nil, nil))
				trouble := st.read(cmd)
				st.sort(statOrders["provider"], false)
				providers := countProviders(st.rows)
				var err error
				if asJSON {
					err = infoJSON(out, s, providers)
				} else {
					if files > 0 {
						fmt.Fprintln(out)
					}
					err = infoText(out, s, providers)
				}
				files++
				return cmp.Or(err, out.Flush(), trouble)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	in.flags(cmd)
	return cmd
}

// A providerCount counts the events of a provider.
type providerCount struct {
	Provider string   `json:"provider"`
	GUID     etw.GUID `json:"guid"`
	Kinds    int      `json:"kinds"`
	Events   int64    `json:"events"`
	Bytes    int64    `json:"bytes"`
}

// countProviders sums up the counts of events, most events first.
func countProviders(rows []statRow) []providerCount {
	list := []providerCount{}
	for i := range rows {
		r := &rows[i]
		at := slices.IndexFunc(list, func(p providerCount) bool { return p.Provider == r.Provider && p.GUID == r.GUID })
		if at < 0 {
			at = len(list)
			list = append(list, providerCount{Provider: r.Provider, GUID: r.GUID})
		}
		list[at].Kinds++
		list[at].Events += r.Count
		list[at].Bytes += r.Bytes
	}
	slices.SortStableFunc(list, func(a, b providerCount) int { return cmp.Compare(b.Events, a.Events) })
	return list
}

func infoText(w io.Writer, s trace.Source, providers []providerCount) error {
	n := s.Stats()
	facts := slices.Concat(
		[]trace.Fact{{Key: "format", Text: s.Format()}},
		s.Facts(),
		[]trace.Fact{{Key: "events", Text: strconv.FormatInt(n.Events, 10)}},
	)
	fmt.Fprintf(w, "%s\n", clean(s.Name()))
	for _, f := range facts {
		label := strings.ReplaceAll(strings.TrimSuffix(f.Key, "_ms"), "_", " ")
		fmt.Fprintf(w, "  %-19s  %s\n", label, clean(f.Text))
	}
	if len(providers) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	t := newTable(">EVENTS", ">KINDS", ">BYTES", "GUID", "PROVIDER")
	for _, p := range providers {
		t.add(strconv.FormatInt(p.Events, 10), strconv.Itoa(p.Kinds), strconv.FormatInt(p.Bytes, 10), p.GUID.String(), p.Provider)
	}
	return t.write(w)
}

// infoJSON prints an object with the facts in their order, which encoding/json
// cannot do with a map.
func infoJSON(w io.Writer, s trace.Source, providers []providerCount) error {
	facts := slices.Concat(
		[]trace.Fact{{Key: "file", Value: s.Name()}, {Key: "format", Value: s.Format()}},
		s.Facts(),
		[]trace.Fact{{Key: "events", Value: s.Stats().Events}, {Key: "providers", Value: providers}},
	)
	var b bytes.Buffer
	for i, f := range facts {
		value, err := json.Marshal(f.Value)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%c%q:%s", "{,"[min(i, 1)], f.Key, value)
	}
	b.WriteString("}\n")
	_, err := w.Write(b.Bytes())
	return err
}
