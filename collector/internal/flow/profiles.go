package flow

import (
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/etwgen/etwgen/export/otlp"
)

// ProfilesOf returns profiles in the collector's form. It reads what package otlp has written.
func ProfilesOf(p *otlp.Profiles) (pprofile.Profiles, error) {
	return (&pprofile.ProtoUnmarshaler{}).UnmarshalProfiles(p.AppendProto(nil))
}
