package dotnetreceiver

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"

	"github.com/etwgen/etwgen/collector/internal/flow"
	"github.com/etwgen/etwgen/internal/profiling"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Config is the configuration of the receiver: docs/collector-dotnet.md has every option.
type Config struct {
	// Targets are the processes to attach to, and Ports where processes connect that
	// have the path in DOTNET_DiagnosticPorts. Without either, Discovery finds all.
	Targets   []Target        `mapstructure:"targets"`
	Ports     []Port          `mapstructure:"ports"`
	Discovery DiscoveryConfig `mapstructure:"discovery"`
	Reattach  ReattachConfig  `mapstructure:"reattach"`

	// Presets choose the events collected: see the list of [Presets].
	Presets   []string           `mapstructure:"presets"`
	Providers []Provider         `mapstructure:"providers"`
	Counters  CountersConfig     `mapstructure:"counters"`
	Meters    MetersConfig       `mapstructure:"meters"`
	Metrics   flow.MetricsConfig `mapstructure:"metrics"`
	Traces    TracesConfig       `mapstructure:"traces"`
	Profiles  ProfilesConfig     `mapstructure:"profiles"`
	// BufferMB is the memory that a process may take for events that were not read yet.
	BufferMB int               `mapstructure:"buffer_mb"`
	Events   flow.EventsConfig `mapstructure:"events"`
	// Manifests have names and fields of more providers.
	Manifests flow.Manifests `mapstructure:"manifests"`

	Output          flow.OutputConfig `mapstructure:"output"`
	Batch           flow.BatchConfig  `mapstructure:"batch"`
	Retry           flow.RetryConfig  `mapstructure:"retry_on_failure"`
	Loss            LossConfig        `mapstructure:"loss"`
	ShutdownTimeout time.Duration     `mapstructure:"shutdown_timeout"`
}

// A Target is a process, by one of these.
type Target struct {
	PID       int    `mapstructure:"pid"`
	Name      string `mapstructure:"name"`      // a regular expression
	Socket    string `mapstructure:"socket"`    // a pattern of paths
	Container string `mapstructure:"container"` // how its id begins
}

// A Port is where processes connect to us.
type Port struct {
	Path string `mapstructure:"path"`
	// Resume lets a process go on that waits until it is attached to.
	Resume bool `mapstructure:"resume"`
}

// A DiscoveryConfig says which processes are found.
type DiscoveryConfig struct {
	Enabled      *bool         `mapstructure:"enabled"`
	Interval     time.Duration `mapstructure:"interval"`
	Include      []string      `mapstructure:"include"` // regular expressions of names
	Exclude      []string      `mapstructure:"exclude"`
	MaxProcesses int           `mapstructure:"max_processes"`
}

// A ReattachConfig says when it is tried again to attach.
type ReattachConfig struct {
	InitialInterval time.Duration `mapstructure:"initial_interval"`
	MaxInterval     time.Duration `mapstructure:"max_interval"`
}

// A Provider is an EventSource, or a provider of the runtime.
type Provider struct {
	Name      string         `mapstructure:"name"`
	Level     any            `mapstructure:"level"`
	Keywords  any            `mapstructure:"keywords"`
	Arguments map[string]any `mapstructure:"arguments"`
}

// A CountersConfig says which event counters are read.
type CountersConfig struct {
	Sources  []string      `mapstructure:"sources"`
	Interval time.Duration `mapstructure:"interval"`
}

// A MetersConfig says which meters are read.
type MetersConfig struct {
	Include       []string      `mapstructure:"include"`
	Interval      time.Duration `mapstructure:"interval"`
	MaxTimeSeries int           `mapstructure:"max_time_series"`
	MaxHistograms int           `mapstructure:"max_histograms"`
	// Histograms is quantiles, or exponential, which .NET 10 has.
	Histograms string `mapstructure:"histograms"`
}

// Validate reports settings that make no sense.
func (c *MetersConfig) Validate() error {
	return errors.Join(flow.AtLeast("max_time_series", c.MaxTimeSeries, 1), flow.AtLeast("max_histograms", c.MaxHistograms, 0),
		flow.OneOf("histograms", c.Histograms, "quantiles", "exponential"))
}

// A TracesConfig says of which activities spans are made.
type TracesConfig struct {
	Sources []string `mapstructure:"sources"` // names of ActivitySources
}

// A ProfilesConfig says how often profiles are taken, their budget, and their folder.
type ProfilesConfig struct {
	// Directory is the folder for files of pprof. A pipeline for profiles takes none.
	Directory string        `mapstructure:"directory"`
	Interval  time.Duration `mapstructure:"interval"` // from the start of one to that of the next
	Duration  time.Duration `mapstructure:"duration"` // for which threads are sampled in each
	// Budget is how many percent of a processor sampling threads may take of all processes
	// together, Idle how many a process must take to be sampled.
	Budget float64 `mapstructure:"budget"`
	Idle   float64 `mapstructure:"idle"`
	// Share is how many percent more a process may take for its profiles than without.
	Share float64 `mapstructure:"share"`
	// MaxEvents is how many events a second of a kind are followed, on average.
	MaxEvents int `mapstructure:"max_events"`
	// Spans has samples of threads be of the spans that these work for.
	Spans bool `mapstructure:"spans"`
	// KernelHz is how often a second the kernel of Linux samples each processor, instead of
	// windows in which threads are sampled. 0 is never.
	KernelHz int `mapstructure:"kernel_hz"`
	// Rundown says whether a process may be asked for all of its methods: once, or never.
	Rundown   string `mapstructure:"rundown"`
	MaxFiles  int    `mapstructure:"max_files"`
	MaxFileMB int    `mapstructure:"max_file_mb"`
}

