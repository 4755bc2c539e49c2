package command

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// NewMan returns the command that makes manual pages of the program it is added to. usage
// makes an error of a fault in its command line; suggest adds to that which of some names
// was meant.
func NewMan(usage func(format string, args ...any) error, suggest func(wrong string, names []string) string) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "man [flags] [COMMAND]",
		Short: "Print manual pages",
		Args:  Args(0, 1),
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return Names(cmd.Root()), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if dir != "" {
				if len(args) > 0 {
					return usage("--dir writes all pages: name no command")
				}
				return writePages(dir, cmd.Root())
			}
			about := cmd.Root()
			if len(args) > 0 {
				found, _, err := cmd.Root().Find(args)
				if err != nil || found == cmd.Root() {
					return usage("there is no command %q%s", args[0], suggest(args[0], Names(cmd.Root())))
				}
				about = found
			}
			_, err := cmd.OutOrStdout().Write(manPage(about))
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "write all pages into this `FOLDER`")
	return cmd
}

// pages returns the commands that have a page.
func pages(root *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{root}
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" && c.Name() != "completion" {
			list = append(list, c)
		}
	}
	return list
}

// Names returns the names of the commands below root, but for those of cobra.
func Names(root *cobra.Command) []string {
	var names []string
	for _, c := range pages(root)[1:] {
		names = append(names, c.Name())
	}
	return names
}

// pageName returns the name of a page: etw, etw-dump.
func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// SectionKey is the annotation of a root command whose pages are not in section 1 of the manual.
const SectionKey = "section"

func section(c *cobra.Command) string { return cmp.Or(c.Root().Annotations[SectionKey], "1") }

// writePages writes all pages into a folder, each at once.
func writePages(dir string, root *cobra.Command) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, c := range pages(root) {
		if err := writeFile(filepath.Join(dir, pageName(c)+"."+section(c)), manPage(c)); err != nil {
			return err
		}
	}
	return nil
}

// writeFile writes a file such that at no time a part of it is there.
func writeFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".man-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Chmod(f.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// manPage returns the page of a command in the language of man.
func manPage(c *cobra.Command) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s %s\n.SH NAME\n%s \\- %s\n", roff(strings.ToUpper(pageName(c))), section(c), roff(pageName(c)), roff(c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n.SH DESCRIPTION\n", roff(c.UseLine()))
	for _, paragraph := range strings.Split(c.Long, "\n\n") {
		if strings.HasPrefix(paragraph, "  ") {
			fmt.Fprintf(&b, ".nf\n%s\n.fi\n", roff(paragraph))
			continue
		}
		fmt.Fprintf(&b, ".PP\n%s\n", roff(paragraph))
	}
	if list := pages(c); c.HasAvailableSubCommands() && len(list) > 1 {
		b.WriteString(".SH COMMANDS\n")
		for _, sub := range list[1:] {
			fmt.Fprintf(&b, ".TP\n.BR %s (%s)\n%s\n", roff(pageName(sub)), section(c), roff(sub.Short))
		}
	}
	manFlags(&b, c)
	if c.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(c.Example))
	}
	b.WriteString(".SH EXIT STATUS\n0 if all is well, 1 if a file is not, 2 for a command line that makes no sense.\n")
	return []byte(b.String())
}

// manFlags writes the flags of a command.
func manFlags(b *strings.Builder, c *cobra.Command) {
	heading := ".SH OPTIONS\n"
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		b.WriteString(heading)
		heading = ""
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		fmt.Fprintf(b, ".TP\n.B %s %s\n%s\n", roff(name), roff(value), roff(usage))
	})
}

// roff escapes text for man.
func roff(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, `\`, `\e`), "-", `\-`)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
