package events_test

import (
	"fmt"
	"testing"

	"example.com/shop/events"
	"github.com/etwgen/etwgen/runtime/etw"
)

// record makes a message as of a transport: the payload of an event with its header.
func record(t *testing.T, e etw.Event) *etw.Record {
	t.Helper()
	payload, err := e.AppendPayload(nil, etw.Ptr64)
	if err != nil {
		t.Fatal(err)
	}
	k := e.EventDesc().Key()
	return &etw.Record{Provider: k.Provider, ID: k.ID, Version: k.Version, PointerSize: etw.Ptr64, Payload: payload}
}

func TestOrders(t *testing.T) {
	lines, err := events.MakeOrderPlacedV1Lines(etw.Ptr64,
		events.OrderPlacedV1Line{Article: etw.MakeUTF16("tea"), Quantity: 2},
		events.OrderPlacedV1Line{Article: etw.MakeUTF16("milk"), Quantity: 1})
	if err != nil {
		t.Fatal(err)
	}
	old := &events.OrderPlaced{OrderID: 1, Customer: etw.MakeUTF16("Ada"), Payment: events.PaymentCard}
	current := &events.OrderPlacedV1{OrderID: 2, Customer: etw.MakeUTF16("Grace"), Payment: events.PaymentInvoice, LineCount: 2, Lines: lines}

	var got []string
	var mux etw.Mux
	etw.Handle(&mux, func(_ *etw.Record, e *events.AnyOrderPlaced) error {
		got = append(got, fmt.Sprintf("%d %v %v %d", e.OrderID, e.Customer, e.Payment, e.Lines.Len()))
		return nil
	})
	for _, e := range []etw.Event{old, current} {
		if err := mux.Dispatch(record(t, e)); err != nil {
			t.Fatal(err)
		}
	}
	if want := "[1 Ada Card 0 2 Grace Invoice 2]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := current.String(), "OrderPlaced_V1 OrderID=2 Customer=Grace Payment=Invoice LineCount=2 Lines=[{Article=tea Quantity=2} {Article=milk Quantity=1}]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
