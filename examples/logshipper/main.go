// Logshipper writes the events of a .nettrace file as structured log lines:
//
//	go run ./examples/logshipper tests/recorded/exceptions.nettrace
//
// Every generated event is a slog.LogValuer, so the logger decides whether a
// line is JSON or text and where it goes. Events that have no generated type,
// such as those of an EventSource, are logged by the schema in the trace.
package main

import (
	"context"
	"io"
	"log"
	"log/slog"
	"os"

	"github.com/etwgen/etwgen/generated/clr"
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

	handler := slog.NewJSONHandler(w, nil)
	registry := etw.NewRegistry(clr.Provider)
	var dynamic etw.Dynamic
	for rec, err := range trace.Records() {
		if err != nil {
			return err
		}
		line := slog.NewRecord(rec.Time(), level(rec.Level), "", 0)
		line.AddAttrs(slog.Int64("pid", rec.ProcessID), slog.Int64("tid", rec.ThreadID))

		event, _, err := registry.Decode(rec)
		switch {
		case err != nil:
			line.Message = "undecodable event"
			line.AddAttrs(slog.Any("error", err))
		case event != nil:
			line.Message = event.EventDesc().Name
			line.AddAttrs(slog.Any("fields", etw.LogValue(event)))
		case rec.Schema != nil:
			_, err := dynamic.DecodeLoose(rec.Schema, rec.Payload, rec.PointerSize)
			line.Message = rec.Schema.Name
			line.AddAttrs(slog.Any("fields", etw.LogValue(&dynamic)))
			if err != nil {
				line.AddAttrs(slog.Any("error", err))
			}
		default:
			continue
		}
		if err := handler.Handle(context.Background(), line); err != nil {
			return err
		}
	}
	return nil
}

// level returns the log level for the level of an event.
func level(l uint8) slog.Level {
	switch l {
	case 1, 2:
		return slog.LevelError
	case 3:
		return slog.LevelWarn
	case 5:
		return slog.LevelDebug
	}
	return slog.LevelInfo
}