// Validate reports settings that make no sense.
func (c *ProfilesConfig) Validate() error {
	switch {
	case c.Duration < 100*time.Millisecond:
		return fmt.Errorf("duration %v: write 100ms or more", c.Duration)
	case c.Interval < c.Duration:
		return fmt.Errorf("interval %v: write the duration of a profile, %v, or more", c.Interval, c.Duration)
	case !(c.Budget >= 0 && c.Budget <= 100):
		return fmt.Errorf("budget %v: write percent of a processor, 0 for no limit", c.Budget)
	case !(c.Idle >= 0 && c.Idle <= 100):
		return fmt.Errorf("idle %v: write percent of a processor", c.Idle)
	case !(c.Share >= 0 && c.Share <= 100):
		return fmt.Errorf("share %v: write percent of what a process takes, 0 for no limit", c.Share)
	case c.MaxEvents < 1:
		return fmt.Errorf("max_events %d: write 1 or more", c.MaxEvents)
	case c.KernelHz != 0 && profiling.CheckHz(c.KernelHz) != nil:
		return fmt.Errorf("kernel_hz: %w, or 0 for none", profiling.CheckHz(c.KernelHz))
	case c.KernelHz != 0 && c.Spans:
		return errors.New("spans are of samples of threads, and kernel_hz takes others in their place: write one of them")
	case c.Rundown != rundownOnce && c.Rundown != "never":
		return fmt.Errorf("rundown %q: write once or never", c.Rundown)
	case c.MaxFiles < 1:
		return fmt.Errorf("max_files %d: write 1 or more", c.MaxFiles)
	case c.MaxFileMB < 1:
		return fmt.Errorf("max_file_mb %d: write 1 or more", c.MaxFileMB)
	}
	return nil
}

// rundownOnce has a process list its methods where that is needed.
const rundownOnce = "once"

// A LossConfig says how often losses are looked at.
type LossConfig struct {
	ReportInterval time.Duration `mapstructure:"report_interval"`
}

func defaultConfig() component.Config {
	return &Config{
		Discovery: DiscoveryConfig{Interval: 2 * time.Second, Include: []string{".*"}, MaxProcesses: 50},
		Reattach:  ReattachConfig{InitialInterval: 200 * time.Millisecond, MaxInterval: 3 * time.Second},
		Presets:   []string{"gc", "counters"},
		Counters:  CountersConfig{Sources: []string{"System.Runtime"}, Interval: 10 * time.Second},
		Meters:    MetersConfig{Include: []string{"System.Runtime", "Microsoft.AspNetCore.Hosting", "Microsoft.AspNetCore.Server.Kestrel", "System.Net.Http"}, Interval: 10 * time.Second, MaxTimeSeries: 1000, MaxHistograms: 50, Histograms: "quantiles"},
		Metrics:   flow.DefaultMetrics(),
		Traces:    TracesConfig{Sources: []string{"Microsoft.AspNetCore", "System.Net.Http"}},
		Profiles:  ProfilesConfig{Interval: time.Minute, Duration: 5 * time.Second, Budget: 5, Idle: 2, Share: profiling.DefaultShare, MaxEvents: 2000, Rundown: rundownOnce, MaxFiles: 100, MaxFileMB: 16},
		BufferMB:  64, Output: flow.DefaultOutput(), Batch: flow.DefaultBatch(), Retry: flow.DefaultRetry(),
		Loss: LossConfig{ReportInterval: 10 * time.Second}, ShutdownTimeout: 5 * time.Second,
	}
}

// Unmarshal fills the configuration.
func (c *Config) Unmarshal(conf *confmap.Conf) error {
	type plain Config
	return flow.Unmarshal(conf, (*plain)(c))
}

// discovers reports whether all processes are looked for.
func (c *Config) discovers() bool {
	if c.Discovery.Enabled != nil {
		return *c.Discovery.Enabled
	}
	return len(c.Targets)+len(c.Ports) == 0
}

