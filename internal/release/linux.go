package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// A form is one of the packages that Linux systems take, as nfpm calls it.
type form struct {
	packager string
	version  func(string) string
	release  string
	name     string // of the file, by version and processor
}

var forms = []form{
	{packager: "deb", version: debVersion, name: "etwgen_%s_%s.deb"},
	{packager: "rpm", version: debVersion, release: "1", name: "etwgen-%s-1.%s.rpm"},
	{packager: "apk", version: apkVersion, release: "0", name: "etwgen-%s-r0_%s.apk"},
}

// machines are the processors' names of Fedora and Alpine; Debian has those of Go.
var machines = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// write has nfpm write a package into a folder. It has no scripts and no signature.
func (f form) write(dir string, p *pack) error {
	tmp, err := os.MkdirTemp("", "package-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	var contents []map[string]any
	for i, file := range p.files {
		source := filepath.Join(tmp, fmt.Sprint(i))
		if err := os.WriteFile(source, file.data, 0o644); err != nil {
			return err
		}
		contents = append(contents, map[string]any{"src": source, "dst": "/" + file.name,
			"file_info": map[string]any{"mode": file.mode, "mtime": p.when.Format(time.RFC3339), "owner": "root", "group": "root"}})
	}
	version, arch := f.version(p.version), p.arch
	if f.packager != "deb" {
		arch = machines[arch]
	}
	// YAML has JSON in it.
	config, err := json.Marshal(map[string]any{
		"name": "etwgen", "arch": p.arch, "platform": "linux", "version_schema": "none", "version": version, "release": f.release,
		"mtime": p.when.Format(time.RFC3339), "section": "devel", "priority": "optional", "license": "MIT",
		"maintainer": "The etwgen authors <etwgen@users.noreply.github.com>", "homepage": "https://github.com/etwgen/etwgen",
		"description": "traces of .NET and Windows, and typed Go events from manifests\n" +
			"etw opens, records and explains traces of .NET (.nettrace) and of Windows\n(.etl) on any system. etwgen makes Go packages of event manifests.",
		"rpm":      map[string]any{"buildhost": "localhost", "group": "Development/Tools"},
		"contents": contents,
	})
	name := filepath.Join(tmp, "nfpm.json")
	if err := errors.Join(err, os.WriteFile(name, config, 0o644)); err != nil {
		return err
	}
	root, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return err
	}
	tools := filepath.Join(filepath.Dir(string(root)), ".ci", "tools", "go.mod")
	target := filepath.Join(dir, fmt.Sprintf(f.name, version, arch))
	if out, err := exec.Command("go", "tool", "-modfile="+tools, "nfpm", "package", "--config", name, "--packager", f.packager, "--target", target).CombinedOutput(); err != nil {
		return fmt.Errorf("nfpm: %w\n%s", err, out)
	}
	return nil
}

// debVersion returns a version as Debian and Fedora order it: versions before a release sort so.
func debVersion(version string) string {
	return strings.ReplaceAll(strings.TrimPrefix(version, "v"), "-", "~")
}

var (
	pseudoVersion = regexp.MustCompile(`-(?:0\.)?(\d{8})\d{6}-[0-9a-f]{12}`)
	preRelease    = regexp.MustCompile(`-([a-z]+)\.?(\d*)`)
)

// apkVersion returns a version as Alpine orders it, which has words of its own for versions before
// a release: 0.1.0_rc1, and 0.1.0_git20261127 for a commit.
func apkVersion(version string) string {
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "v"), "+")
	version = pseudoVersion.ReplaceAllString(version, "_git$1")
	return preRelease.ReplaceAllString(version, "_$1$2")
}
