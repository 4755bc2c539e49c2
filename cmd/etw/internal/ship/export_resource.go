package ship

import (
	"fmt"
	"maps"
	"os"
	"strings"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/export/parquet"
	"github.com/etwgen/etwgen/trace"
)

// resourceFlags say whose recording a trace is. A source nearer to the trace counts more: the
// environment is of all that the program exports, the header of a trace is its own, a path is
// the place where somebody sorted it into, and a flag is the user's present word.
type resourceFlags struct {
	pairs    []string
	fromPath string

	env, given parquet.Resource
	pattern    *parquet.Pattern
}

// check reads the flags and the environment.
func (r *resourceFlags) check() (err error) {
	r.given = make(parquet.Resource)
	for _, pair := range r.pairs {
		key, value, ok := strings.Cut(pair, "=")
		if key = parquet.KeyOf(strings.TrimSpace(key)); !ok || key == "" {
			return cli.Usagef("--resource %s: it is KEY=VALUE, such as service.name=cart", pair)
		}
		r.given[key] = value
	}
	if r.fromPath != "" {
		if r.pattern, err = parquet.ParsePattern(r.fromPath); err != nil {
			return cli.Usagef("--from-path %w", err)
		}
	}
	if r.env, err = parquet.ParseResource(os.Getenv("OTEL_RESOURCE_ATTRIBUTES")); err != nil {
		return fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	if name := os.Getenv("OTEL_SERVICE_NAME"); name != "" {
		r.env[parquet.KeyService] = name
	}
	return nil
}

// of returns whose recording a trace is.
func (r *resourceFlags) of(path string, f *trace.File) (parquet.Resource, error) {
	all := maps.Clone(r.env)
	if f.Head().Recorder != trace.Windows {
		headerKeys(all, f)
	}
	if r.pattern != nil {
		found, ok := r.pattern.Match(path)
		if !ok {
			return nil, cli.Usagef("--from-path %s: %s is no such path", r.pattern, path)
		}
		maps.Copy(all, found)
	}
	maps.Copy(all, r.given)
	return all, nil
}

// headerKeys adds the keys that the header of a trace has, but those of the format itself.
func headerKeys(all parquet.Resource, f *trace.File) {
	for _, fact := range f.Facts() {
		keys, ok := fact.Value.(map[string]string)
		if ok && fact.Key == "keys" {
			maps.Copy(all, parquet.HeaderResource(keys))
		}
	}
}
