package provider

import (
	"context"
	"crypto/rand"

	"github.com/etwgen/etwgen/runtime/etw"
)

// An Activity is the piece of work that an event is of.
type Activity struct {
	ID etw.GUID
	// Related is the activity that this one is part of. It is written with the
	// events that begin an activity.
	Related etw.GUID
}

type activityKey struct{}

// NewActivity returns a context of a new activity, part of that of ctx, if there is
// one.
func NewActivity(ctx context.Context) context.Context {
	var id etw.GUID
	_, _ = rand.Read(id[:]) // it never fails
	id[7] = id[7]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return WithActivity(ctx, Activity{id, ActivityOf(ctx).ID})
}

// WithActivity returns a context of a given activity, one that another program began,
// for example.
func WithActivity(ctx context.Context, a Activity) context.Context {
	return context.WithValue(ctx, activityKey{}, &a)
}

// ActivityOf returns the activity of a context, or none. The context may be nil.
func ActivityOf(ctx context.Context) Activity {
	if ctx != nil {
		if a, ok := ctx.Value(activityKey{}).(*Activity); ok {
			return *a
		}
	}
	return Activity{}
}
