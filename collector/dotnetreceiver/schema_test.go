package dotnetreceiver

import (
	"testing"

	"github.com/etwgen/etwgen/collector/internal/flow/flowtest"
)

// TestSchema holds the schema of the configuration against it.
func TestSchema(t *testing.T) { flowtest.Schema(t, defaultConfig(), Presets()) }
