package wpp_test

import (
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/manifest/wpp"
	"github.com/etwgen/etwgen/runtime/etw"
)

func ExampleReadTMF() {
	const tmf = `5a5d7c52-0b39-4f0b-9d0b-8d1c2f3a4b5c Shop // SRC=Till.c MJ= MN=
#typev Till_c40 11 "%0 [%!FUNC!] sold %10!d! at 0x%11!04X!" //   LEVEL=TRACE_LEVEL_ERROR FLAGS=SALES FUNC=Sell
{
count, ItemLong -- 10
place, ItemShort -- 11
}`
	providers, err := wpp.ReadTMF(strings.NewReader(tmf))
	if err != nil {
		fmt.Println(err)
		return
	}
	decoder := etw.NewDecoder(providers...)
	message := &etw.Record{ // as a source delivers it
		Kind: etw.KindMessage, Provider: providers[0].Desc.GUID, ID: 11, PointerSize: etw.Ptr64,
		Payload: []byte{7, 0, 0, 0, 0xab, 0},
	}
	values, err := decoder.Decode(message)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(decoder.Event(message).Name, values)
	fmt.Printf("%s\n", wpp.AppendMessage(nil, values, message.PointerSize))
	// Output:
	// Till.c:40 Till.c:40 count=7 place=0xab
	// [Sell] sold 7 at 0x00AB
}
