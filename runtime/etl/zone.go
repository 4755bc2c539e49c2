package etl

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// timeZoneSize is the size of the TIME_ZONE_INFORMATION in the header of a log file.
const timeZoneSize = 0xac

// The rest of a TIME_ZONE_INFORMATION, after its bias: of standard time and then of
// daylight saving time a name of 32 characters, when it begins, and its own bias.
const (
	zoneNameSize = 64
	zoneDateSize = 16
	zoneHalf     = zoneNameSize + zoneDateSize + 4
)

// zoneAt returns the local time at a moment, or nil if there is no zone.
func zoneAt(zone []byte, at etw.FileTime, offset time.Duration) *time.Location {
	if len(zone) < 2*zoneHalf || at <= 0 || zone[0]|zone[1] == 0 { // its name is empty
		return nil
	}
	standard, daylight := zone[:zoneHalf], zone[zoneHalf:2*zoneHalf]
	half := standard
	if from, ok := zoneChange(daylight, at, offset-zoneBias(standard)); ok {
		if to, ok := zoneChange(standard, at, offset-zoneBias(daylight)); ok {
			now := at.Time()
			summer := !now.Before(from) && now.Before(to)
			if to.Before(from) { // in the south
				summer = !now.Before(from) || now.Before(to)
			}
			if summer {
				half = daylight
			}
		}
	}
	name, _ := etw.CutUTF16(half[:zoneNameSize])
	east := offset - zoneBias(half)
	return time.FixedZone(zoneName(name.String(), east), int(east/time.Second))
}

// zoneName returns the name of a zone. Windows often has the number of a text in a DLL in its
// place, which tells nobody anything elsewhere.
func zoneName(name string, east time.Duration) string {
	if !strings.HasPrefix(name, "@") {
		return name
	}
	sign := '+'
	if east < 0 {
		sign, east = '-', -east
	}
	return fmt.Sprintf("UTC%c%02d:%02d", sign, int(east.Hours()), int(east.Minutes())%60)
}

// zoneBias is the difference of local time to the time without it.
func zoneBias(half []byte) time.Duration {
	return time.Duration(int32(binary.LittleEndian.Uint32(half[zoneNameSize+zoneDateSize:]))) * time.Minute
}

// zoneChange returns when a half of a zone begins in the year of a moment, given the
// offset before: at some hour of the first to fourth, or the last, of a day of the week
// in a month. It is false for a zone that has no halves.
func zoneChange(half []byte, at etw.FileTime, before time.Duration) (time.Time, bool) {
	field := func(i int) int { return int(binary.LittleEndian.Uint16(half[zoneNameSize+2*i:])) }
	year, month, weekday, nth := field(0), time.Month(field(1)), field(2), field(3)
	if month < time.January || month > time.December || year != 0 {
		return time.Time{}, false
	}
	first := time.Date(at.Time().Year(), month, 1, field(4), field(5), 0, 0, time.UTC)
	day := 1 + (weekday-int(first.Weekday())+7)%7 + 7*(nth-1)
	for day > first.AddDate(0, 1, -1).Day() {
		day -= 7
	}
	return first.AddDate(0, 0, day-1).Add(-before), true
}

// zoneOf returns the rest of the time zone in the record of the header of a log
// file, after its bias.
func zoneOf(record []byte) []byte {
	at := systemHeaderSize + 0x48 + 4
	if len(record) > 2 && record[2] == kindSystem32 {
		at -= 8
	}
	if len(record) < at+timeZoneSize-4 {
		return nil
	}
	return record[at : at+timeZoneSize-4]
}
