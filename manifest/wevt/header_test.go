package wevt_test

import (
	"encoding/hex"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/manifest/wevt"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestHeader looks for the parts of a header that programs use and, where there is a
// compiler for Windows, compiles it.
func TestHeader(t *testing.T) {
	m, _ := compiled(t, 5)
	header := wevt.Header("sample.man", m, wevt.HeaderOptions{})
	for _, want := range []string{
		"GUID SAMPLE_SHOP = {0x6f0c3c6e, 0x4f39, 0x45a5, {0x8c, 0x0e, 0x2a, 0x51, 0xf1, 0xc6, 0xf6, 0xb1}};",
		"const EVENT_DESCRIPTOR SOLD = {0x1, 0x0, 0x10, 0x3, 0x14, 0x3, 0x8000000000000006ULL};",
		"ULONG EventWriteSOLD(PCWSTR p_Article, unsigned char p_Tender,",
		"EventDataDescCreate(&data[5], p_Prices, (ULONG)(sizeof(*p_Prices) * p_Count));",
		"ULONG EventWriteASKED(void) {",
		"#define SAMPLE_SHOP_KEYWORD_MONEY 0x4ULL",
	} {
		if !strings.Contains(string(header), want) {
			t.Errorf("the header does not have %s", want)
		}
	}
	use := "#include \"sample.h\"\nULONG ask(void) { return EventRegisterSample_Shop() + EventWriteASKED(); }\n"
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
<events><event value="0" symbol="Said"/><event value="1" symbol="Left%[1]d"/><event value="2" symbol="Transfer"/></events></provider>`, i, symbol)
	}
	b.WriteString(`</events></instrumentation></instrumentationManifest>`)
	m := testio.Parse(t, manifest.Parse, "four.man", b.String(), manifest.Options{})
	m.Providers[1].Symbol, m.Providers[2].Symbol = "SHOP", "MY-PROV"
	for i, symbol := range []string{"int", "a b", "EventWrite", "SHOP_Handle"} {
		m.Providers[i].Events[1].Symbol = symbol
	}
	header := wevt.Header("four.man", m, wevt.HeaderOptions{})
	use := "#include \"sample.h\"\nULONG use(void) { return EventRegisterP0() + EventRegisterP1() + EventRegisterP2() +\n" +
		"EventWriteSaid() + EventWriteSaid_0_0() + EventWriteSaid_0_0_2() + EventWriteSaid_0_0_3() + EventWriteint_1_0() + EventWritea_b(); }\n"
	for _, want := range []string{"EventWriteSaid_0_0_3(", "EventWriteint_1_0(", "EventWritea_b(", "EventWriteEventWrite_1_0(", "GUID SHOP_2 ", "GUID MY_PROV ",
		"EventWriteTransfer_2_0("} {
		if !strings.Contains(string(header), want) {
			t.Errorf("the header does not have %s", want)
		}
	}
	compileHeader(t, header, use)
}

// all has a field of each kind that a function of a header takes.
const all = `<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"
    xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events"><instrumentation><events>
<provider name="Sample Driver-1" guid="{6f0c3c6e-4f39-45a5-8c0e-2a51f1c6f6b2}" symbol="SAMPLE" resourceFileName="a" messageFileName="a">
<templates><template tid="T">
 <data name="B" inType="win:Boolean"/><data name="I8" inType="win:Int8"/><data name="U16" inType="win:UInt16"/>
 <data name="I32" inType="win:Int32"/><data name="U64" inType="win:UInt64"/><data name="D" inType="win:Double"/>
 <data name="P" inType="win:Pointer"/><data name="G" inType="win:GUID"/><data name="F" inType="win:FILETIME"/>
 <data name="S" inType="win:SYSTEMTIME"/><data name="Sid" inType="win:SID"/><data name="W" inType="win:UnicodeString"/>
 <data name="Empty" inType="win:UnicodeString"/><data name="A" inType="win:AnsiString"/>
 <data name="N" inType="win:UInt16"/><data name="Blob" inType="win:Binary" length="N"/>
 <data name="WN" inType="win:UnicodeString" length="N"/><data name="Times" inType="win:FILETIME" count="2"/>
 <data name="Values" inType="win:UInt32" count="N"/>
 <struct name="Pairs" count="N"><data name="X" inType="win:UInt16"/><data name="Y" inType="win:UInt16"/></struct>
 <struct name="Tail"><data name="Z" inType="win:AnsiString"/></struct>
</template></templates>
<events><event value="7" version="2" symbol="Sample_Evt" template="T" level="win:Error" keywords="win:ResponseTime"/><event value="8" symbol="SAMPLE_None"/></events>
</provider></events></instrumentation></instrumentationManifest>`

// program writes the event of the manifest above, to a host that prints its arguments. That of
// a driver hands over a NULL activity in front.
const program = `#include "sample.h"
#include <stdio.h>
#ifdef DRIVER
#define EventRegister EtwRegister
#define EventUnregister EtwUnregister
#define EventEnabled EtwEventEnabled
#define EventWrite EtwWrite
#define FIRST (const GUID *)0,
#define ACTIVITY const GUID *activity,
typedef NTSTATUS Result;
typedef ULONGLONG FILETIME;
typedef struct { USHORT Year, Month, DayOfWeek, Day, Hour, Minute, Second, Milliseconds; } SYSTEMTIME;
#else
#define FIRST
#define ACTIVITY
typedef ULONG Result;
#endif
#define WRITE PREFIXEvt(FIRST 1, -1, 2, -3, 4, 0.5, (void *)6, &g, (void *)time, &s, sid, L"word", NULL, "text", 2, (const UCHAR *)"xy", L"zz", (void *)time, values, 4, pairs, 5, "tail")
static int registered;
Result EventRegister(const GUID *p, void *c, void *x, REGHANDLE *h) { (void)c; (void)x; printf("register %08x\n", p->Data1); registered++; *h = 5; return 0; }
Result EventUnregister(REGHANDLE h) { printf("unregister %d\n", (int)h); return 0; }
BOOLEAN EventEnabled(REGHANDLE h, const EVENT_DESCRIPTOR *e) { return h == 5 && e->Id == 7; }
Result EventWrite(REGHANDLE h, const EVENT_DESCRIPTOR *e, ACTIVITY ULONG n, EVENT_DATA_DESCRIPTOR *d) {
#ifdef DRIVER
	if (activity) return 1;
#endif
	printf("write %d %d.%d level %d: ", (int)h, e->Id, e->Version, e->Level);
	for (ULONG i = 0; i < n; i++)
		for (ULONG k = 0; k < d[i].Size; k++) printf("%02x", ((const UCHAR *)d[i].Ptr)[k]);
	printf("\n");
	return 0;
}
int main(void) {
	GUID g = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};
	ULONGLONG time[2] = {11, 12};
	SYSTEMTIME s = {2024, 5, 5, 17, 1, 2, 3, 4};
	UCHAR sid[] = {1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 32, 2, 0, 0};
	ULONG values[2] = {21, 22};
	USHORT pairs[4] = {31, 32, 33, 34};
	int rc = WRITE; // nothing, since it is not registered
	rc += EventRegisterSample_Driver_1() + EventRegisterSample_Driver_1();
	rc += WRITE;
	rc += PREFIXNone(FIRSTONLY);
	rc += EventUnregisterSample_Driver_1() + EventUnregisterSample_Driver_1();
	return rc + EventEnabledEvt() + Sample_Evt_value - 7 + registered - 1;
}
`

// The payloads of a header's functions, for programs and drivers, are those of the manifest.
func TestHeaderWrites(t *testing.T) {
	m := testio.Parse(t, manifest.Parse, "all.man", all, manifest.Options{})
	p := m.Providers[0].Describe()
	for _, kernel := range []bool{false, true} {
		opts := wevt.HeaderOptions{Kernel: kernel, Prefix: "Log", Strip: "sample_"}
		first := ""
		define := "-DPROGRAM"
		if kernel {
			first, define = "NULL", "-DDRIVER"
		}
		use := strings.NewReplacer("PREFIX", "Log", "FIRSTONLY", first).Replace(program)
		out := runHeader(t, wevt.Header("all.man", m, opts), use, define)
		lines := strings.Split(out, "\n")
		if len(lines) != 3 || lines[0] != "register 6f0c3c6e" || lines[2] != "unregister 5" {
			t.Fatalf("the program printed\n%s", out)
		}
		written, ok := strings.CutPrefix(lines[1], "write 5 7.2 level 2: ")
		payload, err := hex.DecodeString(written)
		if !ok || err != nil {
			t.Fatalf("%s: %v", lines[1], err)
		}
		var got etw.Dynamic
		if n, err := got.Decode(p.Events[0], payload, etw.Ptr64); err != nil || n != len(payload) {
			t.Fatalf("%d of %d bytes: %v", n, len(payload), err)
		}
		const want = "Sample_Evt B=true I8=-1 U16=2 I32=-3 U64=4 D=0.5 P=0x6 G=00000001-0002-0003-0405-060708090a0b " +
			"F=1601-01-01T00:00:00.0000011Z S=2024-05-17T01:02:03.004Z Sid=S-1-5-32-544 W=word Empty=\"\" A=text N=2 Blob=7879 WN=zz " +
			"Times=[1601-01-01T00:00:00.0000011Z 1601-01-01T00:00:00.0000012Z] Values=[21 22] Pairs=[{X=31 Y=32} {X=33 Y=34}] Tail={Z=tail}"
		if s := got.String(); s != want {
			t.Errorf("kernel %v:\n%s\nwant\n%s", kernel, s, want)
		}
	}
}

// runHeader compiles a program for this system, with our own stand-in of Windows' headers, runs
// it, and returns its output.
func runHeader(t *testing.T, header []byte, use, define string) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler: the functions of the header do not run")
	}
	dir := writeProgram(t, header, use)
	sdk := testio.Abs(t, "testdata/sdk")
	compile := exec.Command(cc, "-std=gnu11", "-I", sdk, "-fshort-wchar", "-D__declspec(x)=__attribute__((weak))", "-D__int64=long long", define,
		"-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-o", "program", "sample.c")
	compile.Dir = dir
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(filepath.Join(dir, "program")).Output()
	if err != nil {
		t.Errorf("the program ends with %v", err)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// writeProgram writes a header and a program that uses it into a folder.
func writeProgram(t *testing.T, header []byte, use string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range map[string]string{"sample.h": string(header), "sample.c": use, "sample.cc": use} {
		testio.Write(t, filepath.Join(dir, name), []byte(content))
	}
	return dir
}

// compileHeader compiles a program that uses a header, sample.h.
func compileHeader(t *testing.T, header []byte, use string) {
	t.Helper()
	compileAll(t, writeProgram(t, header, use), ".")
}

// compileAll compiles the program in a folder as C and as C++: with Windows' own headers as
// mingw-w64 has them, also those in another folder, and by clang with our stand-in of them.
func compileAll(t *testing.T, dir, include string) {
	t.Helper()
	sdk := testio.Abs(t, "testdata/sdk")
	clang := []string{"clang", "--target=x86_64-pc-windows-msvc", "-fms-extensions", "-nostdlibinc", "-I", sdk}
	for _, c := range [][]string{{"x86_64-w64-mingw32-gcc", "-I", include, "sample.c"}, {"x86_64-w64-mingw32-g++", "-I", include, "sample.cc"},
		append(clang[:len(clang):len(clang)], "sample.c"), append(clang[:len(clang):len(clang)], "sample.cc")} {
		t.Run(c[0]+" "+c[len(c)-1], func(t *testing.T) {
			path, err := exec.LookPath(c[0])
			if err != nil {
				t.Skip("no such compiler for Windows: the header is not compiled by it")
			}
			compile := exec.Command(path, append(c[1:], "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-fsyntax-only")...)
			compile.Dir = dir
			if out, err := compile.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// A header for drivers has the functions they can call, and nothing of programs.
func TestHeaderOfDriver(t *testing.T) {
	m, _ := compiled(t, 5)
	header := wevt.Header("sample.man", m, wevt.HeaderOptions{Kernel: true})
	for _, bad := range []string{"windows.h", "EventWrite(", "EventRegister(", "FILETIME", "ULONG Event", "PSID"} {
		if strings.Contains(string(header), bad) {
			t.Errorf("the header has %s", bad)
		}
	}
	dir := writeProgram(t, header, "#include \"sample.h\"\nNTSTATUS ask(void) { return EventRegisterSample_Shop() + EventWriteASKED(NULL); }\n")
	compileAll(t, dir, "/usr/share/mingw-w64/include/ddk")
}
