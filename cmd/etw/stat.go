package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/internal/decode"
	"github.com/etwgen/etwgen/internal/trace"
	"github.com/etwgen/etwgen/runtime/etw"
)

// newStat returns the command that counts events.
func newStat() *cobra.Command {
	var in input
	var sortBy string
	var reverse, asJSON bool
	cmd := &cobra.Command{
		Use:   "stat [flags] FILE...",
		Short: "Count the events of traces",
		Long: `Stat counts the events of each trace by provider, id, version and opcode. Bytes are
those of payloads. Undecodable are the events whose payload does not fit its
description, and those whose header is damaged.

With --json it prints one object for each trace, in one line, with the keys file,
format, events, lost, undecodable and counts.`,
		Example: `  etw stat app.nettrace
  etw stat --sort bytes trace.etl.zip
  etw stat --json *.etl | jq -r '.counts[] | [.count, .event] | @tsv'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			order, ok := statOrders[sortBy]
			if !ok {
				return usagef("--sort %s: there are %s", sortBy, strings.Join(statOrderNames, ", "))
			}
			opts, err := in.options(cmd)
			if err != nil {
				return err
			}
			known, err := readManifests(cmd, in.manifests)
			if err != nil {
				return err
			}
			out := bufio.NewWriter(cmd.OutOrStdout())
			files := 0
			return eachFile(cmd, args, opts, func(s trace.Source) error {
				st := newStats(s, decode.New(known.providers, known.classes))
				trouble := st.read(cmd)
				st.sort(order, reverse)
				if asJSON {
					err = st.json(out)
				} else {
					if files > 0 {
						fmt.Fprintln(out)
					}
					err = st.text(out)
				}
				files++
				return cmp.Or(err, out.Flush(), trouble)
			})
		},
	}
	cmd.Flags().StringVar(&sortBy, "sort", "count", "sort by `column`: "+strings.Join(statOrderNames, ", "))
	cmd.Flags().BoolVarP(&reverse, "reverse", "r", false, "reverse the order")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	_ = cmd.RegisterFlagCompletionFunc("sort", cobra.FixedCompletions(statOrderNames, cobra.ShellCompDirectiveNoFileComp))
	in.flags(cmd)
	in.manifestFlag(cmd)
	return cmd
}

// A stats counts the events of a trace.
type stats struct {
	source  trace.Source
	decoder *decode.Decoder
	counts  []statRow // by the index of the event
	faults  int64     // payloads that do not fit
	rows    []statRow
}

// A statRow counts the events of one kind.
type statRow struct {
	Provider string   `json:"provider"`
	GUID     etw.GUID `json:"guid"`
	ID       uint16   `json:"id"`
	Version  uint8    `json:"version"`
	Opcode   uint8    `json:"opcode"`
	Event    string   `json:"event"`
	Count    int64    `json:"count"`
	Bytes    int64    `json:"bytes"`

	first, last int64 // time stamps
}

func newStats(s trace.Source, d *decode.Decoder) *stats { return &stats{source: s, decoder: d} }

// read reads the trace to its end.
func (st *stats) read(cmd *cobra.Command) error {
	r := &reading{cmd: cmd, progress: newProgress(cmd.ErrOrStderr(), io.Discard), share: st.source.Progress}
	return r.each(
		func(rec *etw.Record) (time.Duration, error) { return 0, st.source.Next(rec) },
		func(rec *etw.Record, _ time.Duration) error { st.count(rec); return nil },
	)
}

// count counts one event.
func (st *stats) count(r *etw.Record) {
	e := st.decoder.Event(r)
	if e.Index >= len(st.counts) {
		st.counts = append(st.counts, statRow{
			Provider: e.Provider, GUID: r.Provider, ID: r.ID, Version: r.Version, Opcode: r.Opcode, Event: e.Name,
			first: r.Timestamp, last: r.Timestamp,
		})
	}
	row := &st.counts[e.Index]
	row.Count++
	row.Bytes += int64(len(r.Payload))
	row.first = min(row.first, r.Timestamp)
	row.last = max(row.last, r.Timestamp)
	if !st.decoder.Check(e, r) {
		st.faults++
	}
}

// sort makes rows of the counts. What differs in nothing that a row shows, such
// as two schemas of one event, becomes one row.
func (st *stats) sort(order func(a, b *statRow) int, reverse bool) {
	st.rows = slices.Clone(st.counts)
	slices.SortFunc(st.rows, func(a, b statRow) int { return compareRows(&a, &b) })
	merged := st.rows[:0]
	for _, row := range st.rows {
		if n := len(merged); n > 0 && compareRows(&merged[n-1], &row) == 0 {
			m := &merged[n-1]
			m.Count += row.Count
			m.Bytes += row.Bytes
			m.first, m.last = min(m.first, row.first), max(m.last, row.last)
			continue
		}
		merged = append(merged, row)
	}
	st.rows = merged
	slices.SortStableFunc(st.rows, func(a, b statRow) int {
		if reverse {
			return order(&b, &a)
		}
		return order(&a, &b)
	})
}

// compareRows orders rows by everything that they show of their events.
func compareRows(a, b *statRow) int {
	return cmp.Or(
		cmp.Compare(a.Provider, b.Provider),
		cmp.Compare(a.ID, b.ID),
		cmp.Compare(a.Version, b.Version),
		cmp.Compare(a.Opcode, b.Opcode),
		cmp.Compare(a.Event, b.Event),
		cmp.Compare(string(a.GUID[:]), string(b.GUID[:])),
	)
}

var statOrderNames = []string{"count", "bytes", "provider", "id", "event", "first", "last"}

// statOrders are the orders of rows: the largest number first, but names, ids and
// times from the start.
var statOrders = map[string]func(a, b *statRow) int{
	"count":    func(a, b *statRow) int { return cmp.Compare(b.Count, a.Count) },
	"bytes":    func(a, b *statRow) int { return cmp.Compare(b.Bytes, a.Bytes) },
	"provider": func(a, b *statRow) int { return cmp.Compare(a.Provider, b.Provider) },
	"id":       func(a, b *statRow) int { return cmp.Compare(a.ID, b.ID) },
	"event":    func(a, b *statRow) int { return cmp.Compare(a.Event, b.Event) },
	"first":    func(a, b *statRow) int { return cmp.Compare(a.first, b.first) },
	"last":     func(a, b *statRow) int { return cmp.Compare(a.last, b.last) },
}

// undecodable returns the number of events that could not be made out.
func (st *stats) undecodable() int64 { return st.faults + st.source.Stats().Undecodable }

func (st *stats) json(w io.Writer) error {
	n := st.source.Stats()
	if st.rows == nil {
		st.rows = []statRow{}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(struct {
		File        string    `json:"file"`
		Format      string    `json:"format"`
		Events      int64     `json:"events"`
		Lost        int64     `json:"lost"`
		Undecodable int64     `json:"undecodable"`
		Counts      []statRow `json:"counts"`
	}{st.source.Name(), st.source.Format(), n.Events, n.Lost, st.undecodable(), st.rows})
}

func (st *stats) text(w io.Writer) error {
	n := st.source.Stats()
	lost := strconv.FormatInt(n.Lost, 10) + " lost"
	if n.LostBuffers > 0 {
		lost += " and " + strconv.FormatInt(n.LostBuffers, 10) + " buffers"
	}
	fmt.Fprintf(w, "%s: %s, %d events, %s, %d undecodable\n", clean(st.source.Name()), st.source.Format(), n.Events, lost, st.undecodable())
	if len(st.rows) == 0 {
		return nil
	}
	clock := st.source.Clock()
	t := newTable(">COUNT", ">SHARE", ">BYTES", ">FIRST MS", ">LAST MS", "PROVIDER", ">ID", ">VER", ">OP", "EVENT")
	for i := range st.rows {
		r := &st.rows[i]
		t.add(
			strconv.FormatInt(r.Count, 10),
			strconv.FormatFloat(100*float64(r.Count)/float64(n.Events), 'f', 2, 64)+"%",
			strconv.FormatInt(r.Bytes, 10),
			string(appendMS(nil, clock.Elapsed(r.first))),
			string(appendMS(nil, clock.Elapsed(r.last))),
			r.Provider,
			strconv.Itoa(int(r.ID)),
			strconv.Itoa(int(r.Version)),
			strconv.Itoa(int(r.Opcode)),
			r.Event,
		)
	}
	return t.write(w)
}
