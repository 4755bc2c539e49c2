package system

// An ID is the number of a process, a thread or a session that may be unknown, and
// then is -1 here and left out of JSON.
type ID int64

// IsZero reports whether the number is unknown: 0 is one.
func (id ID) IsZero() bool { return id < 0 }

// unknown is the name for unknown ones.
const unknown = "(unknown)"
