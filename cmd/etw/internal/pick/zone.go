package pick

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/trace"
)

// zoneOfMachine stands for the zone of the machine that was recorded.
const zoneOfMachine = "machine"

// ZoneFlag defines the flag for the zone of times.
func ZoneFlag(cmd *cobra.Command, zone *string, usage string) {
	cmd.Flags().StringVar(zone, "zone", "UTC", "`ZONE` of times, "+usage+": UTC, local, machine (the recorded one), Asia/Tokyo")
	cli.Completions(cmd, map[string]cobra.CompletionFunc{"zone": cobra.FixedCompletions([]string{"UTC", "local", zoneOfMachine}, cobra.ShellCompDirectiveNoFileComp)})
}

// ZoneOf returns a zone by its name, of a file if it is that of the machine; without one it is any.
func ZoneOf(name string, f *trace.File) (*time.Location, error) {
	if !strings.EqualFold(name, zoneOfMachine) {
		zone, err := parseZone(name)
		if err != nil {
			err = cli.Usagef("--zone: %w", err)
		}
		return zone, err
	}
	if f == nil {
		return time.UTC, nil
	}
	if zone := f.Head().Zone; zone != nil {
		return zone, nil
	}
	return nil, cli.Usagef("--zone %s: the trace does not tell the zone of its machine", zoneOfMachine)
}

// InZone returns the text of a time, which is UTC, in another zone, and other texts as they are.
func InZone(text string, zone *time.Location) string {
	at, err := time.Parse("2006-01-02T15:04:05.0000000Z", text)
	if err != nil || zone == nil || zone == time.UTC {
		return text
	}
	return at.In(zone).Format("2006-01-02 15:04:05.0000000 -07:00")
}

// parseZone reads the name of a time zone.
func parseZone(name string) (*time.Location, error) {
	if strings.EqualFold(name, "local") {
		return time.Local, nil
	}
	if strings.EqualFold(name, "utc") {
		return time.UTC, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("%q is neither UTC, local or machine nor the name of a zone such as Europe/Berlin", name)
	}
	return zone, nil
}
