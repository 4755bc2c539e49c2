package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A descriptor refers to a blob of an image, as OCI has it.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

const ociType = "application/vnd.oci.image."

// An image collects the blobs of an OCI image for several processors: one layer each, with the
// programs and the licences, and nothing else. It runs as nobody, on an empty file system.
type image struct {
	name, program string
	blobs         []file
	manifests     []descriptor
}

// blob adds a blob, and returns its descriptor.
func (m *image) blob(kind string, data []byte) descriptor {
	sum := fmt.Sprintf("%x", sha256.Sum256(data))
	m.blobs = append(m.blobs, file{"blobs/sha256/" + sum, data, 0o644})
	return descriptor{MediaType: ociType + kind, Digest: "sha256:" + sum, Size: len(data)}
}

// json adds a blob that is a document.
func (m *image) json(kind string, document any) (descriptor, error) {
	data, err := json.Marshal(document)
	return m.blob(kind, data), err
}

// add adds the image of a target, of the files of its archive.
func (m *image) add(t target, version string, when time.Time, files []file) error {
	var kept []file
	for _, f := range files {
		switch {
		case f.mode&0o111 != 0:
			f.name = "usr/bin/" + f.name
		case f.name == "LICENSE" || f.name == "NOTICES" || strings.HasSuffix(f.name, ".cdx.json"):
			f.name = "usr/share/doc/" + m.name + "/" + f.name
		default:
			continue
		}
		kept = append(kept, f)
	}
	kept = append(kept, file{"tmp/.keep", nil, 0o644}) // packed traces are unpacked there
	slices.SortFunc(kept, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	var plain bytes.Buffer
	if err := treeTar(&plain, "", when, kept); err != nil {
		return err
	}
	layer, err := packedBytes(plain.Bytes())
	if err != nil {
		return err
	}
	type history struct {
		Created time.Time `json:"created"`
		By      string    `json:"created_by"`
	}
	config, err := m.json("config.v1+json", map[string]any{
		"architecture": t.arch, "os": t.os, "created": when,
		"config": map[string]any{
			"User": "65532:65532", "Entrypoint": []string{"/usr/bin/" + m.program}, "Env": []string{"PATH=/usr/bin"}, "WorkingDir": "/tmp",
			"Labels": map[string]string{"org.opencontainers.image.title": m.name, "org.opencontainers.image.version": version,
				"org.opencontainers.image.source": "https://github.com/etwgen/etwgen", "org.opencontainers.image.licenses": "MIT"},
		},
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(plain.Bytes()))}},
		"history": []history{{when, "go run ./internal/release"}},
	})
	if err != nil {
		return err
	}
	manifest, err := m.json("manifest.v1+json", map[string]any{
		"schemaVersion": 2, "mediaType": ociType + "manifest.v1+json", "config": config,
		"layers": []descriptor{m.blob("layer.v1.tar+gzip", layer)},
	})
	manifest.Platform = &platform{t.arch, t.os}
	m.manifests = append(m.manifests, manifest)
	return err
}

// write writes the layout as a tar, which skopeo, podman and docker load.
func (m *image) write(dir, version string, when time.Time) error {
	index, err := m.json("index.v1+json", map[string]any{
		"schemaVersion": 2, "mediaType": ociType + "index.v1+json", "manifests": m.manifests,
	})
	if err != nil {
		return err
	}
	number := debVersion(version)
	index.Annotations = map[string]string{"org.opencontainers.image.ref.name": strings.ReplaceAll(number, "~", "-")}
	top, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": ociType + "index.v1+json", "manifests": []descriptor{index}})
	if err != nil {
		return err
	}
	files := append([]file{{"oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`), 0o644}, {"index.json", top, 0o644}}, m.blobs...)
	var b bytes.Buffer
	if err := treeTar(&b, "", when, files); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s_%s_oci.tar", m.name, strings.TrimPrefix(version, "v"))), b.Bytes(), 0o644)
}
