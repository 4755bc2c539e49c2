package etl

// An Option changes how a Reader reads.
type Option func(*options)

type options struct {
	schemas     bool
	attribution bool
}

var defaultOptions = options{schemas: true}

// WithoutSchemas leaves the Schema and ProviderName of records empty, and saves
// the pass over the file that finds schemas before their users.
func WithoutSchemas() Option { return func(o *options) { o.schemas = false } }
