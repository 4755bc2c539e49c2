package wevt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/manifest/wevt"
)

// TestWidths compiles parts longer than the numbers of a resource can say: 16 bits for the
// fields of a template, and for the characters of a name or a text.
func TestWidths(t *testing.T) {
	long := strings.Repeat("x", 65_536)
	for name, c := range map[string]struct {
		fields, user string
		refused      bool
	}{
		"fields":        {fields: strings.Repeat(`<data name="f" inType="win:UInt8"/>`, 65_536), refused: true},
		"name":          {fields: `<data name="` + long + `" inType="win:UInt8"/>`, refused: true},
		"text":          {user: `<E xmlns="u"><T>` + long + `</T></E>`, refused: true},
		"longest text":  {user: `<E xmlns="u"><T>` + long[1:] + `</T></E>`},
		"attribute":     {user: `<E xmlns="u"><T a="` + long + `"/></E>`, refused: true},
		"name of a tag": {user: `<E xmlns="u"><` + long + `/></E>`, refused: true},
	} {
		if c.user != "" {
			c.user = "<UserData>" + c.user + "</UserData>"
		}
		text := fmt.Sprintf(`<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"><instrumentation><events>
<provider name="P" guid="{2e5dba47-a3d2-4d16-8ee0-6671ffdcd7b5}" symbol="P" messageFileName="a" resourceFileName="a"><events><event value="1" template="T" symbol="E"/></events>
<templates><template tid="T">%s%s</template></templates></provider></events></instrumentation></instrumentationManifest>`, c.fields, c.user)
		m, _, err := manifest.Parse("widths.man", []byte(text), manifest.Options{Lenient: true})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err = wevt.Encode(m, wevt.EncodeOptions{}); (err != nil) != c.refused || err != nil && !strings.Contains(err.Error(), "a resource has room for 65535") {
			t.Errorf("%s: %.200v", name, err)
		}
	}
}
