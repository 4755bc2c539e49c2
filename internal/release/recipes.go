package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// releases is where the archives of a version are to be had.
const releases = "https://github.com/etwgen/etwgen/releases/download"

// writeRecipes writes how package managers install the archives: a formula of Homebrew, a
// manifest of Scoop, and those of winget. They know archives by their check sums.
func writeRecipes(dir, version string) error {
	number := strings.TrimPrefix(version, "v")
	sums := make(map[target]string)
	for _, t := range targets {
		suffix := ".tar.gz"
		if t.os == "windows" {
			suffix = ".zip"
		}
		data, err := os.ReadFile(filepath.Join(dir, archiveName(number, t)+suffix))
		if err != nil {
			return err
		}
		sums[t] = fmt.Sprintf("%x", sha256.Sum256(data))
	}
	scoop, err := scoop(number, sums)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "etwgen.json"), scoop, 0o644); err != nil {
		return err
	}
	for name, text := range winget(number, sums) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "etwgen.rb"), []byte(formula(number, sums)), 0o644)
}

// archiveName is that of the archive of a target, without its suffix, and of the folder in it.
func archiveName(number string, t target) string {
	return fmt.Sprintf("etwgen_%s_%s_%s", number, t.os, t.arch)
}

// formula returns the formula of Homebrew.
func formula(number string, sums map[target]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `class Etwgen < Formula
  desc "Traces of .NET and Windows, and typed Go events from manifests"
  homepage "https://github.com/etwgen/etwgen"
  version %q
  license "MIT"

`, number)
	for _, system := range [][2]string{{"macos", "darwin"}, {"linux", "linux"}} {
		fmt.Fprintf(&b, "  on_%s do\n", system[0])
		for _, cpu := range [][2]string{{"arm", "arm64"}, {"intel", "amd64"}} {
			t := target{system[1], cpu[1]}
			fmt.Fprintf(&b, "    on_%s do\n      url \"%s/v%s/%s.tar.gz\"\n      sha256 %q\n    end\n", cpu[0], releases, number, archiveName(number, t), sums[t])
		}
		b.WriteString("  end\n")
	}
	b.WriteString(`
  def install
    bin.install "etw", "etwgen", "etw-lake"
    man1.install Dir["man/man1/*"]
    man8.install Dir["man/man8/*"]
    %w[etw etwgen etw-lake].each do |program|
      bash_completion.install "completions/#{program}.bash" => program
      zsh_completion.install "completions/_#{program}"
      fish_completion.install "completions/#{program}.fish"
    end
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/etw --version")
  end
end
`)
	return b.String()
}

// scoop returns the manifest of Scoop.
func scoop(number string, sums map[target]string) ([]byte, error) {
	type place struct {
		URL     string `json:"url"`
		Hash    string `json:"hash"`
		Extract string `json:"extract_dir"`
	}
	at := func(arch string) place {
		t := target{"windows", arch}
		name := archiveName(number, t)
		return place{fmt.Sprintf("%s/v%s/%s.zip", releases, number, name), sums[t], name}
	}
	text, err := json.MarshalIndent(struct {
		Version      string           `json:"version"`
		Description  string           `json:"description"`
		Homepage     string           `json:"homepage"`
		License      string           `json:"license"`
		Architecture map[string]place `json:"architecture"`
		Bin          []string         `json:"bin"`
	}{
		number, "Traces of .NET and Windows, and typed Go events from manifests", "https://github.com/etwgen/etwgen", "MIT",
		map[string]place{"64bit": at("amd64"), "arm64": at("arm64")}, []string{"etw.exe", "etwgen.exe", "etw-lake.exe"},
	}, "", "  ")
	return append(text, '\n'), err
}

// winget returns the three manifests of winget, by the names that its repository wants.
func winget(number string, sums map[target]string) map[string]string {
	const id = "etwgen.etwgen"
	head := func(kind string) string {
		return fmt.Sprintf("# yaml-language-server: $schema=https://aka.ms/winget-manifest.%s.1.6.0.schema.json\nPackageIdentifier: %s\nPackageVersion: %s\n", kind, id, number)
	}
	tail := func(kind string) string {
		return fmt.Sprintf("ManifestType: %s\nManifestVersion: 1.6.0\n", kind)
	}
	var b strings.Builder
	b.WriteString(head("installer") + "InstallerType: zip\nNestedInstallerType: portable\nInstallers:\n")
	for _, cpu := range [][2]string{{"x64", "amd64"}, {"arm64", "arm64"}} {
		t := target{"windows", cpu[1]}
		name := archiveName(number, t)
		fmt.Fprintf(&b, "- Architecture: %s\n  InstallerUrl: %s/v%s/%s.zip\n  InstallerSha256: %s\n  NestedInstallerFiles:\n", cpu[0], releases, number, name, strings.ToUpper(sums[t]))
		for _, program := range programs {
			fmt.Fprintf(&b, "  - RelativeFilePath: %s\\%s.exe\n    PortableCommandAlias: %s\n", name, program, program)
		}
	}
	b.WriteString(tail("installer"))
	return map[string]string{
		id + ".installer.yaml": b.String(),
		id + ".yaml":           head("version") + "DefaultLocale: en-US\n" + tail("version"),
		id + ".locale.en-US.yaml": head("defaultLocale") + "PackageLocale: en-US\nPublisher: etwgen\nPackageName: etwgen\nPackageUrl: https://github.com/etwgen/etwgen\nLicense: MIT\n" +
			"ShortDescription: Traces of .NET and Windows, and typed Go events from manifests\n" + tail("defaultLocale"),
	}
}
