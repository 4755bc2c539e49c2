package look

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A form with an attribute, an array, a field that is text among others, and inserts of no field.
const formed = `<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">
<instrumentation xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events"><events>
<provider name="Shop" guid="{11112222-3333-4444-5555-666677778888}" symbol="Shop"><templates><template tid="T">
<data name="Count" inType="win:UInt8"/><data name="Name" inType="win:UnicodeString"/><data name="Parts" inType="win:UInt16" count="Count"/>
<UserData><Asked xmlns="urn:shop" of="for &lt;%2&gt;"><Parts a="b">%3</Parts><Text>%1 of %2, %4 100% %0</Text><None/></Asked></UserData>
</template></templates><events><event value="1" template="T" symbol="Asked"/></events></provider></events></instrumentation></instrumentationManifest>`

// TestUserData: an event whose template has UserData is shown in that form, as Windows does.
func TestUserData(t *testing.T) {
	m := testio.Parse(t, manifest.Parse, "formed.man", formed, manifest.Options{})
	provider := m.Describe()[0]
	desc := provider.Events[0]
	if want := `<Asked xmlns="urn:shop" of="for &lt;%2&gt;"><Parts a="b">%3</Parts><Text>%1 of %2, %4 100% %0</Text><None></None></Asked>`; desc.UserData != want {
		t.Fatalf("%s, want %s", desc.UserData, want)
	}
	for payload, want := range map[string]string{
		"\x02a\x00<\x00\x00\x00\x07\x00\x08\x00": `<Asked xmlns="urn:shop" of="for &lt;a&lt;&gt;"><Parts a="b">7</Parts><Parts a="b">8</Parts><Text>2 of a&lt;, %4 100% %0</Text><None></None></Asked>`,
		"\x00\x00\x00":                           `<Asked xmlns="urn:shop" of="for &lt;&gt;"><Text>0 of , %4 100% %0</Text><None></None></Asked>`,
	} {
		rec := &etw.Record{Provider: provider.Desc.GUID, ID: 1, Payload: []byte(payload)}
		values, err := etw.NewDecoder(provider).Decode(rec)
		if err != nil {
			t.Fatal(err)
		}
		w := new(xmlWriter)
		shot := &pick.Shot{Record: rec, Event: &etw.EventInfo{}, Values: values}
		got := string(w.data(nil, shot, new(xmlPlan)))
		if got != "\t<UserData>\n\t\t"+want+"\n\t</UserData>\n" {
			t.Errorf("%s, want %s", got, want)
		}
		if err := xml.Unmarshal([]byte(got), new(struct{})); err != nil {
			t.Error(err)
		}
		w.only = []string{"Name"} // what is chosen by name is shown by name
		if got := string(w.data(nil, shot, new(xmlPlan))); !strings.HasPrefix(got, "\t<EventData>\n\t\t<Data Name=\"Name\">") || strings.Contains(got, "Parts") {
			t.Error(got)
		}
	}
}
