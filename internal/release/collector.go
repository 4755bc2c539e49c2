package main

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"
)

const (
	collectorName   = "otelcol-etwgen"
	collectorFolder = "collector/cmd/" + collectorName
)

// writeCollector writes an image of a collector with our receivers, for the Linux systems of a release.
func writeCollector(dir, tmp, version string, when time.Time) error {
	oci := &image{name: collectorName, program: collectorName}
	for _, t := range targets {
		if t.os != "linux" {
			continue
		}
		files, err := collectorFiles(tmp, t, version)
		if err == nil {
			err = oci.add(t, version, when, files)
		}
		if err != nil {
			return fmt.Errorf("collector of %v: %w", t, err)
		}
	}
	return oci.write(dir, version, when)
}

// collectorFiles builds a collector, and returns it with its licences and the list of its parts.
func collectorFiles(tmp string, t target, version string) ([]file, error) {
	path := filepath.Join(tmp, t.os+"-"+t.arch, collectorName)
	cmd := exec.Command(collectorFolder+"/build.sh", path)
	cmd.Env = append(os.Environ(), "GOOS="+t.os, "GOARCH="+t.arch, "GOFLAGS=-trimpath", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, err
	}
	// The modules of this repository are those of the commit.
	info.Main = debug.Module{Path: "github.com/etwgen/etwgen/collector", Version: version}
	for _, m := range info.Deps {
		if strings.HasPrefix(m.Path, "github.com/etwgen/") {
			m.Version, m.Replace = version, nil
		}
	}
	program, err := os.ReadFile(path)
	bill, err1 := sbom(collectorName, info, program, t)
	licence, err2 := os.ReadFile("LICENSE")
	others, err3 := notices(collectorFolder+"/build", path)
	return []file{
		{collectorName, program, 0o755}, {collectorName + ".cdx.json", bill, 0o644}, {"LICENSE", licence, 0o644}, {"NOTICES", others, 0o644},
	}, errors.Join(err, err1, err2, err3)
}
