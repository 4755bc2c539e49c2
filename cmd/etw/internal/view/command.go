package view

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/desk"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
)

// NewView returns the command that shows traces in a browser.
//
// root makes the command whose questions the page asks, and run runs a command line.
func NewView(root func() *cobra.Command, run desk.Runner) *cobra.Command {
	var stay bool
	var symbols frames.SymbolFiles
	var idle time.Duration
	cmd := &cobra.Command{
		Use:   "view [flags] FILE...",
		Short: "Explore traces in the browser",
		Long: `View serves a page about the traces, for the browser on this machine, until it is
interrupted or nobody asked for the time of --idle. It prints the address, and opens it.

The page has the answers of the commands: findings, lanes of events over time,
methods, call tree, callers and flame graph, requests, collections, exceptions, locks and
all else, and events. A window of time that is dragged holds for all of it. Everything
that defines a view is in its address, and the page says which etw command gives the same.

Of a live process (-p PID) the page shows the events as they come, until it is closed or --duration
is over.

Only this machine can reach it, and only who knows the address: it has a secret. Nothing is
asked of the network but symbols and sources, of the servers that --symbol-path or
ETW_SYMBOL_PATH names, and nothing but the traces and symbols is read. For a trace on another
machine, ssh -L PORT:127.0.0.1:PORT leads there, with --port PORT.`,
		Example: `  etw view --no-open --idle 1s gc.nettrace
  etw view --no-open --idle 1s before.nettrace after.nettrace`,
		Args:              cli.Args(1, -1),
		ValidArgsFunction: pick.CompleteTraces,
	}
	port := 0
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if idle < 0 {
			return cli.Usagef("--idle: %v is not a time such as 30m", idle)
		}
		if port < 0 || port > 1<<16-1 {
			return cli.Usagef("--port %d: ports are numbers up to %d", port, 1<<16-1)
		}
		s, err := newServer(root(), run, args)
		if err != nil {
			return err
		}
		if s.symbols, err = symbols.Chosen(cmd); err != nil {
			return err
		}
		debug.SetGCPercent(garbage) // findings in the traces stay for as long as the page
		s.growing, _ = cmd.Context().Value(cli.GrowingKey{}).(cli.Growing)
		if err := s.opens(cmd); err != nil {
			return err
		}
		list, err := listen(port)
		if err != nil {
			return err
		}
		return s.serve(cmd, list, idle, !stay)
	}
	f := cmd.Flags()
	f.BoolVar(&stay, "no-open", false, "print the address, and open no browser")
	f.DurationVar(&idle, "idle", 12*time.Hour, "end once nobody asked for this `TIME`; 0 is never")
	symbols.Flag(cmd)
	f.IntVar(&port, "port", 0, "listen at this `PORT`; without it, at one that is free")
	cli.Completions(cmd, map[string]cobra.CompletionFunc{"idle": cobra.NoFileCompletions, "port": cobra.NoFileCompletions})
	return cmd
}

// garbage is how much of the memory may be garbage, in percent of the rest: a server of a large
// trace takes half of it only.
const garbage = 50

// newServer returns a server of traces, all of which must be there.
func newServer(root *cobra.Command, run desk.Runner, paths []string) (*server, error) {
	s := &server{run: run, token: newToken(), questions: questionsOf(root), turn: make(chan struct{}, 1), passes: make(chan struct{}, 1), leaps: make(chan struct{}, 1), asked: make(chan struct{}, 1), kept: cli.Shelf{MostBytes: mostKept}}
	for name, q := range map[string]*question{exporting: &s.exporting, comparing: &s.comparing} {
		cmd, _, err := root.Find([]string{name})
		if err != nil {
			return nil, err
		}
		*q = questionOf(cmd)
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", path, errors.Unwrap(err))
		case info.IsDir():
			return nil, fmt.Errorf("%s: is a folder", path)
		case !info.Mode().IsRegular():
			return nil, fmt.Errorf("%s: is no file", path)
		}
		full, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		s.files = append(s.files, file{full, filepath.Base(path), info.Size()})
	}
	return s, nil
}

// opens looks at each trace as info does, so that the command names files that cannot be
// read, in place of a page.
func (s *server) opens(cmd *cobra.Command) error {
	for _, f := range s.files {
		var stdout, stderr bytes.Buffer
		s.run(cmd.Context(), []string{"info", "--format=json", "--", f.path}, bytes.NewReader(nil), &stdout, &stderr)
		var doc struct{ Rows []json.RawMessage }
		if json.Unmarshal(stdout.Bytes(), &doc) != nil || len(doc.Rows) == 0 {
			cmd.ErrOrStderr().Write(stderr.Bytes())
			return cli.ErrReported
		}
	}
	return cmd.Context().Err()
}

// serve answers until the command is interrupted, or nobody asked for a time.
func (s *server) serve(cmd *cobra.Command, list []net.Listener, idle time.Duration, open bool) error {
	s.hosts = hostsOf(list)
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	web := &http.Server{
		Handler: s, BaseContext: func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
		DisableGeneralOptionsHandler: true, // which asks for no token
	}
	ended := make(chan error, len(list))
	for _, l := range list {
		go func() { ended <- web.Serve(l) }()
	}
	address := "http://" + s.hosts[0] + "/" + s.token + "/"
	fmt.Fprintln(cmd.OutOrStdout(), address)
	if open {
		openBrowser(ctx, address)
	}
	err := s.wait(ctx, ended, idle)
	cancel()
	web.Close()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// listen listens at a port of this machine that others do not reach, by the newer protocol
// as well if the machine has it and the port is free there.
func listen(port int) ([]net.Listener, error) {
	first, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, err
	}
	list := []net.Listener{first}
	if second, err := net.Listen("tcp6", fmt.Sprintf("[::1]:%d", first.Addr().(*net.TCPAddr).Port)); err == nil {
		list = append(list, second)
	}
	return list, nil
}

// hostsOf returns the names under which servers are asked, that of the first before all others.
func hostsOf(list []net.Listener) []string {
	var hosts []string
	for _, l := range list {
		at := l.Addr().(*net.TCPAddr)
		hosts = append(hosts, at.String(), fmt.Sprintf("localhost:%d", at.Port))
	}
	return hosts
}

// wait returns when it is over: nil if it is to end. Time counts while nothing is answered.
func (s *server) wait(ctx context.Context, ended <-chan error, idle time.Duration) error {
	var over <-chan time.Time
	timer := time.NewTimer(idle)
	defer timer.Stop()
	if idle > 0 {
		over = timer.C
	}
	for {
		select {
		case <-s.asked:
			timer.Reset(idle)
		case <-over:
			if s.busy.Load() == 0 {
				return nil
			}
			timer.Reset(idle)
		case <-ctx.Done():
			return nil
		case err := <-ended:
			return err
		}
	}
}
