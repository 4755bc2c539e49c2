package prometheus_test

import (
	"context"
	"fmt"
	"os"

	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/export/prometheus"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// The last values of counters, for the textfile collector of the node exporter.
func ExampleWrite() {
	t, err := trace.Open("../../tests/recorded/answers/counters-10.nettrace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	var mux etw.Mux
	values := counters.New(&mux)
	if err := mux.Run(context.Background(), t); err != nil {
		fmt.Println(err)
	}
	if err := prometheus.Write(os.Stdout, values.Result(), prometheus.Options{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// # HELP etwgen_shop_delay Time to serve ms
	// # TYPE etwgen_shop_delay summary
	// etwgen_shop_delay{pid="26631",kind="bread",quantile="0.5"} 25
	// etwgen_shop_delay{pid="26631",kind="bread",quantile="0.95"} 47
	// etwgen_shop_delay{pid="26631",kind="bread",quantile="0.99"} 49
	// etwgen_shop_delay_count{pid="26631",kind="bread"} 323
	// etwgen_shop_delay_sum{pid="26631",kind="bread"} 7603
	// # HELP etwgen_shop_sold_total Pieces sold {pieces}
	// # TYPE etwgen_shop_sold_total counter
	// etwgen_shop_sold_total{pid="26631",kind="bread"} 162
	// etwgen_shop_sold_total{pid="26631",kind="cake"} 161
	// # HELP etwgen_shop_stock Stock pieces
	// # TYPE etwgen_shop_stock gauge
	// etwgen_shop_stock{pid="26631"} 102
}
