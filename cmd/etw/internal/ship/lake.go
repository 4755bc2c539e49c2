package ship

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/export/parquet"
)

const lakeLong = `Lake keeps a lake that etw export has written. It is a folder of Parquet files, of which
those count that its manifests list; docs/lake.md has more. Etw-lake, a program beside
this one, merges the files of many recordings, and copies lakes into buckets.

  check   hold the files against what the manifests list: the exit code is 1 if one is
          missing or not as it was written. Files of which no manifest speaks do no harm
  clean   remove these, and leftovers of killed exports, once they are --age old
  view    print SQL for DuckDB: a view of each type of events and each table, which reads
          the files that manifests list, and nothing else`

// A lakeCommand holds the flags of the command.
type lakeCommand struct {
	age  time.Duration
	root string
}

// NewLake returns the command that keeps lakes.
func NewLake() *cobra.Command {
	l := new(lakeCommand)
	cmd := &cobra.Command{
		Use:   "lake [flags] check|clean|view FOLDER",
		Short: "Check and clean a lake of Parquet files, and print views of it",
		Long:  lakeLong,
		Example: `  etw export -o lake gc.nettrace alloc.nettrace && etw lake check lake
  etw lake clean --age 48h lake
  etw lake view lake > lake.sql`,
		Args: cli.Args(2, 2),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return []string{"check", "clean", "view"}, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(cmd *cobra.Command, args []string) error { return l.run(cmd, args[0], args[1]) },
	}
	f := cmd.Flags()
	f.DurationVar(&l.age, "age", 24*time.Hour, "clean: leave younger files, since they may be of an export under way: an `AGE` such as\n90m, longer than any export takes")
	f.StringVar(&l.root, "at", "", "view: the `PLACE` where DuckDB is to find the lake, if it is not FOLDER")
	cli.Completions(cmd, map[string]cobra.CompletionFunc{"age": cobra.NoFileCompletions, "at": cobra.NoFileCompletions})
	return cmd
}

func (l *lakeCommand) run(cmd *cobra.Command, what, dir string) error {
	does := map[string]func(*cobra.Command, *parquet.Lake) error{"check": l.check, "clean": l.clean, "view": l.view}
	names := []string{"check", "clean", "view"}
	do := does[what]
	if do == nil {
		return cli.Usagef("etw lake %s: there are %s%s", what, strings.Join(names, ", "), cli.DidYouMean(what, names))
	}
	for flag, of := range map[string]string{"age": "clean", "at": "view"} {
		if cmd.Flags().Changed(flag) && what != of {
			return cli.Usagef("--%s does nothing with %s: it is for %s", flag, what, of)
		}
	}
	if l.age < 0 {
		return cli.Usagef("--age %v: it is a time that has gone by", l.age)
	}
	lake, err := parquet.OpenLake(dir)
	if err != nil {
		return err
	}
	trouble := do(cmd, lake)
	for path, err := range lake.Damaged {
		cli.Report(cmd, fmt.Errorf("%s: the manifest is damaged, and its recordings are not there: %w", path, err))
		trouble = cli.ErrReported
	}
	return trouble
}

// check prints the contents, and their faults.
func (l *lakeCommand) check(cmd *cobra.Command, lake *parquet.Lake) error {
	r, err := lake.Check()
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s, %s, %s, %s\n", show.Count(r.Recordings, "recording", "recordings"), show.Count(r.Files, "file", "files"),
		show.Count(int(r.Rows), "row", "rows"), show.Size(float64(r.Bytes)))
	if n := len(r.Orphans) + len(r.Unfinished) + len(lake.Replaced); n > 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "nobody sees %s of which no manifest speaks, %s, leftovers of %s and %s: etw lake clean removes old ones\n",
			show.Count(len(r.Orphans), "file", "files"), show.Size(float64(r.OrphanBytes)),
			show.Count(len(r.Unfinished), "export", "exports"), show.Count(len(lake.Replaced), "manifest of an earlier export", "manifests of earlier exports"))
	}
	for _, m := range r.Missing {
		cli.Report(cmd, fmt.Errorf("%s", m))
	}
	if len(r.Missing) > 0 {
		return cli.ErrReported
	}
	return nil
}

// clean prints the files that it removes.
func (l *lakeCommand) clean(cmd *cobra.Command, lake *parquet.Lake) error {
	removed, err := lake.Clean(l.age)
	for _, path := range removed {
		fmt.Fprintln(cmd.OutOrStdout(), cli.Clean(path))
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%d removed\n", len(removed))
	return err
}

func (l *lakeCommand) view(cmd *cobra.Command, lake *parquet.Lake) error {
	root := l.root
	if root == "" {
		abs, err := filepath.Abs(lake.Dir)
		if err != nil {
			return err
		}
		root = abs
	}
	return lake.View(cmd.OutOrStdout(), root)
}
