package pick

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/internal/blocks"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// Input holds the flags of all commands that read traces.
type Input struct {
	unpackLimit string
	Manifests   []string
	NoAttribute bool
	Quiet       bool           // another pass says what is wrong with the files
	HeadersOnly bool           // nobody asks what events are called, and whom they are about
	Profiles    bool           // those of other tools, which have no events, are welcome
	More        []trace.Option // besides those of flags

	Leapt bool // records were left out, and the losses are not those of the file

	// Foresight learns names from the pass over .etl files, also of those of files, unless
	// it is nil.
	Foresight func(*etw.Record)

	index *blocks.Index // of the only file, where records before from are not needed
	from  time.Duration
}

// Key has the flags that results depend on.
func (in *Input) Key() string { return fmt.Sprint(in.unpackLimit, in.Manifests, in.NoAttribute) }

// Flags adds the flags to a command.
func (in *Input) Flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&in.unpackLimit, "unpack-limit", "", "let a compressed file unpack to this `size`, such as 20G, instead of\n256 MiB and 250 times its own size")
}

// ManifestFlag adds the flag for manifests to a command.
func (in *Input) ManifestFlag(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&in.Manifests, "manifest", nil, "decode by the manifest in this `file`, too, by what a program or library has, or\nby formats of trace messages (.tmf, .pdb); in a folder by all of them, or by\n/sys/kernel/tracing/events of Linux; repeatable")
}

// KnownFlag defines the flag for commands that read no traces.
func KnownFlag(cmd *cobra.Command, paths *[]string) {
	cmd.Flags().StringArrayVar(paths, "manifest", nil, "know the providers of the manifest in this `file`, too; repeatable")
}

// AttributeFlag adds the flag that attributes events to a command.
func (in *Input) AttributeFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&in.NoAttribute, "no-attribute", false, "leave the processes and threads of kernel events as their headers have\nthem, and save a pass over .etl files")
}

// Options returns how to open traces.
func (in *Input) Options(cmd *cobra.Command) ([]trace.Option, error) {
	opts := append([]trace.Option{trace.WithContext(cmd.Context()), trace.WithStdin(stdinOf(cmd.Context(), cmd.InOrStdin())), withCode(cmd)}, in.More...)
	if !cli.IsServed(cmd) {
		opts = append(opts, trace.WithMapping())
	}
	if open, ok := cmd.Context().Value(cli.OpenerKey{}).(func(string) (*os.File, error)); ok {
		opts = append(opts, trace.WithOpen(open))
	}
	if in.NoAttribute {
		opts = append(opts, trace.WithoutAttribution())
	}
	if in.HeadersOnly {
		opts = append(opts, trace.WithoutAttribution(), trace.WithoutSchemas())
	}
	if in.Foresight != nil && !in.NoAttribute {
		opts = append(opts, trace.WithForesight(func(k etw.Key) bool { return tellsNames(k) || tellsFiles(k) }, in.Foresight))
	}
	if in.unpackLimit != "" {
		limit, err := ParseSize(in.unpackLimit)
		if err != nil {
			return opts, cli.Usagef("--unpack-limit: %w", err)
		}
		opts = append(opts, trace.WithUnpackLimit(limit))
	}
	return opts, nil
}

// Leap leaves out records before those that the header chooses by time, for a server that asks for
// that and keeps the index of the file. Losses are not those of the file then.
func (in *Input) Leap(cmd *cobra.Command, paths []string, h *filter.Header) (err error) {
	if cmd.Context().Value(cli.LeapKey{}) == nil || len(paths) != 1 || h.From == nil || h.From.Absolute {
		return nil
	}
	in.from = h.From.Elapsed
	in.index, err = cli.Kept(cmd, "index"+cli.Stamps(paths), func() (*blocks.Index, error) { return blocks.NewIndex(paths[0]) })
	return err
}

