package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/export/parquet"
	"github.com/etwgen/etwgen/manifest/wpp"
	"github.com/etwgen/etwgen/runtime/ctf"
	"github.com/etwgen/etwgen/runtime/etw"
)

// collect adds the files of the corpus that are of these forms.
func (x *forms) collect(dir string, most int64) error {
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil || info.Size() > most {
			return err
		}
		base, in := d.Name(), filepath.Base(filepath.Dir(name))
		switch {
		case filepath.Ext(base) == ".zip" && in == "ctf":
			return x.archive(name)
		case strings.HasSuffix(base, ".gcdump.gz"), filepath.Ext(base) == ".tmf", filepath.Ext(base) == ".pdb" && in == "wpp":
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			f := formFile{name: base, form: "TMF", data: data, read: readTMF}
			switch filepath.Ext(base) {
			case ".gz":
				if f.data, err = unpack(data); err != nil {
					return err
				}
				f.form, f.read, f.ends = "gcdump", readGCDump, true
			case ".pdb":
				f.form, f.read = "PDB", readAnnotations
			}
			if n, err := f.read(f.data); err == nil && n > 0 { // others are of forms that nobody reads
				x.files = append(x.files, f)
			}
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// archive adds the streams and the metadata of the traces of LTTng in an archive.
func (x *forms) archive(name string) error {
	z, err := zip.OpenReader(name)
	if err != nil {
		return err
	}
	defer z.Close()
	folders := make(map[string]map[string][]byte)
	for _, f := range z.File {
		dir, base := path.Split(f.Name)
		if f.FileInfo().IsDir() || strings.HasSuffix(dir, "/index/") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return err
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if folders[dir] == nil {
			folders[dir] = make(map[string][]byte)
		}
		folders[dir][base] = data
	}
	for _, dir := range slices.Sorted(maps.Keys(folders)) {
		x.recording(filepath.Base(name)+":"+dir, folders[dir])
	}
	return nil
}

// recording adds the parts of a trace of LTTng that have something in them.
func (x *forms) recording(name string, parts map[string][]byte) {
	if parts[ctf.Metadata] == nil {
		return
	}
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		f := formFile{name: name + part, form: "LTTng", data: parts[part], page: ctfPage, read: func(data []byte) (int, error) { return readCTF(parts, part, data) }, ends: part != ctf.Metadata} // which may end between two blocks
		if n, err := f.read(f.data); err == nil && n > 0 {
			x.files = append(x.files, f)
		}
	}
}

// ctfPage divides the sizes of packets of LTTng: a stream that ends between two has
// nothing to tell that there were more.
const ctfPage = 4096

// readCTF reads a trace of LTTng of which a part has other data: one stream alone, or all where the
// metadata have.
func readCTF(parts map[string][]byte, part string, data []byte) (n int, err error) {
	var files []ctf.File
	for name, b := range parts {
		switch {
		case name == part:
			b = data
		case name != ctf.Metadata && part != ctf.Metadata:
			continue
		}
		files = append(files, ctf.File{Name: name, Data: bytes.NewReader(b), Size: int64(len(b))})
	}
	r, err := ctf.NewReader(files)
	if err != nil {
		return 0, err
	}
	d := etw.NewDecoder()
	var rec etw.Record
	for err = r.Next(&rec); err == nil; err = r.Next(&rec) {
		if n++; n%64 == 0 {
			if v, err := d.Decode(&rec); err == nil && v != nil {
				_ = etw.AppendText(nil, v)
			}
		}
	}
	if err == io.EOF {
		err = nil
	} else if !errors.Is(err, etw.ErrIncomplete) {
		return n, fmt.Errorf("%w: its error is not ErrIncomplete: %w", errPromise, err)
	}
	if again := r.Next(&rec); again != io.EOF {
		return n, fmt.Errorf("%w: after the end Next returns %v", errPromise, again)
	}
	if s := r.Stats(); err == nil && s.Undecodable > 0 {
		err = fmt.Errorf("%d are damaged", s.Undecodable)
	}
	return n, err
}

func readTMF(data []byte) (int, error) {
	all, err := wpp.ReadTMF(bytes.NewReader(data))
	return messages(all, data, err)
}

func readAnnotations(data []byte) (int, error) {
	all, err := wpp.ReadPDB(bytes.NewReader(data), int64(len(data)))
	return messages(all, data, err)
}

// messages decodes some bytes of a file by each message.
func messages(all []*etw.Provider, data []byte, err error) (n int, _ error) {
	d := etw.NewDecoder(all...)
	for _, p := range all {
		for _, e := range p.Events {
			payload := data[:min(len(data), 512)]
			v, _ := d.Decode(&etw.Record{Kind: etw.KindMessage, Provider: p.Desc.GUID, ID: e.ID, PointerSize: etw.Ptr64, Payload: payload})
			if v == nil {
				return 0, fmt.Errorf("%w: %v has no description", errPromise, e.Key())
			}
			if text := wpp.AppendMessage(nil, v, etw.Ptr64); len(text) > 1<<20+len(e.Message) {
				return 0, fmt.Errorf("%w: a text of %d bytes", errPromise, len(text))
			}
			n++
		}
	}
	return n, err
}

// manifestOf is the name of the manifest in a lake.
const manifestOf = "0123456789abcdef0123456789abcdef"

// manifestOfLake is a manifest of a recording, with a file that is not there.
const manifestOfLake = `{"schema":2,"traceId":"` + manifestOf + `","run":"00000000000000000001","trace":"shop.nettrace","id":"5","host":"h","date":"2024-02-29",` +
	`"events":7,"complete":true,"bytes":9,"files":[{"path":"event=Shop.Sold/date=2024-02-29/a.parquet","provider":"Shop","event":"Sold","ids":[1],"versions":{"0":7},"rows":7,"bytes":9}]}`

// readManifest reads a lake with a manifest, and does all that does not need its files.
func readManifest(data []byte) (int, error) {
	dir, err := os.MkdirTemp("", "hostile-lake-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	lake, outside := filepath.Join(dir, "lake"), filepath.Join(dir, "a.parquet")
	in := filepath.Join(lake, "_traces", manifestOf[:2])
	run := strings.Repeat("0", 24)
	if err := errors.Join(os.MkdirAll(in, 0o700), os.WriteFile(outside, []byte("PAR1"), 0o600), os.WriteFile(filepath.Join(in, manifestOf+"-"+run+".json"), data, 0o600)); err != nil {
		return 0, err
	}
	l, err := parquet.OpenLake(lake)
	if err != nil {
		return 0, err
	}
	for _, err := range l.Damaged {
		return 0, err
	}
	_, checked := l.Check()
	if err := errors.Join(checked, l.View(io.Discard, lake), l.ClickHouse(io.Discard, func(string) string { return "x" })); err != nil {
		return 0, err
	}
	if _, err := l.Clean(-1); err != nil {
		return 0, err
	}
	if _, err := os.Stat(outside); err != nil {
		return 0, fmt.Errorf("%w: a file beside the lake is gone", errPromise)
	}
	return len(l.Manifests), nil
}
