package etl

// WithLate has so many call stacks kept whose events are in earlier buffers.
func WithLate(n int64) Option { return func(o *options) { o.late = n } }
