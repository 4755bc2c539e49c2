package etwreceiver

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"

	"github.com/etwgen/etwgen/collector/internal/flow"
	"github.com/etwgen/etwgen/generated/kernel"
)

// Config is the configuration of the receiver: docs/collector.md has every option.
type Config struct {
	Session   SessionConfig `mapstructure:"session"`
	Presets   []string      `mapstructure:"presets"`
	Providers []Provider    `mapstructure:"providers"`
	Kernel    KernelConfig  `mapstructure:"kernel"`
	// Events choose among the delivered events.
	Events flow.EventsConfig `mapstructure:"events"`
	// Manifests have names and fields of more providers.
	Manifests       flow.Manifests    `mapstructure:"manifests"`
	Output          flow.OutputConfig `mapstructure:"output"`
	Batch           flow.BatchConfig  `mapstructure:"batch"`
	Retry           flow.RetryConfig  `mapstructure:"retry_on_failure"`
	QueueBytes      int               `mapstructure:"queue_bytes"`
	Loss            LossConfig        `mapstructure:"loss"`
	Restart         RestartConfig     `mapstructure:"restart"`
	ShutdownTimeout time.Duration     `mapstructure:"shutdown_timeout"`
}

// A SessionConfig describes the session of the system.
type SessionConfig struct {
	// Name is otelcol-, the id of the receiver and that of the process, if it is empty.
	Name string `mapstructure:"name"`
	// OnExisting decides about an existing session of that name: fail, takeover, attach.
	OnExisting    string        `mapstructure:"on_existing"`
	BufferKB      int           `mapstructure:"buffer_kb"`
	MinBuffers    int           `mapstructure:"min_buffers"`
	MaxBuffers    int           `mapstructure:"max_buffers"`
	FlushInterval time.Duration `mapstructure:"flush_interval"`
	// Lookup asks Windows for names and fields of events that nothing else describes.
	Lookup bool `mapstructure:"lookup"`
}

// A Provider is one that the session enables, by its name or GUID.
type Provider struct {
	Name string `mapstructure:"name"`
	GUID string `mapstructure:"guid"`
	// Kind is registered, of a name that Windows knows, eventsource, of which the GUID is
	// made of the name, or auto.
	Kind         string          `mapstructure:"kind"`
	Level        any             `mapstructure:"level"`
	KeywordsAny  any             `mapstructure:"keywords_any"`
	KeywordsAll  any             `mapstructure:"keywords_all"`
	Events       IDsConfig       `mapstructure:"events"`
	Processes    ProcessesConfig `mapstructure:"processes"`
	Stacks       bool            `mapstructure:"stacks"`
	CaptureState bool            `mapstructure:"capture_state"`
}

// An IDsConfig chooses events by ids, where they are written.
type IDsConfig struct {
	Include []int `mapstructure:"include"`
	Exclude []int `mapstructure:"exclude"`
}

// A ProcessesConfig chooses the processes that write.
type ProcessesConfig struct {
	PIDs  []uint32 `mapstructure:"pids"`
	Names []string `mapstructure:"names"`
}

// A KernelConfig chooses events of the kernel.
type KernelConfig struct {
	Flags           []string      `mapstructure:"flags"`
	Stacks          bool          `mapstructure:"stacks"`
	ProfileInterval time.Duration `mapstructure:"profile_interval"`
}

// A LossConfig says how often losses are looked at.
type LossConfig struct {
	ReportInterval time.Duration `mapstructure:"report_interval"`
}

// A RestartConfig says when a session is started again that somebody has stopped.
type RestartConfig struct {
	InitialInterval time.Duration `mapstructure:"initial_interval"`
	MaxInterval     time.Duration `mapstructure:"max_interval"`
}

func defaultConfig() component.Config {
	return &Config{
		Session: SessionConfig{OnExisting: "fail", BufferKB: 64, FlushInterval: time.Second},
		Output:  flow.DefaultOutput(), Batch: flow.DefaultBatch(), Retry: flow.DefaultRetry(), QueueBytes: 64 << 20,
		Loss: LossConfig{ReportInterval: 10 * time.Second}, Restart: RestartConfig{InitialInterval: time.Second, MaxInterval: 30 * time.Second}, ShutdownTimeout: 5 * time.Second,
	}
}

// Unmarshal fills the configuration.
func (c *Config) Unmarshal(conf *confmap.Conf) error {
	type plain Config
	return flow.Unmarshal(conf, (*plain)(c))
}

