package live

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/counters"
	quantity "github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/generated/dotnet"
	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A counterLimit sees when a counter or a metric passes a limit.
type counterLimit struct {
	cmd      *cobra.Command
	mode     counterMode
	name     string
	below    bool
	limit    float64
	mux      etw.Mux
	analysis *counters.Analysis
	next     time.Time
	// intervals are those that went by with values of the source, and names are its counters.
	intervals int
	names     map[string]bool
	never     string // why it cannot happen
	silence   int    // intervals without any value
	published map[string]bool
}

// counterText is, for instance, counter System.Runtime/cpu-usage > 80.
var counterText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(counter|metric)\s+([^/\s]+)/(\S+)\s*([<>])\s*(\S+)$`)
})

// parseCounterLimit reads a limit, or returns nil if the text is about something else.
func parseCounterLimit(cmd *cobra.Command, text string) (*counterLimit, error) {
	parts := counterText().FindStringSubmatch(text)
	if parts == nil {
		return nil, nil
	}
	limit, err := strconv.ParseFloat(parts[5], 64)
	if err != nil {
		return nil, cli.Usagef("--stop-when: %q is not a number", parts[5])
	}
	c := &counterLimit{cmd: cmd, mode: counterMode{interval: time.Second}, name: parts[3], below: parts[4] == "<", limit: limit}
	c.analysis = counters.New(&c.mux)
	if parts[1] == "counter" {
		c.mode.sources = []string{parts[2]}
	} else {
		c.mode.meters, c.mode.publishing = []string{parts[2] + `\` + parts[3]}, 0x4
	}
	return c, nil
}

// hit names the event that has come with a record, or nothing. Records come in the order of
// time.
func (c *counterLimit) hit(rec *etw.Record) string {
	_ = c.mux.Dispatch(rec) // what it cannot read is a note of its result
	if at := rec.Time(); c.next.IsZero() {
		c.next = at.Add(c.mode.interval)
	} else if at.After(c.next) {
		c.next = at.Add(c.mode.interval)
		res := c.analysis.Drain()
		c.publish(res)
		return c.passed(c.mode.readings(c.cmd, res))
	}
	return ""
}

// publish takes the instruments that the program has, of which one may be meant.
func (c *counterLimit) publish(res *counters.Result) {
	for _, p := range res.Processes {
		for _, name := range p.Published {
			if c.published == nil {
				c.published = make(map[string]bool)
			}
			c.published[name] = true
		}
	}
}

// passed says which reading is beyond the limit, if one is.
func (c *counterLimit) passed(readings []counterReading) string {
	for _, r := range readings {
		if c.names == nil {
			c.names = make(map[string]bool)
		}
		c.names[r.name] = true
		if r.name != c.name {
			continue
		}
		v, ok := r.level().Get()
		if ok && (v > c.limit || c.below) && (v < c.limit || !c.below) {
			return fmt.Sprintf("%s of %s is %s %s", r.name, r.source, strconv.FormatFloat(v, 'g', 6, 64), r.unit)
		}
	}
	if len(readings) > 0 {
		c.intervals++
	} else if c.intervals == 0 {
		if c.silence++; c.silence == longSilence {
			cli.Report(c.cmd, errors.New(c.silent()))
		}
	}
	// A source has all its counters from the beginning, and a meter may get more.
	if c.intervals >= sureIntervals && !c.names[c.name] && len(c.mode.sources) > 0 {
		names := slices.Sorted(maps.Keys(c.names))
		c.never = fmt.Sprintf("--stop-when: %s has no counter %s%s; there are %s", c.mode.sources[0], c.name, cli.DidYouMean(c.name, names), pick.Listed(names))
	}
	return ""
}

// silent says that nothing of the source or the meter has come: it may come yet, if the program
// makes it later.
func (c *counterLimit) silent() string {
	if len(c.mode.meters) > 0 {
		meter, _, _ := strings.Cut(c.mode.meters[0], `\`)
		return fmt.Sprintf("--stop-when: no value of the metric %s has come in %d s%s; it waits on", c.name, longSilence,
			cli.DidYouMean(meter+"/"+c.name, slices.Sorted(maps.Keys(c.published))))
	}
	known := each.Of(dotnet.Sources(), func(s dotnet.Source) string { return s.Name })
	return fmt.Sprintf("--stop-when: no counter of %s has come in %d s%s; it waits on", c.mode.sources[0], longSilence, cli.DidYouMean(c.mode.sources[0], known))
}

// longSilence is after how many intervals a source that says nothing is worth a word.
const longSilence = 5

// sureIntervals are after how many intervals all counters of a source have come.
const sureIntervals = 2

// level is the one number of a reading that limits are of: a value, the increase in a
// second, or the limit that 95 % of the values of a histogram do not pass.
func (r *counterReading) level() quantity.Float {
	for _, v := range []quantity.Float{r.value, r.rate, r.quantiles["0.95"]} {
		if _, ok := v.Get(); ok {
			return v
		}
	}
	return quantity.Float{}
}
