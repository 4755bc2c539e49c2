package wevt_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/manifest/wevt"
)

// TestHeader looks for what programs use of a header and, where there is a
// compiler for Windows, compiles it.
func TestHeader(t *testing.T) {
	m, _ := compiled(t, 5)
	header := wevt.Header("sample.man", m)
	for _, want := range []string{
		"GUID SAMPLE_SHOP = {0x6f0c3c6e, 0x4f39, 0x45a5, {0x8c, 0x0e, 0x2a, 0x51, 0xf1, 0xc6, 0xf6, 0xb1}};",
		"const EVENT_DESCRIPTOR SOLD = {0x1, 0x0, 0x10, 0x3, 0x14, 0x3, 0x8000000000000006ULL};",
		"ULONG EventWrite_SOLD(PCWSTR p_Article, unsigned char p_Tender,",
		"EventDataDescCreate(&data[5], p_Prices, (ULONG)(sizeof(*p_Prices) * p_Count));",
		"ULONG EventWrite_ASKED(void) {",
		"#define SAMPLE_SHOP_KEYWORD_MONEY 0x4ULL",
	} {
		if !strings.Contains(string(header), want) {
			t.Errorf("the header does not have %s", want)
		}
	}
	dir := t.TempDir()
	use := "#include \"sample.h\"\nULONG ask(void) { return EventRegister_SAMPLE_SHOP() + EventWrite_ASKED(); }\n"
	for name, content := range map[string]string{"sample.h": string(header), "sample.c": use, "sample.cc": use} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for compiler, file := range map[string]string{"gcc": "sample.c", "g++": "sample.cc"} {
		t.Run(compiler, func(t *testing.T) {
			path, err := exec.LookPath("x86_64-w64-mingw32-" + compiler)
			if err != nil {
				t.Skip("no such compiler for Windows (mingw-w64): the header is not compiled")
			}
			compile := exec.Command(path, "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-c", file)
			compile.Dir = dir
			if out, err := compile.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
