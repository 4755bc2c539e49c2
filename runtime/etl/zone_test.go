package etl

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// zoneBytes returns the zone of a header, with the days on which its halves begin.
func zoneBytes(standard, daylight [8]uint16) []byte {
	half := func(name string, date [8]uint16, bias int32) []byte {
		b := append(etw.AppendUTF16(nil, name), make([]byte, zoneNameSize-2*len(name))...)
		for _, n := range date {
			b = binary.LittleEndian.AppendUint16(b, n)
		}
		return binary.LittleEndian.AppendUint32(b, uint32(bias))
	}
	return append(half("standard", standard, 0), half("summer", daylight, -60)...)
}

// Daylight saving time begins and ends at some hour of a day of the week in a month, of
// local time.
func TestZoneAt(t *testing.T) {
	march, november := [8]uint16{0, 3, 0, 2, 2}, [8]uint16{0, 11, 0, 1, 2}
	pacific := zoneBytes(november, march)
	lastSunday := zoneBytes([8]uint16{0, 10, 0, 5, 3}, [8]uint16{0, 3, 0, 5, 2})
	south := zoneBytes([8]uint16{0, 4, 0, 1, 3}, [8]uint16{0, 10, 0, 1, 2})
	never := zoneBytes([8]uint16{}, [8]uint16{})
	for _, c := range []struct {
		zone       []byte
		offset     int // hours
		at, want   string
		wantOffset int
	}{
		{pacific, -8, "2020-07-29T00:07:00Z", "summer", -7},
		{pacific, -8, "2026-01-15T12:00:00Z", "standard", -8},
		{pacific, -8, "2026-03-08T09:59:59Z", "standard", -8},
		{pacific, -8, "2026-03-08T10:00:00Z", "summer", -7},
		{pacific, -8, "2026-11-01T08:59:59Z", "summer", -7},
		{pacific, -8, "2026-11-01T09:00:00Z", "standard", -8},
		{lastSunday, 1, "2026-03-29T00:59:59Z", "standard", 1},
		{lastSunday, 1, "2026-03-29T01:00:00Z", "summer", 2},
		{lastSunday, 1, "2026-10-25T01:00:00Z", "standard", 1},
		{south, 10, "2026-01-15T00:00:00Z", "summer", 11},
		{south, 10, "2026-07-15T00:00:00Z", "standard", 10},
		{never, 5, "2026-07-15T00:00:00Z", "standard", 5},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		zone := zoneAt(c.zone, etw.FileTimeOf(at), time.Duration(c.offset)*time.Hour)
		name, offset := at.In(zone).Zone()
		if name != c.want || offset != c.wantOffset*3600 {
			t.Errorf("%s at %d: %s %d, want %s %d", c.at, c.offset, name, offset, c.want, c.wantOffset*3600)
		}
	}
	if z := zoneAt(nil, 1, 0); z != nil {
		t.Errorf("a zone of nothing: %v", z)
	}
}

func TestZoneName(t *testing.T) {
	for _, c := range []struct {
		name string
		east time.Duration
		want string
	}{
		{"@tzres.dll,-211", -7 * time.Hour, "UTC-07:00"},
		{"@tzres.dll,-492", 5*time.Hour + 30*time.Minute, "UTC+05:30"},
		{"Pacific Daylight Time", -7 * time.Hour, "Pacific Daylight Time"},
	} {
		if got := zoneName(c.name, c.east); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
