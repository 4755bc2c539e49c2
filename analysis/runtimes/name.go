package runtimes

import (
	"strings"

	"github.com/etwgen/etwgen/generated/clr"
)

// Name returns the usual name of the runtime: .NET Framework 4.0.30319.34209, .NET Core
// 3.1.7 or .NET 10.0.12. It is empty if the trace does not tell.
func (r *Runtime) Name() string { return NameOf(r.Sku, r.Version, r.VMVersion, r.Path) }

// NameOf returns the name of a runtime by its event: the sku, the versions of the base
// library and of the runtime itself, in four numbers, and its path. Those of .NET Core say
// 4.0.0.0 up to 3.1, and then only the folder that it lies in has the version.
func NameOf(sku, library, vm, path string) string {
	switch {
	case sku == "":
		return ""
	case sku == clr.RuntimeSkuDesktopCLR.String():
		return ".NET Framework " + vm
	case sku != clr.RuntimeSkuCoreCLR.String():
		return strings.TrimSpace(sku + " " + library)
	case strings.HasPrefix(library, "4."):
		return strings.TrimSpace(".NET Core " + folderVersion(path))
	}
	return strings.TrimSpace(".NET " + strings.TrimSuffix(library, ".0"))
}

// folderVersion returns the folder of a file if its name is a version.
func folderVersion(path string) string {
	parts := strings.FieldsFunc(path, func(c rune) bool { return c == '/' || c == '\\' })
	if len(parts) < 2 {
		return ""
	}
	folder := parts[len(parts)-2]
	if first, _, ok := strings.Cut(folder, "."); ok && first != "" && strings.Trim(first, "0123456789") == "" {
		return folder
	}
	return ""
}
