package system

import (
	"cmp"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/internal/order"
)

// volumes are the paths of the kernel that have names of their own.
type volumes struct {
	prefixes []prefix // the longest first
	windows  string   // the folder of the system, such as C:\Windows
}

// A prefix is the begin of paths of the kernel, and its usual form.
type prefix struct{ kernel, dos string }

func (v *volumes) add(kernel, dos string) {
	if kernel == "" || slices.ContainsFunc(v.prefixes, func(p prefix) bool { return strings.EqualFold(p.kernel, kernel) }) {
		return
	}
	v.prefixes = append(v.prefixes, prefix{kernel, dos})
	order.Stable(v.prefixes, func(a, b prefix) int { return cmp.Compare(len(b.kernel), len(a.kernel)) })
}

// Path returns a path of the kernel as people write it: with the letter of a drive
// in place of a device, such as C:\Windows\System32\ntdll.dll. It stays as it is if
// the trace does not tell the letter.
func (m *Machine) Path(kernel string) string {
	v := &m.volumes
	for _, p := range v.prefixes {
		if len(kernel) >= len(p.kernel) && strings.EqualFold(kernel[:len(p.kernel)], p.kernel) {
			return p.dos + kernel[len(p.kernel):]
		}
	}
	// Windows 8 lists the kernel's own images without a device.
	if len(v.windows) > 2 && v.windows[1] == ':' && hasFolder(kernel, v.windows[2:]) {
		return v.windows[:2] + kernel
	}
	return kernel
}

// hasFolder reports whether a path lies in a folder.
func hasFolder(path, folder string) bool {
	folder = strings.TrimSuffix(folder, `\`) + `\`
	return len(path) > len(folder) && strings.EqualFold(path[:len(folder)], folder)
}

// isUnresolved reports whether a path still begins as only the kernel writes it.
func isUnresolved(path string) bool {
	return hasFolder(path, `\Device`) || hasFolder(path, `\SystemRoot`) || strings.HasPrefix(path, `\??\`)
}
