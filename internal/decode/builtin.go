package decode

import (
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/private"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/generated/clr/stress"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Builtin is a provider with a generated package.
type Builtin struct {
	Alias string // a short name for command lines
	*etw.Provider
}

// Builtins are the providers that are known without a manifest.
var Builtins = []Builtin{
	{"clr", clr.Provider},
	{"rundown", rundown.Provider},
	{"private", private.Provider},
	{"stress", stress.Provider},
}
