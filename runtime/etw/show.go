package etw

import "log/slog"

// Show returns e for encoding/json, log/slog and fmt, which then show it by its description:
// with the names of the manifest, and with names of values for numbers.
//
//	slog.Info("collection", "event", etw.Show(e))
func Show(e Described) Shown { return Shown{e} }

// Shown is an event that shows its fields by its description: see [Show].
type Shown struct{ event Described }

// String returns the text of [AppendText].
func (s Shown) String() string { return string(AppendText(nil, s.event)) }

// LogValue returns the result of the function [LogValue].
func (s Shown) LogValue() slog.Value { return LogValue(s.event) }

// MarshalJSON returns the JSON of [AppendJSON].
func (s Shown) MarshalJSON() ([]byte, error) { return AppendJSON(nil, s.event) }
