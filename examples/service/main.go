// Service writes events of its own manifest. On Windows they go to ETW, where sessions and
// the event log find them: the resource that describes them is part of the program, by the
// .syso files beside this one. Elsewhere the program prints the events that it would write.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/etwgen/etwgen/examples/service/events"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/provider"
)

//go:generate go run github.com/etwgen/etwgen/cmd/etwgen compile --syso amd64,arm64,386 events/service.man

func main() {
	p, err := register()
	if err != nil {
		fmt.Fprintln(os.Stderr, "service:", err)
		os.Exit(1)
	}
	defer p.Close()
	serve(p)
}

// serve serves orders, and writes of each that it starts and stops.
func serve(p *provider.Provider) {
	for number := range uint64(3) {
		ctx := provider.NewActivity(context.Background())
		_ = p.Write(ctx, &events.OrderStart{Number: number, Customer: etw.MakeUTF16("Miller")})
		_ = p.Write(ctx, &events.OrderStop{Number: number, Outcome: events.OutcomeDone})
	}
}

// register registers the provider with ETW, or with a session that prints.
func register() (*provider.Provider, error) {
	channel := provider.Channels(events.ChannelOperational)
	p := provider.New(events.Provider.Desc, channel)
	err := p.Register()
	if errors.Is(err, errors.ErrUnsupported) {
		p = provider.New(events.Provider.Desc, channel, provider.To(provider.NewLocal(printer{etw.NewDecoder(events.Provider)})))
		err = p.Register()
	}
	return p, err
}

// A printer prints the events of records.
type printer struct{ decoder *etw.Decoder }

func (p printer) Write(r *etw.Record) error {
	e, err := p.decoder.Decode(r)
	if err == nil {
		_, err = fmt.Println(e)
	}
	return err
}
