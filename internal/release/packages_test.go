package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/internal/testio"
)

var packedAt = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

// made returns the file of a package of files.
func made(t *testing.T, arch, packager string, files []file) string {
	t.Helper()
	if os.Getenv("ETWGEN_TESTS") != "all" {
		t.Skip("nfpm, which packs, is compiled with ETWGEN_TESTS=all alone")
	}
	p, err := newPack(target{"linux", arch}, "v0.1.0-rc.1", packedAt, files)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	at := slices.IndexFunc(forms, func(f form) bool { return f.packager == packager })
	if err := forms[at].write(dir, p); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) != 1 {
		t.Fatalf("there are %v (%v)", names, err)
	}
	return names[0]
}

// twice makes a package of the same files in another order, and compares the bytes.
func twice(t *testing.T, arch, packager string) string {
	t.Helper()
	reversed := slices.Clone(debFiles)
	slices.Reverse(reversed[:6])
	name := made(t, arch, packager, debFiles)
	if !bytes.Equal(testio.Read(t, name), testio.Read(t, made(t, arch, packager, reversed))) {
		t.Errorf("%s: the same files make another package", packager)
	}
	return name
}

// TestRPM has rpm itself check a package, list it, and install it into a folder.
func TestRPM(t *testing.T) {
	name, base := twice(t, "amd64", "rpm"), t.TempDir()
	path, err := exec.LookPath("rpm")
	if err != nil {
		t.Skip("there is no rpm")
	}
	run := func(args ...string) string {
		out, err := exec.Command(path, append([]string{"--dbpath", base}, args...)...).CombinedOutput()
		if err != nil {
			t.Errorf("rpm %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	if out := run("-Kv", name); !strings.Contains(out, "Header SHA256 digest: OK") || !strings.Contains(out, "Payload SHA256 digest: OK") {
		t.Errorf("rpm -Kv:\n%s", out)
	}
	if out := run("-qp", "--queryformat", "%{NAME} %{VERSION} %{ARCH} %{LICENSE} %{BUILDTIME}", name); out != fmt.Sprintf("etwgen 0.1.0~rc.1 x86_64 MIT %d", packedAt.Unix()) {
		t.Errorf("it says %q", out)
	}
	if out := run("-qlp", name); !strings.Contains(out, "/usr/bin/etw\n") || !strings.Contains(out, "/usr/share/man/man1/etw.1.gz\n") {
		t.Errorf("it has\n%s", out)
	}
	unpack := exec.Command("sh", "-c", `rpm2cpio "$0" | cpio -id --quiet --no-absolute-filenames`, name)
	unpack.Dir = t.TempDir()
	if _, err := exec.LookPath("cpio"); err == nil {
		if out, err := unpack.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		if out, err := exec.Command(filepath.Join(unpack.Dir, "usr/bin/etw")).Output(); err != nil || string(out) != "etw\n" {
			t.Errorf("the program: %s (%v)", out, err)
		}
	}
}

// TestAPK reads a package as apk does: two members, the sum of the second in the first.
func TestAPK(t *testing.T) {
	data := testio.Read(t, twice(t, "arm64", "apk"))
	r := bytes.NewReader(data)
	control, end := member(t, r)
	if len(control) != 1 {
		t.Fatalf("the first member has %d files", len(control))
	}
	for _, want := range []string{"pkgver = 0.1.0_rc1-r0\n", "arch = aarch64\n", fmt.Sprintf("datahash = %x\n", sha256.Sum256(data[len(data)-r.Len():]))} {
		if !strings.Contains(control[".PKGINFO"], want) {
			t.Errorf("the facts lack %q:\n%s", want, control[".PKGINFO"])
		}
	}
	if end {
		t.Error("the first member has the end of a tar, behind which apk sees nothing")
	}
	files, end := member(t, r)
	if !end || files["usr/bin/etw"] != "#!/bin/sh\necho etw\n" || files["usr/share/bash-completion/completions/etw"] != "bash\n" {
		t.Errorf("end %v, files %q", end, files)
	}
	for version, want := range map[string]string{
		"v0.1.0": "0.1.0", "v1.2.3-beta": "1.2.3_beta", "v0.0.0-20261127063000-9bb8d3c7aaaa": "0.0.0_git20261127", "v0.1.1-0.20261127063000-9bb8d3c7aaaa+dirty": "0.1.1_git20261127",
	} {
		if got := apkVersion(version); got != want {
			t.Errorf("%s is %s, not %s", version, got, want)
		}
	}
}

// member reads a member of an apk, and reports whether its tar has an end.
func member(t *testing.T, r *bytes.Reader) (files map[string]string, ended bool) {
	t.Helper()
	unpacked, err := gzip.NewReader(r)
	if err != nil {
		t.Fatal(err)
	}
	unpacked.Multistream(false)
	data, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	files = map[string]string{}
	for tr := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return files, bytes.HasSuffix(data, make([]byte, 1024))
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = string(content)
	}
}

// TestImage follows the references of an image from its index to the files, and has skopeo read it.
func TestImage(t *testing.T) {
	dir, oci := t.TempDir(), &image{name: "etwgen", program: "etw"}
	for _, arch := range []string{"amd64", "arm64"} {
		if err := oci.add(target{"linux", arch}, "v0.1.0", packedAt, debFiles); err != nil {
			t.Fatal(err)
		}
	}
	if err := oci.write(dir, "v0.1.0", packedAt); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "etwgen_0.1.0_oci.tar")
	f := testio.File(t, path)
	defer f.Close()
	blobs := map[string][]byte{}
	for tr := tar.NewReader(f); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if blobs[h.Name], err = io.ReadAll(tr); err != nil {
			t.Fatal(err)
		}
	}
	type document struct {
		Manifests, Layers []descriptor
		Config            json.RawMessage
	}
	follow := func(data []byte) (doc document) {
		testio.JSON(t, data, &doc)
		return doc
	}
	blob := func(d descriptor) []byte {
		data := blobs["blobs/"+strings.ReplaceAll(d.Digest, ":", "/")]
		if len(data) != d.Size || fmt.Sprintf("sha256:%x", sha256.Sum256(data)) != d.Digest {
			t.Fatalf("%+v leads to %d bytes", d, len(data))
		}
		return data
	}
	index := follow(blob(follow(blobs["index.json"]).Manifests[0]))
	if len(index.Manifests) != 2 {
		t.Fatalf("the index has %+v", index.Manifests)
	}
	for _, d := range index.Manifests {
		manifest := follow(blob(d))
		files, _ := member(t, bytes.NewReader(blob(manifest.Layers[0])))
		if files["usr/bin/etw"] == "" || files["usr/share/doc/etwgen/LICENSE"] == "" || files["README.md"] != "" {
			t.Errorf("%v: the layer has %q", d.Platform, files)
		}
	}
	if skopeo, err := exec.LookPath("skopeo"); err == nil {
		out, err := exec.Command(skopeo, "inspect", "--override-arch", "arm64", "--override-os", "linux", "oci-archive:"+path).CombinedOutput()
		if err != nil || !strings.Contains(string(out), `"Architecture": "arm64"`) {
			t.Errorf("skopeo: %v\n%s", err, out)
		}
	}
}