// Validate reports settings that make no sense.
func (c *Config) Validate() error {
	var trouble []error
	add := func(format string, a ...any) { trouble = append(trouble, fmt.Errorf(format, a...)) }
	if len(c.Providers)+len(c.Presets)+len(c.Kernel.Flags) == 0 && c.Session.OnExisting != "attach" {
		add("nothing to collect: write providers: [{name: Microsoft-Windows-DNS-Client}], presets: [dotnet_gc] or kernel: {flags: [process]}")
	}
	for _, name := range c.Presets {
		if !slices.Contains(Presets(), name) {
			add("preset %q: write some of %s", name, strings.Join(Presets(), ", "))
		}
	}
	if _, err := kernel.ParseFlags(strings.Join(c.Kernel.Flags, "+")); err != nil && len(c.Kernel.Flags) > 0 {
		add("kernel: flags: %w", err)
	}
	if len(c.Session.Name) > 1024 {
		add("session: name has %d bytes: write 1024 or fewer", len(c.Session.Name))
	}
	if err := flow.OneOf("on_existing", c.Session.OnExisting, "fail", "takeover", "attach"); err != nil {
		add("session: %w", err)
	}
	if c.Session.OnExisting == "attach" && c.Session.Name == "" {
		add("session: on_existing: attach needs the name of the session that runs")
	}
	if c.Session.BufferKB < 4 || c.Session.BufferKB > 16384 {
		add("session: buffer_kb %d: write 4 to 16384", c.Session.BufferKB)
	}
	if c.Session.MinBuffers < 0 || c.Session.MaxBuffers < 0 || c.Session.MaxBuffers != 0 && c.Session.MaxBuffers < c.Session.MinBuffers {
		add("session: min_buffers %d, max_buffers %d: write 0 for the defaults, or the second no less than the first", c.Session.MinBuffers, c.Session.MaxBuffers)
	}
	const soon = 100 * time.Millisecond
	trouble = append(append(trouble, flow.AtLeast("queue_bytes", c.QueueBytes, 1<<20)), c.unknown()...)
	return errors.Join(append(trouble,
		flow.AtLeast("session: flush_interval", c.Session.FlushInterval, time.Second), flow.AtLeast("loss: report_interval", c.Loss.ReportInterval, soon),
		flow.AtLeast("restart: initial_interval", c.Restart.InitialInterval, soon/10), flow.AtLeast("restart: max_interval", c.Restart.MaxInterval, c.Restart.InitialInterval),
		flow.AtLeast("shutdown_timeout", c.ShutdownTimeout, soon))...)
}

// unknown says of manifests and providers which cannot be read or enabled.
func (c *Config) unknown() (trouble []error) {
	known, _, err := c.Manifests.Read()
	if err != nil {
		trouble = append(trouble, err)
	}
	for i := range c.Providers {
		p := &c.Providers[i]
		if p.Name+p.GUID == "" {
			continue // which is said of it
		}
		if _, err := p.provider(known); err != nil {
			trouble = append(trouble, fmt.Errorf("providers: %s%s: %w", p.Name, p.GUID, err))
		}
	}
	return trouble
}

// Validate reports settings that make no sense.
func (p *Provider) Validate() error {
	if p.Name != "" && p.GUID != "" {
		return fmt.Errorf("name %q and guid %q are both set: keep one", p.Name, p.GUID)
	}
	if p.Name == "" && p.GUID == "" {
		return errors.New("neither name nor guid is set")
	}
	trouble := []error{flow.OneOf("kind", p.Kind, "", "auto", "registered", "eventsource")}
	for _, list := range [][]int{p.Events.Include, p.Events.Exclude} {
		for _, id := range list {
			if id < 0 || id > 65535 {
				trouble = append(trouble, fmt.Errorf("event id %d: write 0 to 65535", id))
			}
		}
	}
	if len(p.Events.Include) > 0 && len(p.Events.Exclude) > 0 {
		trouble = append(trouble, errors.New("events: include and exclude are both set: keep one"))
	}
	if len(p.Events.Include)+len(p.Events.Exclude) > 64 {
		trouble = append(trouble, errors.New("events: Windows takes 64 ids at most; use events: of the receiver for more"))
	}
	if len(p.Processes.PIDs) > 8 {
		trouble = append(trouble, errors.New("processes: Windows takes 8 pids at most"))
	}
	return errors.Join(trouble...)
}
