package wevt_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/manifest"
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
	use := "#include \"sample.h\"\nULONG ask(void) { return EventRegister_SAMPLE_SHOP() + EventWrite_ASKED(); }\n"
	compileHeader(t, header, use)
}

// TestHeaderNames compiles a header of providers that have one symbol and one event,
// and of symbols that C does not have.
func TestHeaderNames(t *testing.T) {
	var b strings.Builder
	b.WriteString(`<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"
    xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events"><instrumentation><events>`)
	for i, symbol := range []string{"SHOP", "TILL", "STOCK", "DESK"} {
		fmt.Fprintf(&b, `<provider name="P%d" guid="{6f0c3c6e-4f39-45a5-8c0e-2a51f1c6f6b%[1]d}" symbol="%[2]s" resourceFileName="a" messageFileName="a">
<events><event value="0" symbol="Said"/><event value="1" symbol="Left%[1]d"/></events></provider>`, i, symbol)
	}
	b.WriteString(`</events></instrumentation></instrumentationManifest>`)
	m, _, err := manifest.Parse("four.man", []byte(b.String()), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m.Providers[1].Symbol, m.Providers[2].Symbol = "SHOP", "MY-PROV"
	for i, symbol := range []string{"int", "a b", "EventWrite", "SHOP_Handle"} {
		m.Providers[i].Events[1].Symbol = symbol
	}
	header := wevt.Header("four.man", m)
	use := "#include \"sample.h\"\nULONG use(void) { return EventRegister_SHOP() + EventRegister_SHOP_2() + EventRegister_MY_PROV() +\n" +
		"EventWrite_Said() + EventWrite_Said_0_0() + EventWrite_Said_0_0_2() + EventWrite_Said_0_0_3() + EventWrite_int_1_0() + EventWrite_a_b(); }\n"
	for _, want := range []string{"EventWrite_Said_0_0_3(", "EventWrite_int_1_0(", "EventWrite_a_b(", "EventWrite_EventWrite_1_0(", "GUID SHOP_2 ", "GUID MY_PROV "} {
		if !strings.Contains(string(header), want) {
			t.Errorf("the header does not have %s", want)
		}
	}
	compileHeader(t, header, use)
}

// compileHeader compiles a program that uses a header, sample.h, if there is a compiler.
func compileHeader(t *testing.T, header []byte, use string) {
	t.Helper()
	dir := t.TempDir()
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
