package show

import (
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
)

// A pager is a program that shows text on the terminal page by page.
type pager struct {
	io.WriteCloser
	cmd *exec.Cmd
}

// startPager starts the pager that PAGER names, or else less if it is there. It
// returns nil where none is wanted or can be started.
func startPager(tty io.Writer, stderr io.Writer) io.WriteCloser {
	command, chosen := os.LookupEnv("PAGER")
	if !chosen {
		command = "less"
	}
	words := strings.Fields(command)
	if len(words) == 0 || words[0] == "cat" || cli.IsDumb() {
		return nil
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = tty, stderr
	cmd.Env = os.Environ()
	if os.Getenv("LESS") == "" {
		// End at once if it is one page, pass colours, cut long lines, and leave
		// the text on the screen.
		cmd.Env = append(cmd.Env, "LESS=FRSX")
	}
	w, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return nil
	}
	return &pager{w, cmd}
}

// Close waits until the user has seen enough.
func (p *pager) Close() error {
	err := p.WriteCloser.Close()
	_ = p.cmd.Wait() // how it ends is the user's choice
	return err
}
