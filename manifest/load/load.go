// Package load describes the events of manifests that a program gets as paths: files, programs
// and libraries with a resource, the formats of trace messages (*.tmf, *.pdb), folders of those. Use it where events of any provider are to
// have names and fields at run time, without generated code:
//
//	set, err := load.Providers("/etc/agent/manifests", "driver.sys")
//	if err != nil {
//		return err
//	}
//	decoder := etw.NewDecoder(set.Providers...)
//
// Manifests are read leniently, as dumps of registered providers need it.
package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/manifest/wevt"
	"github.com/etwgen/etwgen/manifest/wpp"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Set is the providers found.
type Set struct {
	Providers []*etw.Provider
	Files     int // that may have been manifests, or have had them
	// Left says of each file that is left out why it is. Programs and libraries of a folder
	// without a resource have none.
	Left []*Error
}

// An Error is the fault of a file.
type Error struct {
	File string
	Err  error
}

func (e *Error) Error() string {
	if text := e.Err.Error(); strings.HasPrefix(text, e.File+":") {
		return text
	}
	return e.File + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Providers reads the manifests at paths. Of several files those that are malformed are left
// out; it is an error if all are, or if a path leads to none.
func Providers(paths ...string) (*Set, error) {
	s := new(Set)
	var files []string
	for _, path := range paths {
		found, err := filesIn(path)
		if err != nil {
			return s, &Error{path, err}
		}
		files = append(files, found...)
	}
	s.Files = len(files)
	for _, path := range files {
		providers, err := read(path)
		s.Providers = append(s.Providers, providers...)
		if err != nil && (!errors.Is(err, wevt.ErrNoResource) && !errors.Is(err, wpp.ErrNone) || slices.Contains(paths, path)) {
			s.Left = append(s.Left, &Error{path, err})
		}
	}
	if len(files) > 0 && len(s.Left) == len(files) {
		return s, s.Left[0]
	}
	return s, nil
}

// showAddresses has bytes shown as the address of a socket where their field is called an address and
// has no outType: the manifests of Windows' own providers leave it out. Bytes that are none stay
// hexadecimal.
func showAddresses(providers []*etw.Provider) {
	var show func([]etw.FieldDesc)
	show = func(fields []etw.FieldDesc) {
		for i := range fields {
			f := &fields[i]
			if f.Type == etw.InBinary && f.Out == 0 && (strings.HasSuffix(f.Name, "Addr") || strings.HasSuffix(f.Name, "Address")) {
				f.Out = etw.OutSocketAddress
			}
			show(f.Fields)
		}
	}
	for _, p := range providers {
		for _, e := range p.Events {
			show(e.Fields)
		}
	}
}

// filesIn returns the files of a folder that may be manifests, or have them, or path
// itself if it is another file.
func filesIn(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, nil // reading it says what is wrong
	}
	var list []string
	err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && slices.Contains(suffixes, strings.ToLower(filepath.Ext(file))) {
			list = append(list, file)
		}
		return err
	})
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("the folder has no manifests (%s)", strings.Join(suffixes, ", "))
	}
	return list, err
}

// suffixes are those of files that are manifests, have them in a resource, or have formats of
// trace messages.
var suffixes = []string{".man", ".xml", ".dll", ".exe", ".sys", ".tmf", ".pdb"}

// read returns the providers that a file of any of the forms describes.
func read(path string) ([]*etw.Provider, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".tmf", ".pdb":
		return readMessages(path)
	}
	m, err := Read(path)
	if err != nil {
		return nil, err
	}
	providers := m.Describe()
	showAddresses(providers)
	return providers, nil
}

// readMessages returns the source files whose trace messages a file has.
func readMessages(path string) ([]*etw.Provider, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if strings.EqualFold(filepath.Ext(path), ".tmf") {
		return wpp.ReadTMF(f)
	}
	return wpp.ReadPDB(f, info.Size())
}

// Read reads a manifest, or that in the resource of a program or library.
func Read(path string) (*manifest.Manifest, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, 2)
	if _, err := io.ReadFull(f, head); err != nil || !bytes.Equal(head, []byte("MZ")) {
		m, _, err := manifest.ParseFile(path, manifest.Options{Lenient: true})
		return m, err
	}
	res, err := wevt.ReadPE(f)
	if errors.Is(err, wevt.ErrNoResource) && len(res.Messages) > 0 { // it has texts for event logs
		return &manifest.Manifest{File: path}, nil
	}
	if err != nil {
		return nil, err
	}
	m, _, err := wevt.Decode(path, res, wevt.Options{Lenient: true})
	return m, err
}
