package show

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/trace"
)

// WritePage writes to a file, all of it or none, or to the standard output. The traces
// that it is made of are not overwritten.
func WritePage(cmd *cobra.Command, path string, inputs []string, write func(w io.Writer) error) error {
	if path == "" || path == "-" {
		w := bufio.NewWriter(cmd.OutOrStdout())
		return cmp.Or(write(w), w.Flush())
	}
	info, err := os.Stat(path)
	if err == nil && slices.ContainsFunc(inputs, func(in string) bool { return isFile(info, in) }) {
		return cli.Usagef("--output %s: that is the trace itself", path)
	}
	if err == nil && !info.Mode().IsRegular() { // a device, or a pipe
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return cmp.Or(write(f), f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, err)
	}
	defer os.Remove(f.Name())
	if err := cmp.Or(write(f), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Written returns the outcome of a page written of traces: whoever reads it may have had
// enough, and losses are trouble.
func Written(cmd *cobra.Command, t *trace.Trace, err, trouble error) error {
	if cli.IsBrokenPipe(err) {
		err = nil
	}
	if ReportLosses(cmd, t) {
		trouble = cmp.Or(trouble, cli.ErrReported)
	}
	return cmp.Or(err, trouble)
}

// isFile reports whether a path leads to a file.
func isFile(file os.FileInfo, path string) bool {
	info, err := os.Stat(path)
	return err == nil && os.SameFile(file, info)
}

// Lost is how many events a recording lost. The runtime of .NET does not count those of
// threads that ended before it wrote: of its files it is the least.
func Lost(f *trace.File) string {
	n := f.Stats().Lost
	text := strconv.FormatInt(n, 10)
	if n > 0 && strings.HasPrefix(f.Format(), "net") {
		return "at least " + text
	}
	return text
}

// ReportLosses reports the events that sessions could not record, or had not written to the file when
// it was copied, and reports whether there were any. It says, too, which came once of several files.
func ReportLosses(cmd *cobra.Command, t *trace.Trace) bool {
	lossy := false
	for _, f := range t.Files() {
		n := f.Stats()
		var what []string
		if n.Lost > 0 {
			what = append(what, Lost(f)+" events")
		}
		if n.LostBuffers > 0 {
			what = append(what, fmt.Sprintf("%d buffers of events", n.LostBuffers))
		}
		if len(what) > 0 {
			lossy = true
			cli.Report(cmd, fmt.Errorf("%s: %s were lost while it was recorded", f.Name(), strings.Join(what, " and ")))
		}
		if f.Unstopped() {
			lossy = true
			cli.Report(cmd, fmt.Errorf("%s: the session was not stopped: the end may be missing", f.Name()))
		}
	}
	for _, text := range Copies(t) {
		cli.Report(cmd, errors.New(text))
	}
	return lossy
}

// Copies says that events are in several files, if there were any.
func Copies(t *trace.Trace) []string {
	n := t.Copies()
	if n == 0 {
		return nil
	}
	return []string{Count(n, "event", "events") + " of recordings of one process at the same time: those in several files count once"}
}
