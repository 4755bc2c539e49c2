package runtimes_test

import (
	"testing"

	"github.com/etwgen/etwgen/analysis/runtimes"
)

func TestNameOf(t *testing.T) {
	for _, test := range []struct{ sku, library, vm, path, want string }{
		{"", "", "", "", ""},
		{"DesktopClr", "4.0.0.0", "4.0.30319.34209", `C:\Windows\Microsoft.NET\Framework64\v4.0.30319\clr.dll`, ".NET Framework 4.0.30319.34209"},
		{"CoreClr", "4.0.0.0", "4.0.30319.0", `C:\Program Files\dotnet\shared\Microsoft.NETCore.App\3.1.7\coreclr.dll`, ".NET Core 3.1.7"},
		{"CoreClr", "4.0.0.0", "4.0.30319.0", "/srv/app/libcoreclr.so", ".NET Core"},
		{"CoreClr", "10.0.12.0", "10.0.1226.42308", "/usr/share/dotnet/shared/Microsoft.NETCore.App/10.0.12/libcoreclr.so", ".NET 10.0.12"},
		{"CoreClr", "8.0.0.0", "42.42.42.42424", "", ".NET 8.0.0"},
		{"RuntimeSku(7)", "1.2.3.4", "", "", "RuntimeSku(7) 1.2.3.4"},
	} {
		if got := runtimes.NameOf(test.sku, test.library, test.vm, test.path); got != test.want {
			t.Errorf("%s %s: %q, want %q", test.sku, test.library, got, test.want)
		}
	}
}
