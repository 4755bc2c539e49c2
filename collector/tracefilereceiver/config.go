package tracefilereceiver

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"

	"github.com/etwgen/etwgen/collector/internal/flow"
	"github.com/etwgen/etwgen/export/parquet"
)

// Config is the configuration of the receiver: docs/collector.md has every option.
type Config struct {
	// Include and Exclude are patterns of paths; ** stands for any folders.
	Include []string `mapstructure:"include"`
	Exclude []string `mapstructure:"exclude"`
	// Resource says whose recordings they are, as keys of OpenTelemetry, and FromPath is a pattern of paths
	// that tells it of each, such as /traces/{service}/{version}/{host}/*.
	Resource map[string]string `mapstructure:"resource"`
	FromPath string            `mapstructure:"from_path"`
	// StorageID is the extension that keeps the record of sending.
	StorageID *component.ID `mapstructure:"storage"`
	// Follow reads .nettrace files while they are written, until they end or do not grow
	// for FollowTimeout.
	Follow        bool          `mapstructure:"follow"`
	FollowTimeout time.Duration `mapstructure:"follow_timeout"`
	// PollInterval is how often it is looked for files. One that was written to in the
	// last interval is left for later.
	PollInterval       time.Duration `mapstructure:"poll_interval"`
	MaxConcurrentFiles int           `mapstructure:"max_concurrent_files"`
	// RateLimit is of events in a second, for all files together. 0 means no limit.
	RateLimit int               `mapstructure:"rate_limit"`
	Events    flow.EventsConfig `mapstructure:"events"`
	// Manifests have names and fields of more providers.
	Manifests flow.Manifests `mapstructure:"manifests"`
	// KeepDoneFor is how long it is remembered that a file was sent which is not there
	// any more.
	KeepDoneFor     time.Duration      `mapstructure:"keep_done_for"`
	Metrics         flow.MetricsConfig `mapstructure:"metrics"`
	Output          flow.OutputConfig  `mapstructure:"output"`
	Batch           flow.BatchConfig   `mapstructure:"batch"`
	Retry           flow.RetryConfig   `mapstructure:"retry_on_failure"`
	ShutdownTimeout time.Duration      `mapstructure:"shutdown_timeout"`
}

func defaultConfig() component.Config {
	return &Config{
		FollowTimeout: 5 * time.Minute, PollInterval: time.Second, MaxConcurrentFiles: 1, KeepDoneFor: 720 * time.Hour,
		Metrics: flow.DefaultMetrics(), Output: flow.DefaultOutput(), Batch: flow.DefaultBatch(), Retry: flow.DefaultRetry(), ShutdownTimeout: 5 * time.Second,
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
	if len(c.Include) == 0 {
		trouble = append(trouble, errors.New("include is empty: write include: ['/traces/**/*.nettrace']"))
	}
	for _, p := range append(append([]string(nil), c.Include...), c.Exclude...) {
		if _, err := filepath.Match(p, ""); err != nil {
			trouble = append(trouble, fmt.Errorf("pattern %q: %w: brackets must be closed, or written as \\[", p, err))
		}
	}
	if c.FromPath != "" {
		if _, err := parquet.ParsePattern(c.FromPath); err != nil {
			trouble = append(trouble, fmt.Errorf("from_path: %w", err))
		}
	}
	const soon = 10 * time.Millisecond
	trouble = append(trouble, flow.AtLeast("poll_interval", c.PollInterval, soon), flow.AtLeast("follow_timeout", c.FollowTimeout, soon),
		flow.AtLeast("shutdown_timeout", c.ShutdownTimeout, soon), flow.AtLeast("keep_done_for", c.KeepDoneFor, soon),
		flow.AtLeast("max_concurrent_files", c.MaxConcurrentFiles, 1))
	if c.RateLimit < 0 {
		trouble = append(trouble, fmt.Errorf("rate_limit %d: write a number of events in a second, or 0 for none", c.RateLimit))
	}
	return errors.Join(trouble...)
}
