package wevt_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/manifest/wevt"
	"github.com/etwgen/etwgen/runtime/etw"
)

// sample is a manifest with everything that a resource has a place for.
const sample = `<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"
    xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events" xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <instrumentation><events>
    <provider name="Sample-Shop" guid="{6f0c3c6e-4f39-45a5-8c0e-2a51f1c6f6b1}" symbol="SAMPLE_SHOP"
        resourceFileName="shop.exe" messageFileName="shop.exe" message="$(string.shop)">
      <channels>
        <channel name="Sample-Shop/Admin" chid="A" type="Admin" enabled="true"/>
        <channel name="Sample-Shop/Debug" chid="D" type="Debug" message="$(string.debug)"/>
      </channels>
      <levels><level name="Chatty" value="17" message="$(string.chatty)"/></levels>
      <tasks>
        <task name="Sale" value="3" eventGUID="{c2b0ed0e-2a86-4c0a-9ab1-3ab5bd1f1a11}" message="$(string.sale)">
          <opcodes><opcode name="Pay" value="20" message="$(string.pay)"/></opcodes>
        </task>
        <task name="Return" value="4"/>
      </tasks>
      <opcodes><opcode name="Ask" value="30"/></opcodes>
      <keywords><keyword name="Money" mask="0x4" message="$(string.pay)"/><keyword name="Goods" mask="0x2"/></keywords>
      <maps>
        <valueMap name="Tender"><map value="0" message="$(string.cash)"/><map value="1" message="$(string.card)"/></valueMap>
        <bitMap name="Extras"><map value="0x1" message="$(string.gift)"/></bitMap>
      </maps>
      <templates>
        <template tid="Sold">
          <data name="Article" inType="win:UnicodeString"/>
          <data name="Tender" inType="win:UInt8" map="Tender"/>
          <data name="Extras" inType="win:UInt32" map="Extras"/>
          <data name="Code" inType="win:AnsiString" length="8"/>
          <data name="Count" inType="win:UInt16"/>
          <data name="Prices" inType="win:UInt32" count="Count"/>
          <data name="Fixed" inType="win:HexInt64" count="2"/>
          <struct name="Lines" count="Count">
            <data name="Size" inType="win:UInt8"/>
            <data name="Blob" inType="win:Binary" length="Size"/>
            <data name="Marks" inType="win:UInt16" count="Count"/>
          </struct>
        </template>
        <template tid="Asked">
          <data name="Where" inType="win:GUID"/>
          <data name="Size" inType="win:UInt32"/>
          <UserData><Asked xmlns="urn:shop" kind="of %2"><Where>%1</Where><Size>about %2 of %9</Size></Asked></UserData>
        </template>
        <template tid="Spare"><data name="When" inType="win:FILETIME"/></template>
      </templates>
      <events>
        <event value="1" symbol="SOLD" template="Sold" task="Sale" opcode="Pay" keywords="Money Goods" level="win:Warning" channel="A" message="$(string.sold)"/>
        <event value="1" version="1" symbol="SOLD_V1" template="Asked" task="Sale" opcode="win:Stop" level="Chatty" channel="D"/>
        <event value="2" symbol="ASKED" opcode="Ask" task="Return" keywords="Goods win:ResponseTime"/>
      </events>
    </provider>
  </events></instrumentation>
  <localization>
    <resources culture="en-US"><stringTable>
      <string id="shop" value="A shop"/><string id="debug" value="For developers"/><string id="chatty" value="Chatty"/>
      <string id="sale" value="Sale"/><string id="pay" value="Pay"/><string id="cash" value="cash"/><string id="card" value="card"/>
      <string id="gift" value="gift"/><string id="sold" value="Sold %1 for %6"/>
    </stringTable></resources>
    <resources culture="de-DE"><stringTable><string id="shop" value="Ein Laden"/><string id="gift" value="Geschenk 🎁"/></stringTable></resources>
  </localization>
</instrumentationManifest>`

// compiled returns the sample and its compiled form.
func compiled(tb testing.TB, version int) (*manifest.Manifest, wevt.Resources) {
	tb.Helper()
	m := testio.Parse(tb, manifest.Parse, "sample.man", sample, manifest.Options{})
	res, err := wevt.Encode(m, wevt.EncodeOptions{Version: version})
	if err != nil {
		tb.Fatal(err)
	}
	return m, res
}

func unnamed(etw.GUID) string { return "Unnamed" }

