// Logshipper writes the events of a .nettrace file as structured log lines:
//
//	go run ./examples/logshipper tests/recorded/exceptions.nettrace
//
// etw.LogValue makes attributes of any event, so the logger decides whether a line is JSON
// or text and where it goes. Events that have no generated type, such as those of an
// EventSource, are logged by the schema in the trace, and undescribed ones as bytes.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: logshipper FILE.nettrace")
	}
	if err := run(os.Stdout, os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer, path string) error {
	trace, err := nettrace.Open(path)
	if err != nil {
		return err
	}
	defer trace.Close()

	logger := slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
	decoder := etw.NewDecoder(clr.Provider, rundown.Provider)
	for rec, err := range trace.Records() {
		if err != nil {
			return err
		}
		if err := ship(logger, decoder, rec); err != nil {
			return err
		}
	}
	if lost := trace.Stats().Lost; lost > 0 {
		logger.Warn("events were lost", "count", lost)
	}
	return nil
}

// ship logs an event. The line has the time of the event, so it is made by hand
// and given to the handler of the logger.
func ship(logger *slog.Logger, decoder *etw.Decoder, rec *etw.Record) error {
	ctx := context.Background()
	if !logger.Enabled(ctx, level(rec.Level)) {
		return nil
	}
	info := decoder.Event(rec)
	fields := slog.StringValue(fmt.Sprintf("% x", rec.Payload))
	event, err := decoder.Decode(rec)
	if event != nil {
		fields = etw.LogValue(event)
	}
	line := slog.NewRecord(rec.Time(), level(rec.Level), info.Name, 0)
	line.AddAttrs(
		slog.String("provider", info.Provider),
		slog.Int64("pid", rec.ProcessID),
		slog.Int64("tid", rec.ThreadID),
		slog.Any("fields", fields))
	if err != nil {
		line.AddAttrs(slog.Any("error", err))
	}
	return logger.Handler().Handle(ctx, line)
}

// level returns the log level for the level of an event.
func level(l etw.Level) slog.Level {
	switch l {
	case etw.LevelCritical, etw.LevelError:
		return slog.LevelError
	case etw.LevelWarning:
		return slog.LevelWarn
	case etw.LevelVerbose:
		return slog.LevelDebug
	}
	return slog.LevelInfo
}
