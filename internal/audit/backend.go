package audit

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/kubefake/kubefake/internal/metrics"
)

// A Backend receives the events of a [Log].
type Backend struct {
	// Plugin names the backend in metrics: log or webhook.
	Plugin string
	// Writer receives each event with one call. Its error says that the event is lost.
	Writer io.Writer
	// Strict makes an event that is lost an error of the Log.
	Strict bool
	// MaxEvent is the number of bytes above which events are truncated; 0 is no limit. They
	// have no objects then, and are lost if they are still too large.
	MaxEvent int64
}

// Backends is the writer of a [Log] with several backends. An event that one of them loses is
// sent to the others all the same. Add what is needed before the first event.
type Backends struct {
	// Report, if not nil, is called for events that a plugin loses. It may be called
	// concurrently.
	Report func(plugin string, events int, err error)

	all  []Backend
	lost metrics.Values // of errorTotal
}

// Add adds a backend.
func (b *Backends) Add(one Backend) { b.all = append(b.all, one) }

// Lost notes that a plugin has lost events. Backends call it for those that they have accepted.
func (b *Backends) Lost(plugin string, events int, err error) {
	for range events {
		b.lost.Add(errorTotal, plugin)
	}
	if b.Report != nil {
		b.Report(plugin, events, err)
	}
}

// Write writes an event to each backend. The error is that of the strict ones.
func (b *Backends) Write(event []byte) (int, error) {
	var strict error
	for _, one := range b.all {
		text := event
		if one.MaxEvent > 0 && int64(len(event)) > one.MaxEvent {
			var err error
			if text, err = truncate(event, one.MaxEvent); err != nil {
				b.Lost("truncate", 1, err)
				continue
			}
		}
		if _, err := one.Writer.Write(text); err != nil {
			b.Lost(one.Plugin, 1, err)
			if one.Strict {
				strict = errors.Join(strict, err)
			}
		}
	}
	return len(event), strict
}

// Close closes the writers that are an [io.Closer].
func (b *Backends) Close() (err error) {
	for _, one := range b.all {
		if c, ok := one.Writer.(io.Closer); ok {
			err = errors.Join(err, c.Close())
		}
	}
	return err
}

// errTooLarge is reported for events that are lost.
var errTooLarge = errors.New("event is too large even after truncating")

// truncate returns an event of more than max bytes without its objects.
func truncate(line []byte, max int64) ([]byte, error) {
	var e Event
	if err := json.Unmarshal(line, &e); err != nil {
		return nil, err // unreachable: it is a line of a Log
	}
	if e.AtLeast(Request) {
		e.RequestObject, e.ResponseObject = nil, nil
		e.Annotate("audit.k8s.io/truncated", "true")
		text, err := json.Marshal(&e)
		if err != nil {
			return nil, err // unreachable: it was JSON
		}
		line = append(text, '\n')
	}
	if int64(len(line)) > max {
		return nil, errTooLarge
	}
	return line, nil
}
