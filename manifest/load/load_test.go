package load

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest/wevt"
	"github.com/etwgen/etwgen/runtime/etw"
)

const windows = "../../generated/windows/windows.man"

// TestProviders reads a file, a folder with files that are no manifests, and a path without any.
func TestProviders(t *testing.T) {
	good := testio.Read(t, windows)
	one, err := Providers(windows)
	if err != nil || len(one.Providers) == 0 || one.Files != 1 {
		t.Fatalf("%+v, %v", one, err)
	}
	dir := t.TempDir()
	for name, data := range map[string]string{"a.man": string(good), "b.xml": "<no", "c.dll": "MZ and nothing else", "d.txt": "no"} {
		testio.Write(t, filepath.Join(dir, name), data)
	}
	all, err := Providers(dir)
	if err != nil || len(all.Providers) != len(one.Providers) || all.Files != 3 || len(all.Left) == 0 || all.Left[0].File != filepath.Join(dir, "b.xml") {
		t.Errorf("%+v, %v", all, err)
	}
	if text := all.Left[0].Error(); strings.Count(text, "b.xml") != 1 {
		t.Errorf("the error is %s", text)
	}
	for path, want := range map[string]error{filepath.Join(dir, "none.man"): fs.ErrNotExist, os.Args[0]: nil, t.TempDir(): nil} {
		if s, err := Providers(path); err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %+v, %v", path, s, err)
		}
	}
	if _, err := Providers(filepath.Join("testdata", "none.dll")); errors.Is(err, wevt.ErrNoResource) {
		t.Error("a file that is not there has no resource")
	}
}

// TestAddresses: bytes without an outType are the address of a socket if their field is called one and
// they are one; a hash stays hexadecimal.
func TestAddresses(t *testing.T) {
	const event = `<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"><instrumentation><events>
<provider name="Shop" guid="{0b71e6b7-3a3f-4f4e-8a6e-6a1f1f2b7c11}" symbol="SHOP">
<templates><template tid="T"><data name="Size" inType="win:UInt32"/><data name="RemoteAddr" inType="win:Binary" length="Size"/>
<data name="Hash" inType="win:Binary" length="16"/></template></templates>
<events><event value="1" template="T"/></events></provider></events></instrumentation></instrumentationManifest>`
	path := filepath.Join(t.TempDir(), "shop.man")
	testio.Write(t, path, event)
	set, err := Providers(path)
	if err != nil {
		t.Fatal(err)
	}
	socket := []byte{2, 0, 1, 187, 10, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0}
	for _, test := range []struct {
		address []byte
		want    string
	}{{socket, "RemoteAddr=10.0.0.7:443"}, {[]byte{9, 9, 9}, "RemoteAddr=090909"}} {
		payload := append(append([]byte{byte(len(test.address)), 0, 0, 0}, test.address...), socket...)
		r := &etw.Record{Provider: set.Providers[0].Desc.GUID, ID: 1, PointerSize: etw.Ptr64, Payload: payload}
		info, err := etw.NewDecoder(set.Providers...).Decode(r)
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprint(info); !strings.Contains(text, test.want) || !strings.Contains(text, "Hash=020001bb0a000007") {
			t.Errorf("%s lacks %s", text, test.want)
		}
	}
}

func ExampleProviders() {
	set, err := Providers("../../generated/windows/windows.man")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(set.Providers[0].Desc.Name)
	// Output: Microsoft-Windows-Kernel-Process
}
