package ship

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/export/pcapng"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// pcapngForm exports network packets.
var pcapngForm = exportForm{
	name: "pcapng", suffixes: []string{".pcapng"},
	own:   order.Delete(slices.Clone(eventFlags), func(flag string) bool { return flag == "no-attribute" }),
	whole: func(o *exporting, cmd *cobra.Command, args []string) error { return o.writePackets(cmd, args) },
}

// writePackets writes the packets of traces to one file.
func (o *exporting) writePackets(cmd *cobra.Command, args []string) error {
	if o.path == "" {
		return cli.Usagef("--output says the file; - is the standard output")
	}
	sel, err := o.sel.Of(cmd, &o.in, args)
	if err != nil {
		return err
	}
	t, trouble, err := o.in.Open(cmd, args, false)
	if err != nil {
		return err
	}
	defer t.Close()
	sel.Resolve(t)
	err = show.WritePage(cmd, o.path, args, func(w io.Writer) error {
		out := pcapng.NewWriter(w)
		packets := pcapng.NewCapture(out.Packet, sel.Known...)
		read, err := o.take(cmd, t, sel, nil, func(rec *etw.Record, _ *pick.Shot) error { return packets.Record(rec) })
		packets.End()
		if err != nil {
			return err
		}
		trouble = cmp.Or(trouble, read)
		if err := packetsFound(cmd, t, packets.Stats()); err != nil {
			return err
		}
		return out.Flush()
	})
	return show.Written(cmd, t, err, trouble)
}

// packetsFound reports on the packets of a trace, and returns an error if there is none to
// write.
func packetsFound(cmd *cobra.Command, t *trace.Trace, n pcapng.Stats) error {
	var parts []string
	add := func(n int64, text string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, text))
		}
	}
	add(n.Cut, "of which only the begin was recorded")
	add(n.Dropped, "that Windows dropped")
	add(n.Headless, "parts without the begin of their packet, left out")
	add(n.Endless, "packets without their end, left out")
	add(n.Others, "packets of kinds that pcapng does not have, left out")
	add(n.Undescribed, "events of PktMon left out, whose layout neither the trace nor a --manifest says")
	add(n.Damaged, "damaged events, left out")
	if n.Packets == 0 {
		text := "there are no network packets in it: netsh trace start capture=yes and pktmon start --capture record them"
		if len(parts) > 0 {
			text = "there are no network packets to write: " + strings.Join(parts, ", ")
		}
		cli.Report(cmd, fmt.Errorf("%s: %s", t.Files()[0].Name(), text))
		return cli.ErrNone
	}
	text := "1 packet"
	if n.Packets != 1 {
		text = fmt.Sprintf("%d packets", n.Packets)
	}
	fmt.Fprintln(cmd.ErrOrStderr(), strings.Join(append([]string{text}, parts...), ", "))
	return nil
}
