package provider_test

import (
	"context"
	"fmt"
	"log"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/provider"
)

// A program writes to a session in the process, and a Mux handles what it wrote.
func Example() {
	var events provider.Memory
	p := provider.New(clr.Provider.Desc, provider.To(provider.NewLocal(&events)))
	if err := p.Register(); err != nil {
		log.Fatal(err)
	}
	defer p.Close()

	ctx := provider.NewActivity(context.Background())
	if p.Enabled(etw.LevelInformational, clr.KeywordGC) {
		if err := p.Write(ctx, &clr.GCStartV1{Count: 7, Depth: 2}); err != nil {
			log.Fatal(err)
		}
	}

	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *clr.AnyGCStart) error {
		fmt.Println(r.ProviderName, e.Count, r.ActivityID == provider.ActivityOf(ctx).ID)
		return nil
	})
	if err := mux.Run(ctx, events.Source()); err != nil {
		log.Fatal(err)
	}
	// Output: Microsoft-Windows-DotNETRuntime 7 true
}
