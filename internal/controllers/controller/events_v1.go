package controller

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/object"
)

// A SeriesRecorder records Events of events.k8s.io/v1, as package tools/events of
// client-go does: the second equal Event makes a series of the first. The note does
// not count: a series has the note of its first Event.
type SeriesRecorder struct {
	client     *Client
	controller string
	series     map[string]*series
	names      map[Key]string // of the Events, to their keys in series
	end        *Queue         // of the names of Events
}

type series struct {
	key   Key // of the Event
	event map[string]any
	count int64
	last  time.Time // the newest occurrence
}

// seriesEnd is the time after which a series ends, or an Event cannot become one.
const seriesEnd = 6 * time.Minute

// SeriesRecorder returns a recorder of Events of a reporting controller.
func (e *Env) SeriesRecorder(c *Client, controller string) *SeriesRecorder {
	r := &SeriesRecorder{client: c, controller: controller, series: map[string]*series{}, names: map[Key]string{}}
	r.end = e.Queue(r.finish)
	return r
}

// An Occurrence is what a SeriesRecorder records.
type Occurrence struct {
	Type, Reason, Action, Note string

	// Related is another object that the Event is about; nil if there is none.
	Related *Object
}

// Event records an Event about an object of an informer. The note is cut at 1,024
// bytes.
func (r *SeriesRecorder) Event(about *Object, o Occurrence) {
	now := r.client.runtime.Now()
	note := o.Note
	if len(note) > maxNote {
		note = note[:maxNote-len(cut)] + cut
	}
	event := map[string]any{
		"eventTime": clock.MicroTimestamp(now), "type": o.Type, "reason": o.Reason, "action": o.Action, "note": note,
		"reportingController": r.controller, "reportingInstance": r.controller + reportingHost,
		"regarding": Reference(about),
	}
	identity := []any{o.Type, o.Reason, o.Action, event["regarding"]}
	if o.Related != nil {
		event["related"] = Reference(o.Related)
		identity = append(identity, event["related"])
	}
	id, _ := json.Marshal(identity)
	if s := r.series[string(id)]; s != nil && now.Sub(s.last) < seriesEnd {
		s.count++
		s.last = now
		if s.count == 2 {
			r.write(s)
		}
		return
	}
	namespace := about.Namespace
	if namespace == "" {
		namespace = "default"
	}
	name := fmt.Sprintf("%s.%x", about.Name, r.client.runtime.events.nanos(now))
	s := &series{key: Key{namespace, name}, event: event, count: 1, last: now}
	if len(r.series) >= maxCorrelation {
		clear(r.series)
		clear(r.names)
	}
	r.series[string(id)], r.names[s.key] = s, string(id)
	r.write(s)
	r.end.AddAfter(s.key, seriesEnd)
}

const (
	maxNote = 1024
	cut     = " ..."
)

// reportingHost ends the names of reporting instances, where a real component has the
// name of its host.
const reportingHost = "-fakeapi"

// write creates the Event of a series, or writes the count. An Event that cannot be
// written is lost.
func (r *SeriesRecorder) write(s *series) {
	if s.count > 1 {
		change := map[string]any{"series": s.state()}
		if _, err := r.client.StrategicPatch(EventsV1, s.key.Namespace, s.key.Name, "", change); !IsNotFound(err) {
			return
		}
	}
	event := object.Copy(s.event)
	event["metadata"] = map[string]any{"name": s.key.Name, "namespace": s.key.Namespace}
	if s.count > 1 {
		event["series"] = s.state()
	}
	_, _ = r.client.Create(EventsV1, s.key.Namespace, event)
}

func (s *series) state() map[string]any {
	return map[string]any{"count": s.count, "lastObservedTime": clock.MicroTimestamp(s.last)}
}

// finish ends a series that nothing was added to for a while: its last count is
// written.
func (r *SeriesRecorder) finish(k Key) error {
	id, ok := r.names[k]
	if !ok {
		return nil
	}
	s := r.series[id]
	if left := seriesEnd - r.client.runtime.Now().Sub(s.last); left > 0 {
		r.end.AddAfter(k, left)
		return nil
	}
	if s.count > 2 {
		r.write(s)
	}
	delete(r.series, id)
	delete(r.names, k)
	return nil
}
