package flow

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/etwgen/etwgen/generated/windows"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/manifest/load"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A BatchConfig says when a batch is full.
type BatchConfig struct {
	MaxRecords int           `mapstructure:"max_records"`
	MaxBytes   int           `mapstructure:"max_bytes"`
	MaxDelay   time.Duration `mapstructure:"max_delay"`
}

// Validate reports settings that make no sense.
func (c *BatchConfig) Validate() error {
	return errors.Join(
		AtLeast("max_records", c.MaxRecords, 1), AtLeast("max_bytes", c.MaxBytes, 1024),
		AtLeast("max_delay", c.MaxDelay, time.Millisecond))
}

// A RetryConfig says how a batch is tried again that a pipeline refuses for a while.
type RetryConfig struct {
	InitialInterval time.Duration `mapstructure:"initial_interval"`
	MaxInterval     time.Duration `mapstructure:"max_interval"`
	// MaxElapsedTime is when a batch is given up, and its records count as lost. 0 is
	// never.
	MaxElapsedTime time.Duration `mapstructure:"max_elapsed_time"`
}

// Validate reports settings that make no sense.
func (c *RetryConfig) Validate() error {
	err := errors.Join(AtLeast("initial_interval", c.InitialInterval, time.Millisecond), AtLeast("max_interval", c.MaxInterval, c.InitialInterval))
	if c.MaxElapsedTime != 0 && c.MaxElapsedTime < c.InitialInterval {
		err = errors.Join(err, fmt.Errorf("max_elapsed_time %v is less than initial_interval %v: write 0 to never give up, or more", c.MaxElapsedTime, c.InitialInterval))
	}
	return err
}

// An OutputConfig is the form of log records.
type OutputConfig struct {
	// EventName is qualified, provider/event, or plain, the event alone.
	EventName string `mapstructure:"event_name"`
	// Stacks is "none" or "addresses".
	Stacks string `mapstructure:"stacks"`
	// MaxAttributeSize cuts longer texts and bytes off.
	MaxAttributeSize int `mapstructure:"max_attribute_size"`
	// UnknownEvents is raw, with the payload as it is, or drop.
	UnknownEvents string `mapstructure:"unknown_events"`
}

// Validate reports settings that make no sense.
func (c *OutputConfig) Validate() error {
	return errors.Join(
		OneOf("event_name", c.EventName, "qualified", "plain"), OneOf("stacks", c.Stacks, "none", "addresses"),
		OneOf("unknown_events", c.UnknownEvents, "raw", "drop"), AtLeast("max_attribute_size", c.MaxAttributeSize, 16))
}

// An EventsConfig chooses events by their names: patterns such as GC/*, GCStart or
// Microsoft-Windows-DotNETRuntime/GCStart.
type EventsConfig struct {
	Include []string `mapstructure:"include"`
	Exclude []string `mapstructure:"exclude"`
}

// Validate reports settings that make no sense.
func (c *EventsConfig) Validate() error {
	for _, p := range slices.Concat(c.Include, c.Exclude) {
		if strings.ContainsAny(p, "[]{}") {
			return fmt.Errorf("pattern %q: only * and ? stand for others: write a name such as GCStart, or GC/*", p)
		}
	}
	return nil
}

// Manifests are paths of manifests: files, programs and libraries with a resource, folders
// of those. Their providers have names and fields as those that are known without.
type Manifests []string

// Read reads them. Files that are left out have their errors in left.
func (m Manifests) Read() (providers []*etw.Provider, left []error, err error) {
	if len(m) == 0 {
		return nil, nil, nil
	}
	set, err := load.Providers(m...)
	if err != nil {
		return nil, nil, fmt.Errorf("manifests: %w", err)
	}
	for _, e := range set.Left {
		left = append(left, e)
	}
	return set.Providers, left, nil
}

// Keywords parses keywords of a provider: a number, names, or all.
func Keywords(provider, text string, manifests []*etw.Provider) (uint64, error) {
	if text == "all" {
		return ^uint64(0), nil
	}
	if n, err := strconv.ParseUint(text, 0, 64); err == nil {
		return n, nil
	}
	for _, p := range builtin.Providers {
		if strings.EqualFold(p.Desc.Name, provider) {
			return p.ParseKeywords(text)
		}
	}
	for _, p := range manifests {
		if strings.EqualFold(p.Desc.Name, provider) || strings.EqualFold(p.Desc.GUID.String(), strings.Trim(provider, "{}")) {
			return windows.ParseKeywords(p)(text)
		}
	}
	return 0, errors.New("write hex like 0x10, or all; names are known of the runtime's providers, of the ready ones of Windows, and of those in manifests")
}

var levels = []string{"", "critical", "error", "warning", "informational", "verbose"}

// Level parses a level: a name, or a number up to most. None is informational.
func Level(value any, most uint64) (etw.Level, error) {
	text := Text(value)
	if text == "" {
		return etw.LevelInformational, nil
	}
	if i := slices.Index(levels, strings.ToLower(text)); i > 0 {
		return etw.Level(i), nil
	}
	if n, err := strconv.ParseUint(text, 10, 8); err == nil && n >= 1 && n <= most {
		return etw.Level(n), nil
	}
	return 0, fmt.Errorf("level %q: write critical, error, warning, informational, verbose or a number 1-%d", text, most)
}

// DefaultBatch, DefaultRetry and DefaultOutput are the defaults.
func DefaultBatch() BatchConfig {
	return BatchConfig{MaxRecords: 1024, MaxBytes: 1 << 20, MaxDelay: 200 * time.Millisecond}
}

// DefaultRetry waits for ever.
func DefaultRetry() RetryConfig {
	return RetryConfig{InitialInterval: 200 * time.Millisecond, MaxInterval: 5 * time.Second}
}

// DefaultOutput has all there is but call stacks.
func DefaultOutput() OutputConfig {
	return OutputConfig{EventName: "qualified", Stacks: "none", MaxAttributeSize: 64 << 10, UnknownEvents: "raw"}
}

// OneOf names the choices for a value outside of them.
func OneOf(key, value string, choices ...string) error {
	if slices.Contains(choices, value) {
		return nil
	}
	return fmt.Errorf("%s %q: write one of %q", key, value, choices)
}

// AtLeast names the least of a number or a time for one that is less.
func AtLeast[T int | time.Duration](key string, value, least T) error {
	if value < least {
		return fmt.Errorf("%s %v: write %v or more", key, value, least)
	}
	return nil
}
