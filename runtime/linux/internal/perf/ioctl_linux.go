//go:build !mips && !mipsle && !mips64 && !mips64le && !ppc64 && !ppc64le

package perf

// The directions of requests, as most processors have them.
const (
	ioctlNone = 0
	ioctlRead = 2 << 30
)
