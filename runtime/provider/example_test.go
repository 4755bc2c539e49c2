package provider_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/provider"
)

// A program writes to a session in the process, and a Mux handles its events.
func Example() {
	var events provider.Memory
	p := provider.New(clr.Provider.Desc, provider.To(provider.NewLocal(&events)))
	if err := p.Register(); err != nil {
		log.Fatal(err)
	}
	defer p.Close()

	ctx := provider.NewActivity(context.Background())
	if p.Enabled(etw.LevelInformational, uint64(clr.KeywordGC)) {
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

// A program writes its events to a file, on any system. The header needs no clock: it is
// that of the first event.
func ExampleNewLocal_file() {
	var file bytes.Buffer // or an os.File
	w, err := etl.NewWriter(&file, etl.Header{SessionName: "collections"})
	if err != nil {
		log.Fatal(err)
	}
	p := provider.New(clr.Provider.Desc, provider.To(provider.NewLocal(w)))
	if err := p.Register(); err != nil {
		log.Fatal(err)
	}
	if err := p.Write(context.Background(), &clr.GCStartV1{Count: 7, Depth: 2}); err != nil {
		log.Fatal(err)
	}
	if err := p.Close(); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	r, err := etl.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	var mux etw.Mux
	etw.Handle(&mux, func(_ *etw.Record, e *clr.AnyGCStart) error {
		fmt.Println(r.Header().SessionName, e.Count)
		return nil
	})
	if err := mux.Run(context.Background(), r); err != nil {
		log.Fatal(err)
	}
	// Output: collections 7
}
