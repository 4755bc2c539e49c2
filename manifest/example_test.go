package manifest_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

func ExampleParseFile() {
	m, warnings, err := manifest.ParseFile("testdata/orders.man", manifest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, w := range warnings {
		fmt.Println("warning:", w)
	}
	for _, p := range m.Providers {
		fmt.Println(p.Name, p.GUID)
		for _, e := range p.Events {
			least, fixed := e.Template.Size(8)
			fmt.Printf("  %d.%d %s, mask 0x%x, at least %d bytes, fixed: %v\n", e.ID, e.Version, e.Symbol, e.Mask(), least, fixed)
		}
	}
	// Output:
	// Contoso-Orders 7c1d5e0a-3b0f-4f5e-8a52-0d6c1e2f3a4b
	//   1.0 OrderStart, mask 0x1, at least 9 bytes, fixed: true
	//   1.1 OrderStart_V1, mask 0x3, at least 11 bytes, fixed: false
	//   2.0 OrderShip, mask 0x0, at least 10 bytes, fixed: false
	//   3.0 StockAudit, mask 0x0, at least 28 bytes, fixed: false
	//   4.0 OrderStop, mask 0x0, at least 0 bytes, fixed: true
}

// A decoder that knows the events of a manifest tells the fields of records by name,
// without generated code.
func ExampleManifest_Describe() {
	m, _, err := manifest.ParseFile("testdata/orders.man", manifest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	d := etw.NewDecoder(m.Describe()...)
	r := &etw.Record{
		Provider: m.Providers[0].GUID, ID: 1, PointerSize: etw.Ptr64,
		Payload: []byte{7, 0, 0, 0, 0, 0, 0, 0, 1}, // as a trace has it
	}
	e, err := d.Decode(r)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(e)
	// Output: OrderStart ID=0x7 Kind=Old
}

func ExampleParse_errors() {
	const src = `<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"
    xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events">
  <instrumentation><events>
    <provider name="Contoso-Orders" guid="{7c1d5e0a-3b0f-4f5e-8a52-0d6c1e2f3a4b}">
      <templates>
        <template tid="Order">
          <data name="ID" inType="win:Unicode"/>
          <data name="Hash" inType="win:Binary"/>
        </template>
      </templates>
      <events>
        <event value="1" symbol="Order" level="win:Always" template="Order"/>
      </events>
    </provider>
  </events></instrumentation>
</instrumentationManifest>`
	_, _, err := manifest.Parse("orders.man", []byte(src), manifest.Options{})
	if list, ok := errors.AsType[manifest.ErrorList](err); ok {
		for _, e := range list {
			fmt.Println(e)
		}
	}
	// Output:
	// orders.man:7:11: unknown inType "win:Unicode" of field "ID"; did you mean win:UnicodeString?
	// orders.man:8:11: field "Hash" has type win:Binary but no length; give the number of bytes, or the field that holds it
	// orders.man:12:9: event 1 has level "win:Always"; write win:LogAlways
}

// A count names a field in front of it, in the same struct or around it.
func ExampleSize() {
	m, _, err := manifest.ParseFile("testdata/orders.man", manifest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, tmpl := range m.Providers[0].Templates {
		if tmpl.ID != "Ship" {
			continue
		}
		items := tmpl.Fields[1]
		fmt.Println(items.Name, "are counted by", items.Count.Field.Name, items.Count.Field.Type)
		prices := items.Fields[3]
		fmt.Println(prices.Name, "are counted by", prices.Count.Field.Name, prices.Count.Field.Type)
	}
	// Output:
	// Items are counted by Count win:UInt16
	// Prices are counted by Count win:UInt8
}
