//go:build !windows

package provider

// windows is nil: this is another system.
var windows calls
