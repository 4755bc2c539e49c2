package perfdata_test

import (
	"fmt"
	"log"
	"os"

	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/perfdata"
)

// How long a program ran, by the samples of perf record.
func ExampleReader() {
	f, err := os.Open("perf.data")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		log.Fatal(err)
	}
	r, err := perfdata.NewReader(f, info.Size())
	if err != nil {
		log.Fatal(err)
	}
	var mux etw.Mux
	samples := cpu.NewLinux(&mux)
	samples.SetInterval(int64(r.Header().SamplingInterval))
	for rec, err := range r.Records() {
		if err == nil {
			err = mux.Dispatch(rec)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(samples.Result().Samples, "samples, ns:", samples.Result().Weight)
}
