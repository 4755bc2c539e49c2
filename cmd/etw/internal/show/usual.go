package show

import (
	"os"
	"path/filepath"
	"runtime"

	"github.com/etwgen/etwgen/analysis/symbols/native"
)

// UsualPlaces returns the folders in which this machine keeps its programs, its libraries,
// .NET and debug files. No others are looked in for files that a trace names.
func UsualPlaces() native.Places {
	var p native.Places
	switch runtime.GOOS {
	case "windows":
		p.Libraries = []string{filepath.Join(os.Getenv("SystemRoot"), "System32")}
		p.DotNet = []string{filepath.Join(os.Getenv("ProgramFiles"), "dotnet")}
	case "darwin":
		p.DotNet = []string{"/usr/local/share/dotnet"}
	default:
		p.Libraries = []string{"/usr/lib", "/lib", "/usr/lib32", "/lib32", "/usr/lib64", "/lib64", "/usr/libexec", "/usr/local/lib",
			"/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/local/sbin"}
		p.DotNet = []string{"/usr/share/dotnet", "/usr/lib/dotnet", "/usr/lib64/dotnet"}
		p.Debug = []string{"/usr/lib/debug"}
	}
	if home, err := os.UserHomeDir(); err == nil {
		p.DotNet = append(p.DotNet, filepath.Join(home, ".dotnet"))
	}
	if root := os.Getenv("DOTNET_ROOT"); root != "" {
		p.DotNet = append(p.DotNet, root)
	}
	return p
}
