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
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"

	"github.com/etwgen/etwgen/export/parquet"
)

const usage = `usage: etw-lake compact FOLDER [day|week|month]
       etw-lake push FOLDER s3://BUCKET[/PREFIX]
       etw-lake clickhouse FOLDER [COLLECTION [CLUSTER]]
       etw-lake figures FOLDER KEY=VALUE,...

  compact  merge the files of recordings: each day, week or month and type then has one, with
           the same rows, below the date of its first day
  push     copy the files that hold and are not there yet, and then the manifests. Nothing is
           removed: many machines can push to one place. AWS_ACCESS_KEY_ID,
           AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and AWS_REGION are as for other programs;
           AWS_ENDPOINT_URL names a store that is not that of AWS
  clickhouse
           print SQL for ClickHouse: a view of each type of events and each table, which reads
           the files that manifests list, and nothing else: those in FOLDER by file(), or those
           that push has copied to the url of a named COLLECTION by s3(), or on all servers
           of a CLUSTER by s3Cluster()
  figures  print the figures of recordings, for etw compare --figures: of those that are of
           all values, such as service=cart,version=1.4*. Keys are those of etw export
           --resource, and trace, trace_id and date
`

// errUsage says that the arguments are none of these.
var errUsage = errors.New("see the usage")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout)
	switch {
	case errors.Is(err, errUsage):
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "etw-lake:", err)
		os.Exit(1)
	}
}

// run obeys the arguments.
func run(ctx context.Context, args []string, env func(string) string, out io.Writer) error {
	switch {
	case (len(args) == 2 || len(args) == 3) && args[0] == "compact":
		by := parquet.Day
		if len(args) == 3 {
			by = parquet.Period(args[2])
		}
		if !slices.Contains(parquet.Periods, by) {
			return errUsage
		}
		return compact(ctx, args[1], by, out)
	case len(args) == 3 && args[0] == "push":
		b, err := newBucket(args[2], env)
		if err != nil {
			return err
		}
		return push(ctx, args[1], b, out)
	case len(args) >= 3 && args[0] == "figures":
		return figures(args[1], args[2:], out)
	case len(args) >= 2 && len(args) <= 4 && args[0] == "clickhouse":
		return clickhouse(args[1], args[2:], out)
	}
	return errUsage
}

// compact prints a line for each period that it merges.
func compact(ctx context.Context, dir string, by parquet.Period, out io.Writer) error {
	merged := 0
	err := parquet.Compact(ctx, dir, by, func(c parquet.Compacted) {
		merged++
		fmt.Fprintf(out, "%s: %d recordings: %d files, %d bytes, instead of %d files, %d bytes\n",
			c.Date, c.Recordings, c.FilesAfter, c.BytesAfter, c.FilesBefore, c.BytesBefore)
	})
	if merged == 0 && err == nil {
		fmt.Fprintln(out, "there is nothing to merge")
	}
	return err
}
