package tracelogging_test

import (
	"context"
	"fmt"
	"log"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/provider"
	"github.com/etwgen/etwgen/runtime/provider/tracelogging"
)

func Example() {
	var events provider.Memory
	shop := provider.New(&etw.ProviderDesc{Name: "Contoso-Shop"}, provider.To(provider.NewLocal(&events)))
	if err := shop.Register(); err != nil {
		log.Fatal(err)
	}
	defer shop.Close()

	type Sold struct {
		Article string
		Price   float64
		Colors  []string `etw:"colors"`
		Status  uint32   `etw:",hresult"`
	}
	sold := tracelogging.MustDefine[Sold](shop, "Sold", tracelogging.Options{Level: etw.LevelInformational})
	if err := sold.Write(context.Background(), &Sold{Article: "chair", Price: 99.5, Colors: []string{"red"}}); err != nil {
		log.Fatal(err)
	}

	decoder := etw.NewDecoder()
	for _, r := range events.Records() {
		e, err := decoder.Decode(r)
		fmt.Println(e, err)
	}
	// Output: Sold Article=chair Price=99.5 colors=[red] Status=0x00000000 <nil>
}