// checkDecoded decodes resources that may be damaged, and compiles the result.
func checkDecoded(t *testing.T, res wevt.Resources) {
	t.Helper()
	strict, faults, err := wevt.Decode("x", res, wevt.Options{NameOf: unnamed})
	if (strict == nil) != (err != nil) {
		t.Fatalf("manifest %v, faults %v, error %v", strict, faults, err)
	}
	m, faults, err := wevt.Decode("x", res, wevt.Options{Lenient: true, NameOf: unnamed})
	if err != nil {
		return
	}
	if strict == nil && len(faults) == 0 {
		t.Fatal("strict mode refuses what lenient mode finds no fault with")
	}
	m.AppendXML(nil, "")
	m.Describe()
	_, _ = wevt.Encode(m, wevt.EncodeOptions{})
}

// TestDamaged damages bytes of a resource, and cuts it.
func TestDamaged(t *testing.T) {
	_, res := compiled(t, 5)
	r := rand.New(rand.NewPCG(1, 2))
	for i := r.IntN(4); i < len(res.Templates); i += 1 + r.IntN(4) {
		b := bytes.Clone(res.Templates)
		b[i] = []byte{0, 0xff, b[i] ^ 1<<r.IntN(8)}[r.IntN(3)]
		checkDecoded(t, wevt.Resources{Templates: b, Messages: res.Messages})
		if i%5 == 0 {
			checkDecoded(t, wevt.Resources{Templates: res.Templates[:i], Messages: res.Messages})
		}
	}
	table := res.Messages[wevt.English]
	for i := range table {
		b := bytes.Clone(table)
		b[i] ^= 1 << r.IntN(8)
		checkDecoded(t, wevt.Resources{Templates: res.Templates, Messages: map[wevt.Language][]byte{wevt.English: b}})
	}
}

// TestDamagedLayout damages the type of a field: the fields before it are kept, and the rest
// is opaque.
func TestDamagedLayout(t *testing.T) {
	_, res := compiled(t, 5)
	at := bytes.Index(res.Templates, []byte{14, 15, 0, 0}) // the win:Binary in a struct
	if at < 0 || bytes.Contains(res.Templates[at+1:], []byte{14, 15, 0, 0}) {
		t.Fatal("the item is not found")
	}
	b := bytes.Clone(res.Templates)
	b[at] = 200
	res.Templates = b
	m, faults, err := wevt.Decode("x", res, wevt.Options{Lenient: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(faults) == 0 || !strings.Contains(faults.Error(), "unknown inType 200") {
		t.Errorf("faults %v", faults)
	}
	opaque := 0
	for _, tmpl := range m.Providers[0].Templates {
		if last := tmpl.Fields[len(tmpl.Fields)-1]; last.Type == manifest.Opaque {
			opaque++
		}
	}
	if opaque != 1 {
		t.Errorf("%d templates end in an opaque field, want 1", opaque)
	}
}

// TestOverlapping makes a resource of parts that lie within each other: it takes
// no more time than others.
func TestOverlapping(t *testing.T) {
	const n = 1 << 15
	b := []byte("CRIM")
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = append(b, 5, 0, 1, 0, 1, 0, 0, 0)
	b = append(b, make([]byte, 16)...)
	b = binary.LittleEndian.AppendUint32(b, 36)
	b = append(b, "WEVT"...)
	for _, v := range []uint32{0, 0xffffffff, 1, 6, 60} { // MAPS
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	b = append(b, "MAPS"...)
	b = binary.LittleEndian.AppendUint32(b, 12+4*n)
	b = binary.LittleEndian.AppendUint32(b, n)
	first := uint32(len(b) + 4*n)
	for i := range uint32(n) {
		b = binary.LittleEndian.AppendUint32(b, first+20*i)
	}
	for i := range uint32(n) { // each map reaches to the end
		b = append(b, "VMAP"...)
		for _, v := range []uint32{20 * (n - i), 0, 0, 2 * (n - i - 1)} {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
	}
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)))
	_, _, err := wevt.Decode("x", wevt.Resources{Templates: b}, wevt.Options{})
	if err == nil || !strings.Contains(err.(wevt.ErrorList)[len(err.(wevt.ErrorList))-1].Error(), "in common") {
		for _, e := range err.(wevt.ErrorList) {
			if strings.Contains(e.Msg, "in common") {
				return
			}
		}
		t.Errorf("no error says that parts overlap: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, version := range []int{3, 5} {
		_, res := compiled(f, version)
		f.Add(res.Templates, res.Messages[wevt.English])
	}
	f.Fuzz(func(t *testing.T, templates, messages []byte) {
		checkDecoded(t, wevt.Resources{Templates: templates, Messages: map[wevt.Language][]byte{wevt.English: messages}})
	})
}
