package authn

import "context"

// A Recorder receives what authenticators report about a request beside its user. Each of its
// methods is called by the goroutine that authenticates the request.
type Recorder interface {
	// Warn receives a warning for the client.
	Warn(text string)
	// Annotate receives an annotation of the request's events in the audit log.
	Annotate(key, value string)
}

type recorderKey struct{}

// WithRecorder returns a context in which authenticators report to r.
func WithRecorder(ctx context.Context, r Recorder) context.Context {
	return context.WithValue(ctx, recorderKey{}, r)
}

// Warn sends a warning to the Recorder of ctx, if it has one.
func Warn(ctx context.Context, text string) {
	if r := recorderOf(ctx); r != nil {
		r.Warn(text)
	}
}

// Annotate sends an annotation to the Recorder of ctx, if it has one.
func Annotate(ctx context.Context, key, value string) {
	if r := recorderOf(ctx); r != nil {
		r.Annotate(key, value)
	}
}

func recorderOf(ctx context.Context) Recorder {
	r, _ := ctx.Value(recorderKey{}).(Recorder)
	return r
}
