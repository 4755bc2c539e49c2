package spans

// Begin returns when the session began, in nanoseconds since 1970.
func Begin(a *Analysis) int64 { return a.begin }
