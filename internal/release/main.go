// Release builds what a release consists of: for each system an archive with the two
// programs, their manual pages, completions and licences, a list of what is in each
// program (an SBOM); for Linux packages of Debian, Fedora and Alpine, and an image for
// containers besides; recipes for Homebrew, Scoop and winget; and the check sums of all of it.
//
//	go run ./internal/release -o dist
//
// The same commit gives the same bytes with the same version of Go, on every machine and
// in every folder. .ci/release builds twice and compares.
package main

import (
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// A target is a system to build for.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

// targets are those of a release.
var targets = []target{
	{"linux", "amd64"}, {"linux", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"},
}

// programs are in each archive.
var programs = []string{"etw", "etwgen", "etw-lake"}

func main() {
	log.SetFlags(0)
	log.SetPrefix("release: ")
	dir := flag.String("o", "dist", "write into this `FOLDER`, which must be new or empty")
	only := flag.String("only", "", "build for this `OS/ARCH` alone")
	dirty := flag.Bool("dirty", false, "also build what is not committed, to try it")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("unexpected %s", flag.Arg(0))
	}
	if err := release(*dir, *only, *dirty); err != nil {
		log.Fatal(err)
	}
}

// release makes the archives of all targets, or of one, and the files about all of them.
func release(dir, only string, dirty bool) error {
	if entries, err := os.ReadDir(dir); len(entries) > 0 || err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s is not empty (%v)", dir, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "release-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	common, err := commonFiles(tmp)
	if err != nil {
		return err
	}
	built, version, when, oci := 0, "", time.Time{}, &image{name: "etwgen", program: "etw"}
	for _, t := range targets {
		if only != "" && only != t.String() {
			continue
		}
		built++
		if version, when, err = releaseTarget(dir, tmp, t, common, oci, dirty); err != nil {
			return fmt.Errorf("%v: %w", t, err)
		}
	}
	if built == 0 {
		return fmt.Errorf("-only %s: the targets are %v", only, targets)
	}
	if built == len(targets) {
		if err := errors.Join(writeRecipes(dir, version), oci.write(dir, version, when), writeCollector(dir, tmp, version, when)); err != nil {
			return err
		}
	}
	return writeSums(dir)
}

// releaseTarget builds the programs of a target, and writes its archive with SBOMs, and for
// Linux packages and a part of the image. It returns the version, and the time of the commit.
func releaseTarget(dir, tmp string, t target, common []file, oci *image, dirty bool) (version string, when time.Time, err error) {
	files := append([]file(nil), common...)
	for _, name := range programs {
		path := filepath.Join(tmp, t.os+"-"+t.arch, name)
		if t.os == "windows" {
			path += ".exe"
		}
		if err := build(path, t, name); err != nil {
			return "", when, err
		}
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return "", when, err
		}
		if version, when, err = stamp(info, dirty); err != nil {
			return "", when, err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return "", when, err
		}
		bill, err := sbom(name, info, data, t)
		if err != nil {
			return "", when, err
		}
		files = append(files, file{name: filepath.Base(path), data: data, mode: 0o755}, file{name: name + ".cdx.json", data: bill, mode: 0o644})
		fmt.Printf("%-14v %-11s %5.1f MB\n", t, filepath.Base(path), float64(len(data))/1e6)
	}
	name := archiveName(strings.TrimPrefix(version, "v"), t)
	if t.os == "linux" {
		if err := errors.Join(writePackages(dir, t, version, when, files), oci.add(t, version, when, files)); err != nil {
			return "", when, err
		}
	}
	return version, when, writeArchive(filepath.Join(dir, name), t.os == "windows", name, when, files)
}

// writePackages writes the packages of Linux systems, under the names that they give them.
func writePackages(dir string, t target, version string, when time.Time, files []file) error {
	pack, err := newPack(t, version, when, files)
	if err != nil {
		return err
	}
	for _, f := range forms {
		if err := f.write(dir, pack); err != nil {
			return fmt.Errorf("%s: %w", f.packager, err)
		}
	}
	return nil
}

// build compiles a program such that nothing of the machine is in it.
func build(path string, t target, name string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-tags=nethttpomithttp2", "-buildvcs=true", "-ldflags=-s -w", "-o", path, "./cmd/"+name)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch, "GOFLAGS=-mod=readonly", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build ./cmd/%s: %w\n%s", name, err, out)
	}
	return nil
}

// stamp returns the version that Go has given to a program by its tag or its commit, and
// the time of the commit, which files in archives have.
func stamp(info *buildinfo.BuildInfo, dirty bool) (version string, when time.Time, err error) {
	version = info.Main.Version
	if version == "" || version == "(devel)" || strings.Contains(version, "+dirty") && !dirty {
		return "", when, fmt.Errorf("the version is %q: build a commit, in a checkout with its tags and without changes", version)
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			when, err = time.Parse(time.RFC3339, s.Value)
		}
	}
	if err == nil && when.IsZero() {
		err = errors.New("the program does not tell the time of its commit")
	}
	return version, when.UTC(), err
}

// commonFiles returns the files that are the same in all archives: pages, completions, licences.
func commonFiles(tmp string) ([]file, error) {
	here := target{runtime.GOOS, runtime.GOARCH}
	var files []file
	var built []string
	for _, name := range programs {
		path := filepath.Join(tmp, "here", name)
		built = append(built, path)
		if err := build(path, here, name); err != nil {
			return nil, err
		}
		pages := filepath.Join(tmp, "man-"+name)
		if out, err := exec.Command(path, "man", "--dir", pages).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s man: %w\n%s", name, err, out)
		}
		list, err := filesOf(pages)
		if err != nil {
			return nil, err
		}
		for _, f := range list { // each where its section of the manual is
			f.name = "man/man" + filepath.Ext(f.name)[1:] + "/" + f.name
			files = append(files, f)
		}
		for shell, to := range map[string]string{"bash": name + ".bash", "zsh": "_" + name, "fish": name + ".fish", "powershell": name + ".ps1"} {
			out, err := exec.Command(path, "completion", shell).Output()
			if err != nil {
				return nil, fmt.Errorf("%s completion %s: %w", name, shell, err)
			}
			files = append(files, file{name: "completions/" + to, data: out, mode: 0o644})
		}
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: name, data: data, mode: 0o644})
	}
	notices, err := notices(".", built...)
	return append(files, file{name: "NOTICES", data: notices, mode: 0o644}), err
}
