package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/etwgen/etwgen/manifest/tlg"
	"github.com/etwgen/etwgen/manifest/wevt"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/schema"
	"github.com/etwgen/etwgen/trace"
)

// importOptions say how to import.
type importOptions struct {
	lenient  bool
	provider string // the name of one that its resource does not name
	assembly assemblyOptions
}

// nameOf returns the name of a provider: the given one, or that of one that is well
// known.
func (o importOptions) nameOf(guid etw.GUID) string {
	return cmp.Or(o.provider, schema.ProviderName(guid))
}

// isManifest reports whether data begins as XML does. All other forms begin with
// bytes that no XML has.
func isManifest(data []byte) bool {
	for _, begin := range []string{"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff", "\x00<"} {
		if bytes.HasPrefix(data, []byte(begin)) {
			return true
		}
	}
	data = bytes.TrimLeft(data, " \t\r\n")
	return len(data) == 0 || data[0] == '<'
}

// importFrom makes a manifest of a program, a library, a resource or a trace.
func importFrom(ctx context.Context, path string, from *bufio.Reader, opts importOptions) (*imported, error) {
	head, _ := from.Peek(len("MZ")) // who reads the rest meets the error
	switch string(head) {
	case "MZ", "CR":
		data, err := readAtMost(from, maxProgram)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return importWhole(path, data, opts)
	}
	t, err := trace.ReadEvents(path, io.NopCloser(from))
	if err != nil {
		return nil, noForm(err)
	}
	defer t.Close()
	return importTraces(ctx, t, path)
}

// importWhole makes a manifest of a program, a library or a resource.
func importWhole(path string, data []byte, opts importOptions) (*imported, error) {
	if bytes.HasPrefix(data, []byte("MZ")) {
		return importProgram(path, data, opts)
	}
	return importResources(path, wevt.Resources{Templates: data}, opts)
}

// noForm adds to an error of package trace the other forms that there could be.
func noForm(err error) error {
	if errors.Is(err, trace.ErrFormat) {
		return fmt.Errorf("%w; nor is it a manifest, a program or library with a WEVT_TEMPLATE resource, or such a resource", err)
	}
	return err
}

// importProgram imports a program or a library: the EventSource classes of an assembly
// of .NET, or resources and the metadata of TraceLogging. Texts can be in files beside it, by
// language.
func importProgram(path string, data []byte, opts importOptions) (*imported, error) {
	in, assemblyErr := importAssembly(path, data, opts)
	if in != nil {
		return in, nil
	}
	in, err := importBinary(path, data, opts)
	if err != nil && assemblyErr != nil {
		err = fmt.Errorf("%s: %w", path, assemblyErr)
	}
	return in, err
}

// importBinary imports the event metadata of a program or library: a resource, the metadata
// of TraceLogging, or both.
func importBinary(path string, data []byte, opts importOptions) (*imported, error) {
	in, err := importResource(path, data, opts)
	if err != nil && !errors.Is(err, wevt.ErrNoResource) {
		return nil, err
	}
	more, moreErr := importTraceLogging(path, data, opts.lenient)
	switch {
	case errors.Is(moreErr, tlg.ErrNone) && err != nil:
		return nil, fmt.Errorf("%w, and no events of TraceLogging", err)
	case errors.Is(moreErr, tlg.ErrNone):
		return in, nil
	case moreErr != nil:
		return nil, moreErr
	case err != nil:
		return more, nil
	}
	in.add(path, more)
	return in, nil
}

// importResource imports the resource of a program or library.
func importResource(path string, data []byte, opts importOptions) (*imported, error) {
	res, err := wevt.ReadPE(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if path != stdinShown {
		addTexts(path, res)
	}
	return importResources(path, res, opts)
}

// addTexts adds the message tables of x.dll.mui files in folders named by language. Files
// that cannot be read are not those asked for.
func addTexts(path string, res wevt.Resources) {
	base := filepath.Base(path) + ".mui"
	found, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*", "*.mui"))
	for _, mui := range found {
		if !strings.EqualFold(filepath.Base(mui), base) {
			continue
		}
		data, err := os.ReadFile(mui)
		if err != nil {
			continue
		}
		texts, err := wevt.ReadPE(bytes.NewReader(data))
		if err != nil && !errors.Is(err, wevt.ErrNoResource) {
			continue
		}
		for l, table := range texts.Messages {
			if res.Messages[l] == nil {
				res.Messages[l] = table
			}
		}
	}
}

// lostInResource is the comment of an imported manifest.
const lostInResource = `
     The binary form keeps neither symbols nor the tids of templates: those here
     are made up, and stay the same. It keeps neither the types and settings of
     channels nor whether an outType was written.`

// importResources decodes resources.
func importResources(path string, res wevt.Resources, opts importOptions) (*imported, error) {
	m, faults, err := wevt.Decode(path, res, wevt.Options{Lenient: opts.lenient, NameOf: opts.nameOf})
	if err != nil {
		if !opts.lenient {
			err = fmt.Errorf("%w; --lenient keeps the readable part", err)
		}
		return nil, err
	}
	out := &imported{manifest: m, comment: "Imported from " + sourceName(path) + "." + lostInResource}
	for _, f := range faults {
		out.faults = append(out.faults, f.Error())
	}
	for _, p := range m.Providers {
		p.ResourceFile, p.MessageFile = filepath.Base(path), filepath.Base(path)
		if p.Name == wevt.UnknownName(p.GUID) {
			out.comment += "\n     Its form has no name for provider " + p.GUID.String() + ", which is called by\n     its GUID."
			out.notes = append(out.notes, fmt.Sprintf("%s: provider %s has no name in this form, and is called by its GUID; --name gives it one", path, p.GUID))
		}
	}
	if len(res.Messages) == 0 {
		out.comment += "\n     There was no message table: all texts are missing."
	}
	return out, nil
}