// later opens a file near the time that is asked for, or returns nil if there is no place.
func (in *Input) later(path string, opts []trace.Option) (*trace.Trace, error) {
	if in.index == nil {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	r, err := in.index.Later(f, info.Size(), in.from)
	if r == nil || err != nil {
		f.Close()
		return nil, err
	}
	in.Leapt = true
	return trace.Read(path, struct {
		io.Reader
		io.Closer
	}{r, f}, opts...)
}

// Open opens traces to be read as one. A file that cannot be opened is reported, and the
// rest is read: trouble says that there was such a file.
func (in *Input) Open(cmd *cobra.Command, paths []string, follow bool) (t *trace.Trace, trouble, err error) {
	opts, err := in.Options(cmd)
	if err != nil {
		return nil, nil, err
	}
	if follow {
		t, err = openGrowing(cmd, paths[0], opts)
		return t, nil, err
	}
	if t, err := in.later(paths[0], opts); t != nil || err != nil {
		return t, nil, err
	}
	t, err = unlessInterrupted(cmd.Context(), paths, func() (*trace.Trace, error) { return trace.OpenAll(paths, opts...) })
	if err == nil {
		if err := in.checkEvents(t); err != nil {
			t.Close()
			return nil, nil, err
		}
		in.warnApart(cmd, t)
		return t, nil, nil
	} else if errors.Is(err, trace.ErrTwice) {
		return nil, nil, cli.Usagef("%w", err)
	} else if len(paths) == 1 || errors.Is(err, cmd.Context().Err()) {
		return nil, nil, err
	}
	var files []*trace.File
	for _, path := range paths {
		more, err := openFiles(cmd.Context(), path, opts)
		if err != nil {
			if !in.Quiet {
				cli.Report(cmd, err)
			}
			trouble = cli.ErrReported
		}
		files = append(files, more...)
	}
	if len(files) == 0 {
		return nil, nil, cli.ErrReported
	}
	t = trace.Merge(files...)
	if err := in.checkEvents(t); err != nil {
		t.Close()
		return nil, nil, err
	}
	in.warnApart(cmd, t)
	return t, trouble, nil
}

// checkEvents reports profiles where events are needed.
func (in *Input) checkEvents(t *trace.Trace) error {
	for _, f := range t.Files() {
		if err := NeedsEvents(f); err != nil && !in.Profiles {
			return err
		}
	}
	return nil
}

// NeedsEvents returns an error if a file is a profile.
func NeedsEvents(f *trace.File) error {
	if f.Profile() == nil {
		return nil
	}
	return fmt.Errorf("%s: it is a profile (%s), which has no events; etw top, tree, flame, compare and export to profiles take it", f.Name(), f.Format())
}

// unlessInterrupted opens traces. A pipe that nobody writes to yet holds up whoever opens it:
// an interrupt is not to wait for that.
func unlessInterrupted[T any](ctx context.Context, paths []string, open func() (T, error)) (T, error) {
	if !slices.ContainsFunc(paths, isPipe) {
		return open()
	}
	type result struct {
		opened T
		err    error
	}
	done := make(chan result, 1)
	go func() {
		opened, err := open()
		done <- result{opened, err}
	}()
	select {
	case r := <-done:
		return r.opened, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

func openFiles(ctx context.Context, path string, opts []trace.Option) ([]*trace.File, error) {
	return unlessInterrupted(ctx, []string{path}, func() ([]*trace.File, error) { return trace.OpenFiles(path, opts...) })
}

func isPipe(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}

// farApart is how far apart sessions start that have nothing to do with each
// other.
const farApart = 30 * 24 * time.Hour

// warnApart warns of traces that are hardly of one recording, where they are read
// as one.
func (in *Input) warnApart(cmd *cobra.Command, t *trace.Trace) {
	if in.Quiet {
		return
	}
	start := func(f *trace.File) time.Time { return f.Clock().Start.Time() }
	files := order.Delete(slices.Clone(t.Files()), func(f *trace.File) bool { return f.Clock().Start == 0 })
	if len(files) == 0 {
		return
	}
	order.Stable(files, func(a, b *trace.File) int { return start(a).Compare(start(b)) })
	if first, last := files[0], files[len(files)-1]; start(last).Sub(start(first)) > farApart {
		cli.Report(cmd, fmt.Errorf("%s was recorded on %s and %s on %s: is it right to read them as one?",
			first.Name(), start(first).Format(time.DateOnly), last.Name(), start(last).Format(time.DateOnly)))
	}
}

// ParseSize reads a number of bytes with an optional K, M, G or T.
func ParseSize(text string) (int64, error) {
	digits, shift := strings.ToUpper(text), 0
	digits = strings.TrimSuffix(strings.TrimSuffix(digits, "B"), "I")
	if n := len(digits); n > 0 {
		if i := strings.IndexByte("KMGT", digits[n-1]); i >= 0 {
			digits, shift = digits[:n-1], 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64>>shift {
		return 0, fmt.Errorf("%q is not a size such as 500M or 20G", text)
	}
	return n << shift, nil
}

// fileOf returns the file that an error message has to begin with: none if it
// does already.
func fileOf(path string, err error) string {
	if strings.HasPrefix(err.Error(), path+":") || strings.HasPrefix(err.Error(), "<stdin>:") {
		return ""
	}
	return path
}

// OneSession returns an error if traces did not begin at one time: analyses count time from
// the begin.
func OneSession(t *trace.Trace) error {
	files := t.Files()
	for _, f := range files {
		if f.Clock().Start != files[0].Clock().Start {
			return fmt.Errorf("%s and %s did not begin at one time; a timeline is of one session", files[0].Name(), f.Name())
		}
	}
	return nil
}

// BaseName returns the last part of a path of either system, without .exe or .dll.
func BaseName(path string) string { return trimExtension(LastPart(path)) }
