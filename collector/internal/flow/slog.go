package flow

import (
	"context"
	"log/slog"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/etwgen/etwgen/internal/each"
)

// Slog returns a logger of the standard library that is one of the collector.
func Slog(log *zap.Logger) *slog.Logger {
	return slog.New(&handler{log.WithOptions(zap.WithCaller(false))})
}

type handler struct{ log *zap.Logger }

// severity returns that of zap, whose levels are four apart in the standard library.
func severity(l slog.Level) zapcore.Level { return zapcore.Level(l / 4) }

func (h *handler) Enabled(_ context.Context, l slog.Level) bool {
	return h.log.Core().Enabled(severity(l))
}

func (h *handler) Handle(_ context.Context, r slog.Record) error {
	var fields []zap.Field
	r.Attrs(func(a slog.Attr) bool {
		fields = append(fields, field(a))
		return true
	})
	h.log.Log(severity(r.Level), r.Message, fields...)
	return nil
}

func (h *handler) WithAttrs(list []slog.Attr) slog.Handler {
	return &handler{h.log.With(each.Of(list, field)...)}
}

func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.log.With(zap.Namespace(name))}
}

func field(a slog.Attr) zap.Field { return zap.Any(a.Key, a.Value.Resolve().Any()) }
