package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/export/otlp"
	"github.com/etwgen/etwgen/internal/profiling"
	"github.com/etwgen/etwgen/runtime/eventpipe/attach"
)

// sendFlags say where profiles go, and how often.
type sendFlags struct {
	url    string
	every  time.Duration
	all    bool
	budget float64
	spans  bool
	hz     int
}

func (s *sendFlags) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.url, "otlp", "", "send profiles, again and again, to the collector or Pyroscope at this `URL`")
	f.DurationVar(&s.every, "every", time.Minute, "with --otlp, send them each `TIME`")
	f.BoolVar(&s.all, "all", false, "with --otlp, of all .NET processes, also those that come")
	f.Float64Var(&s.budget, "budget", 5, "with --otlp, sampling may take this `PERCENT` of a processor; 0 is no limit")
	f.BoolVar(&s.spans, "spans", false, "with --otlp, link samples to spans; other tools' activities end by it")
	f.IntVar(&s.hz, "cpu-hz", 0, "with --otlp on Linux, sample processors, not threads, at this `RATE`, 19 to 97 a second")
	cli.Completions(cmd, map[string]cobra.CompletionFunc{"cpu-hz": cobra.NoFileCompletions, "otlp": cobra.NoFileCompletions, "every": cobra.NoFileCompletions, "budget": cobra.NoFileCompletions})
}

// sendTakes are the flags that go with --otlp.
var sendTakes = []string{"otlp", "every", "all", "budget", "spans", "cpu-hz", "attach", "name", "duration", "buffer-mb"}

// longestWindow is for how long threads are sampled in each interval.
const longestWindow = 5 * time.Second

// check reads the flags that need no process.
func (s *sendFlags) check(cmd *cobra.Command, c *collect, args []string) (client *otlp.Client, targets []attach.Target, err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(sendTakes, f.Name) && cmd.LocalFlags().Lookup(f.Name) != nil && err == nil {
			err = cli.Usagef("--%s is of recordings, and goes not with --otlp", f.Name)
		}
	})
	switch {
	case err != nil:
	case len(args) > 0:
		err = cli.Usagef("--otlp takes processes that run, by -p, --name or --all; it starts no command")
	case s.every < time.Second:
		err = cli.Usagef("--every %v: it is 1s at least", s.every)
	case !(s.budget >= 0 && s.budget <= 100):
		err = cli.Usagef("--budget %v: it is percent of a processor, 0 for no limit", s.budget)
	case cmd.Flags().Changed("cpu-hz") && s.spans:
		err = cli.Usagef("--spans is of samples of threads, and --cpu-hz takes others in their place")
	case cmd.Flags().Changed("cpu-hz") && profiling.CheckHz(s.hz) != nil:
		err = cli.Usagef("--cpu-hz: %w", profiling.CheckHz(s.hz))
	case c.duration < 0 || cmd.Flags().Changed("duration") && c.duration == 0:
		err = cli.Usagef("--duration %v: it must be longer than nothing", c.duration)
	case c.enabling.BufferMB <= 0:
		err = cli.Usagef("--buffer-mb: %d is not a size, from 1 on", c.enabling.BufferMB)
	}
	if err != nil {
		return nil, nil, err
	}
	if targets, err = s.targets(&c.target); err != nil {
		return nil, nil, err
	}
	if client, err = otlp.NewClient(s.url, nil, nil); err != nil {
		return nil, nil, cli.Usagef("--otlp: %w", err)
	}
	client.MaxElapsed = s.every
	return client, targets, nil
}

// targets returns the processes that are asked for, in one of the ways that there are; of none
// all are meant.
func (s *sendFlags) targets(of *target) (list []attach.Target, err error) {
	ways := min(len(of.pids), 1)
	if s.all {
		ways++
	}
	if of.name != "" {
		ways++
		list = append(list, attach.Target{Name: of.name})
	}
	if ways != 1 {
		return nil, cli.Usagef("which processes? Give one of -p PID, which is repeatable, --name NAME and --all")
	}
	for _, pid := range of.pids {
		if pid <= 0 {
			return nil, cli.Usagef("-p %d: no process has this number", pid)
		}
		list = append(list, attach.Target{PID: pid})
	}
	return list, nil
}

// A sending sends the profiles of processes.
type sending struct {
	cmd    *cobra.Command
	client *otlp.Client

	mu       sync.Mutex
	sent     int
	lost     int64
	trouble  error
	attached bool
}

