package show

import "testing"

// TestTextWidth has the characters whose width programs do not agree on, as terminals
// show them.
func TestTextWidth(t *testing.T) {
	for text, want := range map[string]int{
		"":             0,
		"plain":        5,
		"größer":       6,
		"日本語":          6,
		"ｶﾅ":           2, // half of the usual width
		"ＡＢ":           4, // and twice that of Latin letters
		"한국어":          6,
		"\u1112\u1161": 2, // one syllable of two parts
		"שלום":         4,
		"مرحبا":        5,
		"e\u0301":      1, // one letter of two characters
		"नी":           2,
		"✅ ⭐ ⚡":        8,
		"✓ ☆ ☎":        5,
		"🌶🌵":           3,
		"🟠":            2,
		"🪀":            2,
		"①②":           2,
		"\U0001f1e9":   1,
		"〈〉":           4,
		"…":            1,
		"\U00018b00":   2,
		"\U00030000":   2,
		"\U0001f93b":   1,
		"\u2329\u232a": 4,
		"\u3248":       1,
		"\ufe19":       2,
		"\u25fd\u25fe": 4,
		"\u25fb\u25fc": 2,
		"\u2614\u2615": 4,
		"\U0001f004":   2,
		"\U0001f003":   1,
	} {
		if got := TextWidth(text); got != want {
			t.Errorf("%q takes %d cells, want %d", text, got, want)
		}
	}
}
