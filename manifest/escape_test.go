package manifest

import (
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
)

// Lenient mode reads texts of dumps that are not escaped; strict mode refuses them.
func TestUnescapedDump(t *testing.T) {
	const text = `<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">
 <instrumentation xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events">
  <events>
   <provider name="Shop" guid="{d5b2e7d4-b6ec-50ae-7cde-af89427ad21f}" resourceFileName="Shop" messageFileName="Shop" symbol="Shop" source="Xml" >
    <maps>
     <valueMap name="State">
      <map value="0x0" message="$(string.map_StateNo "oven" mode)"/>
      <map value="0x1" message="$(string.map_State<Oven> & co)"/>
     </valueMap>
    </maps>
    <events>
     <event value="1" symbol="Baked" version="0" template="BakedArgs"/>
    </events>
    <templates>
     <template tid="BakedArgs">
      <data name="State" inType="win:UInt32" map="State"/>
     </template>
    </templates>
   </provider>
  </events>
 </instrumentation>
 <localization>
  <resources culture="en-US">
   <stringTable>
    <string id="map_StateNo "oven" mode" value="No "oven" mode,
in two lines"/>
    <string id="map_State<Oven> & co" value="a < b &amp; c"/>
   </stringTable>
  </resources>
 </localization>
</instrumentationManifest>
`
	m := testio.Parse(t, Parse, "dump.xml", text, Options{Lenient: true})
	entries := m.Providers[0].Maps[0].Entries
	if got := entries[0].Message + "|" + entries[1].Message; got != "No \"oven\" mode,\nin two lines|a < b & c" && got != "No \"oven\" mode, in two lines|a < b & c" {
		t.Errorf("%q", got)
	}
	if _, _, err := Parse("dump.xml", []byte(text), Options{}); err == nil || !strings.Contains(err.Error(), "not well-formed") {
		t.Errorf("strict: %v", err)
	}
}
