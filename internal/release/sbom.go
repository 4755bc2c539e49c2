package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// The form of CycloneDX 1.5, as far as a Go program needs it.
type (
	document struct {
		Format       string       `json:"bomFormat"`
		Spec         string       `json:"specVersion"`
		Serial       string       `json:"serialNumber"`
		Version      int          `json:"version"`
		Metadata     metadata     `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}
	metadata struct {
		Component component `json:"component"`
	}
	component struct {
		Type       string     `json:"type"`
		Ref        string     `json:"bom-ref"`
		Name       string     `json:"name"`
		Version    string     `json:"version"`
		PURL       string     `json:"purl"`
		Hashes     []hash     `json:"hashes,omitempty"`
		Properties []property `json:"properties,omitempty"`
	}
	hash struct {
		Alg     string `json:"alg"`
		Content string `json:"content"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	dependency struct {
		Ref       string   `json:"ref"`
		DependsOn []string `json:"dependsOn"`
	}
)

// sbom lists the parts of a program, as Go has written them into it: the modules with their
// check sums in the form of go.sum, Go itself, and the settings of the build. Its number is
// made of the program, so that the same program has the same list.
func sbom(name string, info *buildinfo.BuildInfo, program []byte, t target) ([]byte, error) {
	sum := sha256.Sum256(program)
	main := module(info.Main.Path, info.Main.Version)
	main.Type, main.Name, main.Ref = "application", name, main.PURL+"#cmd/"+name
	main.PURL += "?goos=" + t.os + "&goarch=" + t.arch + "#cmd/" + name
	main.Hashes = []hash{{"SHA-256", fmt.Sprintf("%x", sum)}}
	for _, s := range info.Settings {
		main.Properties = append(main.Properties, property{"go:build:" + s.Key, s.Value})
	}
	toolchain := component{Type: "library", Name: "std", Version: info.GoVersion, PURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go")}
	toolchain.Ref = toolchain.PURL
	doc := document{Format: "CycloneDX", Spec: "1.5", Version: 1, Metadata: metadata{main}, Components: []component{toolchain}}
	doc.Serial = fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[:4], sum[4:6], []byte{sum[6]&0x0f | 0x80, sum[7]}, []byte{sum[8]&0x3f | 0x80, sum[9]}, sum[10:16])
	for _, m := range info.Deps {
		if m.Replace != nil {
			return nil, fmt.Errorf("%s is replaced: a release has no replacements", m.Path)
		}
		c := module(m.Path, m.Version)
		c.Properties = []property{{"go:sum", m.Sum}}
		doc.Components = append(doc.Components, c)
	}
	all := dependency{Ref: main.Ref}
	for _, c := range doc.Components {
		all.DependsOn = append(all.DependsOn, c.Ref)
	}
	doc.Dependencies = []dependency{all}
	text, err := json.MarshalIndent(doc, "", "  ")
	return append(text, '\n'), err
}

// module returns the entry of a module.
func module(path, version string) component {
	purl := "pkg:golang/" + strings.ToLower(path) + "@" + url.PathEscape(version)
	return component{Type: "library", Ref: purl, Name: path, Version: version, PURL: purl}
}