// Validate reports settings that make no sense.
func (c *Config) Validate() error {
	var trouble []error
	if len(c.Presets)+len(c.Providers) == 0 {
		trouble = append(trouble, errors.New("nothing to collect: write presets: [gc, counters] or providers: [{name: Microsoft-Windows-DotNETRuntime, keywords: gc}]"))
	}
	if !c.discovers() && len(c.Targets)+len(c.Ports) == 0 {
		trouble = append(trouble, errors.New("no processes: write targets: [{name: app}], ports: [{path: /diag/dotnet.sock}], or discovery: {enabled: true}"))
	}
	for _, name := range c.Presets {
		if !slices.Contains(Presets(), name) {
			trouble = append(trouble, fmt.Errorf("preset %q: write some of %s", name, strings.Join(Presets(), ", ")))
		}
	}
	if c.Profiles.Spans && (slices.Contains(c.Presets, "requests") || slices.Contains(c.Presets, "cause")) {
		trouble = append(trouble, errors.New("profiles: spans goes not with the presets requests and cause: a process passes on the activities that one session asked for"))
	}
	trouble = append(trouble, c.empty()...)
	known, _, err := c.Manifests.Read()
	if err != nil {
		trouble = append(trouble, err)
	}
	for _, p := range c.Providers {
		if _, err := p.keywords(known); err != nil {
			trouble = append(trouble, err)
		}
	}
	for _, text := range append(slices.Clone(c.Discovery.Include), c.Discovery.Exclude...) {
		if _, err := regexp.Compile(text); err != nil {
			trouble = append(trouble, fmt.Errorf("discovery: %w", err))
		}
	}
	if c.BufferMB < 1 || c.BufferMB > 4096 {
		trouble = append(trouble, fmt.Errorf("buffer_mb %d: write 1 to 4096", c.BufferMB))
	}
	const soon = 100 * time.Millisecond
	return errors.Join(append(trouble, flow.AtLeast("discovery: max_processes", c.Discovery.MaxProcesses, 1),
		flow.AtLeast("discovery: interval", c.Discovery.Interval, soon), flow.AtLeast("reattach: initial_interval", c.Reattach.InitialInterval, soon/10),
		flow.AtLeast("reattach: max_interval", c.Reattach.MaxInterval, c.Reattach.InitialInterval), flow.AtLeast("counters: interval", c.Counters.Interval, soon),
		flow.AtLeast("meters: interval", c.Meters.Interval, soon), flow.AtLeast("loss: report_interval", c.Loss.ReportInterval, soon),
		flow.AtLeast("shutdown_timeout", c.ShutdownTimeout, soon))...)
}

// empty names the lists that choose and lack what other settings are about.
func (c *Config) empty() (trouble []error) {
	for _, l := range []struct {
		asked bool
		list  []string
		text  string
	}{
		{slices.Contains(c.Presets, "requests") || slices.Contains(c.Presets, "cause"), c.Traces.Sources, "traces: sources is empty, so the presets requests and cause have nothing: write sources: [Microsoft.AspNetCore, System.Net.Http], or leave it out"},
		{c.Profiles.KernelHz != 0 && !slices.Contains(c.Presets, profiling.CPU), nil, "profiles: kernel_hz is of the preset cpu: write presets: [cpu], with what else there is to be"},
		{slices.Contains(c.Presets, "counters"), c.Meters.Include, "meters: include is empty, so the preset counters has no meters: write include: [System.Runtime], or leave it out"},
		{c.discovers(), c.Discovery.Include, "discovery: include is empty, so no process is found: write include: ['.*'], or leave it out"},
	} {
		if l.asked && len(l.list) == 0 {
			trouble = append(trouble, errors.New(l.text))
		}
	}
	return trouble
}

// Validate reports settings that make no sense.
func (t *Target) Validate() error {
	set := 0
	for _, is := range []bool{t.PID != 0, t.Name != "", t.Socket != "", t.Container != ""} {
		if is {
			set++
		}
	}
	if set != 1 {
		return errors.New("write exactly one of pid, name, socket, container")
	}
	if t.PID < 0 {
		return fmt.Errorf("pid %d: write that of a process", t.PID)
	}
	if _, err := filepath.Match(t.Socket, ""); err != nil {
		return fmt.Errorf("socket %q: %w: brackets must be closed, or written as \\[", t.Socket, err)
	}
	_, err := regexp.Compile(t.Name)
	return err
}

// Validate reports settings that make no sense.
func (p *Port) Validate() error {
	if p.Path == "" {
		return errors.New("path is empty: write where the socket is to be, such as /diag/dotnet.sock")
	}
	if len(p.Path) > 107 {
		return fmt.Errorf("path has %d bytes, and sockets take 107: choose a shorter one", len(p.Path))
	}
	return nil
}

// Validate reports settings that make no sense.
func (p *Provider) Validate() error {
	if p.Name == "" {
		return errors.New("name is empty: write that of an EventSource, such as System.Net.Http")
	}
	_, err := flow.Level(p.Level, 5)
	return err
}

// keywords returns those of the provider; none are all.
func (p *Provider) keywords(known []*etw.Provider) (uint64, error) {
	text := flow.Text(p.Keywords)
	if text == "" {
		text = "all"
	}
	n, err := flow.Keywords(p.Name, text, known)
	if err != nil {
		return 0, fmt.Errorf("providers: %s: keywords %q: %w", p.Name, text, err)
	}
	if n == 0 && len(p.Arguments) == 0 {
		return 0, fmt.Errorf("providers: %s: keywords %q bring no event of an EventSource, and few of others: write all, or leave them out", p.Name, text)
	}
	return n, nil
}
