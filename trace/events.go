package trace

import "io"

// OpenEvents is [OpenAll] for programs without a use for profiles, which have no events: to
// it a profile is an [ErrFormat]. Such a program does not contain their readers.
func OpenEvents(paths []string, opts ...Option) (*Trace, error) {
	return openAll(paths, eventOptions(opts))
}

// ReadEvents is [Read] for programs without a use for profiles: see [OpenEvents].
func ReadEvents(name string, r io.ReadCloser, opts ...Option) (*Trace, error) {
	return read(name, r, eventOptions(opts))
}
