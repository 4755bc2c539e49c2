package flow

import (
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/etwgen/etwgen/export/otlp"
)

// ProfilesOf returns profiles in the collector's form. It reads the output of package otlp.
func ProfilesOf(p *otlp.Profiles) (pprofile.Profiles, error) {
	return (&pprofile.ProtoUnmarshaler{}).UnmarshalProfiles(p.AppendProto(nil))
}