// send takes profiles of processes and sends them, until an interrupt, or the duration is over.
func (c *collect) send(cmd *cobra.Command, args []string) error {
	client, targets, err := c.sending.check(cmd, c, args)
	if err != nil {
		return err
	}
	var kernel *profiling.Kernel
	if c.sending.hz != 0 {
		if kernel, err = profiling.NewKernel(c.sending.hz); err != nil {
			return err
		}
		defer kernel.Close()
	}
	ctx := cmd.Context()
	if c.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.duration)
		defer cancel()
	}
	s := &sending{cmd: cmd, client: client}
	var reached sync.WaitGroup
	defer reached.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reached.Go(func() { s.reach(ctx) })
	machine := profiling.New(profiling.Options{
		Kinds: profiling.Kinds(), Interval: c.sending.every, Window: min(longestWindow, c.sending.every/2), Budget: c.sending.budget, Idle: 2,
		Share: profiling.DefaultShare, MaxEvents: 2000, List: true, Spans: c.sending.spans, Kernel: kernel, BufferMB: c.enabling.BufferMB,
	})
	supervisor := &attach.Supervisor{Targets: targets, Status: s.status}
	err = supervisor.Run(ctx, func(ctx context.Context, p *attach.Process) error {
		p.Begun(ctx)
		s.mu.Lock()
		s.attached = true
		s.mu.Unlock()
		of, resource := profiling.Of(p), profiling.Resource(p)
		return machine.Run(ctx, of, func(x *profiling.Interval) { s.give(of, x, resource) })
	})
	fmt.Fprintln(cmd.OutOrStdout(), "sent "+show.Count(s.sent, "profile", "profiles"))
	switch {
	case err != nil:
		return err
	case s.lost > 0:
		return fmt.Errorf("%s lost", show.Count(int(s.lost), "event or sample was", "events and samples were"))
	case !s.attached:
		return cmp.Or(s.trouble, errors.New("there was no such process"))
	case s.trouble != nil:
		return cli.ErrReported
	}
	return nil
}

// reach says if nobody answers at the address, before there is something to send.
func (s *sending) reach(ctx context.Context) {
	if err := s.client.Reach(ctx, otlp.SignalProfiles); err != nil && ctx.Err() == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		cli.Report(s.cmd, fmt.Errorf("nobody answers yet; each profile is tried for %v: %w", s.client.MaxElapsed, err))
	}
}

// status tells of processes that cannot be attached to.
func (s *sending) status(err error) {
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		cli.Report(s.cmd, err)
		s.trouble = err
	}
}

// give sends the profiles of an interval, and prints a line of it.
func (s *sending) give(p *profiling.Process, x *profiling.Interval, resource []otlp.Attribute) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.cmd.Context()), s.client.MaxElapsed+10*time.Second)
	defer cancel()
	var err error
	samples := 0
	for i := range x.Profiles {
		samples += x.Profiles[i].Len()
	}
	if samples > 0 {
		err = s.client.Send(ctx, otlp.SignalProfiles, p.Request(x, resource).AppendProto(nil))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost += x.Lost + x.Dropped
	if err != nil {
		cli.Report(s.cmd, err)
		s.trouble = err
		s.lost += int64(samples)
	} else {
		s.sent += len(x.Profiles)
	}
	fmt.Fprintln(s.cmd.OutOrStdout(), describeInterval(p, x, samples))
}

// describeInterval sums an interval up in a line.
func describeInterval(p *profiling.Process, x *profiling.Interval, samples int) string {
	text := fmt.Sprintf("%s %s (%d): %s, %.1f %% of frames named, %s read", time.Now().UTC().Format("15:04:05"), cli.Clean(p.Name), p.PID,
		show.Count(samples, "sample", "samples"), x.Named, show.Size(float64(x.Bytes)))
	switch {
	case x.Sampled > 0:
		text += fmt.Sprintf("; processors were sampled %d times in it", x.Sampled)
	case x.Skipped != "":
		text += "; threads not sampled: " + x.Skipped
	case x.Window > 0:
		text += fmt.Sprintf("; threads sampled for %.1f s, %s, which took %.2f s of a processor", x.Window.Seconds(), show.Size(float64(x.WindowBytes)), x.Cost)
		if !x.Measured {
			text += " if it is as assumed"
		}
	}
	for _, part := range x.Partly {
		text += fmt.Sprintf("; %s followed for %.1f s", part.Kind, part.For.Seconds())
	}
	if x.Open > 0 {
		text += "; " + show.Count(int(x.Open), "wait", "waits") + " that went on left out"
	}
	if n := x.Lost + x.Dropped; n > 0 {
		text += fmt.Sprintf("; %d lost", n)
	}
	return text
}
