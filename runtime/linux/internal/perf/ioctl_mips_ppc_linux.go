//go:build mips || mipsle || mips64 || mips64le || ppc64 || ppc64le

package perf

// The directions of requests, as these processors have them.
const (
	ioctlNone = 1 << 29
	ioctlRead = 2 << 29
)
