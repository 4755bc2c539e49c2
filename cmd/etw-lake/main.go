// Etw-lake merges the files of a lake that etw export has written, copies a lake into a bucket of an
// object store, and prints views of it for ClickHouse and the figures of recordings for etw compare.
//
//	etw-lake compact lake
//	etw-lake push lake s3://bucket/fleet
//	etw-lake clickhouse lake
//	etw-lake figures lake service=cart,version=1.4.0
//
// It is a program of its own, since etw would be larger by it. docs/lake.md is about lakes.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/export/parquet"
	"github.com/etwgen/etwgen/internal/command"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	root := newRoot(os.Getenv)
	cmd, err := command.Execute(ctx, root)
	switch {
	case err == nil:
	case command.Began(err):
		fmt.Fprintln(command.CleanWriter{W: os.Stderr}, "etw-lake:", err)
		os.Exit(1)
	default:
		fmt.Fprintf(command.CleanWriter{W: os.Stderr}, "%s: %v; see %[1]s --help\n", cmd.CommandPath(), err)
		os.Exit(2)
	}
}

// newRoot returns the command with all its subcommands. env has the variables of object stores.
func newRoot(env func(string) string) *cobra.Command {
	root := &cobra.Command{
		Use:   "etw-lake",
		Short: "Merge, copy and ask lakes of events",
		Long: `Etw-lake merges the files of a lake that etw export has written, copies a lake
into a bucket of an object store, and prints views of it for ClickHouse and the
figures of recordings for etw compare.

Exit codes: 0 if all is well, 1 if not, 2 for a command line that makes no sense.`,
		Annotations:   map[string]string{command.SectionKey: "8"}, // etw-lake(1) is the page of etw lake
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	command.SetVersion(root)
	command.ExplainFlags(root)
	add := func(use, short, long string, least, most int, do func(ctx context.Context, args []string, out io.Writer) error) {
		command.Add(root, &cobra.Command{Use: use, Short: short, Long: long, Args: command.Args(least, most), RunE: func(cmd *cobra.Command, args []string) error {
			return do(cmd.Context(), args, cmd.OutOrStdout())
		}})
	}
	add("compact FOLDER [day|week|month]", "Merge the files of recordings",
		`Merge the files of recordings: each day, week or month and type then has one,
with the same rows, below the date of its first day.`, 1, 2, compact)
	add("push FOLDER s3://BUCKET[/PREFIX]", "Copy a lake into a bucket",
		`Copy the files that hold and are not there yet, and then the manifests. Nothing
is removed: many machines can push to one place. AWS_ACCESS_KEY_ID,
AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and AWS_REGION are as for other
programs; AWS_ENDPOINT_URL names a store that is not that of AWS.`, 2, 2,
		func(ctx context.Context, args []string, out io.Writer) error {
			b, err := newBucket(args[1], env)
			if err != nil {
				return err
			}
			return push(ctx, args[0], b, out)
		})
	add("clickhouse FOLDER [COLLECTION [CLUSTER]]", "Print views for ClickHouse",
		`Print SQL for ClickHouse: a view of each type of events and each table, which
reads the files that manifests list, and nothing else: those in FOLDER by file(),
or those that push has copied to the url of a named COLLECTION by s3(), or on all
servers of a CLUSTER by s3Cluster().`, 1, 3,
		func(_ context.Context, args []string, out io.Writer) error { return clickhouse(args[0], args[1:], out) })
	add("figures FOLDER KEY=VALUE...", "Print the figures of recordings, for etw compare --figures",
		`Print the figures of recordings, for etw compare --figures: of those that are of
all values, such as service=cart,version=1.4*. Keys are those of etw export
--resource, and trace, trace_id and date.`, 2, -1,
		func(_ context.Context, args []string, out io.Writer) error { return figures(args[0], args[1:], out) })
	command.Add(root, command.NewMan(fmt.Errorf, func(string, []string) string { return "" }))
	return root
}

// compact prints a line for each period that it merges.
func compact(ctx context.Context, args []string, out io.Writer) error {
	by, merged := parquet.Day, 0
	if len(args) == 2 {
		by = parquet.Period(args[1])
	}
	if !slices.Contains(parquet.Periods, by) {
		return fmt.Errorf("%q is none of %q", by, parquet.Periods)
	}
	err := parquet.Compact(ctx, args[0], by, func(c parquet.Compacted) {
		merged++
		fmt.Fprintf(out, "%s: %d recordings: %d files, %d bytes, instead of %d files, %d bytes\n",
			c.Date, c.Recordings, c.FilesAfter, c.BytesAfter, c.FilesBefore, c.BytesBefore)
	})
	if merged == 0 && err == nil {
		fmt.Fprintln(out, "there is nothing to merge")
	}
	return err
}
