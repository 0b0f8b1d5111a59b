package controller

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/object"
)

// Types of Events.
const (
	Normal  = "Normal"
	Warning = "Warning"
)

// The limits of the correlation of Events in client-go.
const (
	maxSimilar     = 10               // events of one aggregate with different messages
	similarWindow  = 10 * time.Minute // in which they are similar
	spamBurst      = 25               // events of one source about one object
	spamInterval   = 5 * time.Minute  // for one more
	maxCorrelation = 4096             // entries of each cache
)

// A Recorder records Events about objects, as the recorder of client-go does: equal
// Events are one with a count, many similar ones are combined, and a source that
// records too many about one object is dropped.
//
// Differs from kube-apiserver: Events of controllers: they are written in the order of
// what they report, and one whose write fails is dropped, where client-go tries again.
// Request: GET of the Events of a namespace with controllers and faults on.
type Recorder struct {
	client    *Client
	component string
}

// Recorder returns a recorder of Events with the source component.
func (e *Env) Recorder(c *Client, component string) *Recorder {
	return &Recorder{client: c, component: component}
}

// events is the correlation of Events of a Runtime.
type events struct {
	similar  map[string]*similarEvents
	recorded map[string]*recordedEvent
	spam     map[string]*spamBucket
	last     int64 // the time in the name of the last Event
}

type similarEvents struct {
	messages []string // the newest different ones, oldest first
	last     time.Time
}

type recordedEvent struct {
	name  string
	count int64
	first time.Time
}

type spamBucket struct {
	tokens float64
	last   time.Time
}

// Event records an Event about an object of an informer.
func (r *Recorder) Event(about *Object, typ, reason, format string, args ...any) {
	r.EventFor(Reference(about), typ, reason, format, args...)
}

// Reference returns the reference to an object as Events have it.
func Reference(o *Object) map[string]any {
	ref := map[string]any{
		"apiVersion": o.Type.GroupVersion.String(), "kind": o.Type.Kind, "name": o.Name, "uid": o.UID,
	}
	if o.Namespace != "" {
		ref["namespace"] = o.Namespace
	}
	if v := o.View().String("metadata", "resourceVersion"); v != "" {
		ref["resourceVersion"] = v
	}
	return ref
}

// EventFor records an Event about the object of a reference.
func (r *Recorder) EventFor(ref map[string]any, typ, reason, format string, args ...any) {
	message := format
	if len(args) > 0 {
		message = fmt.Sprintf(format, args...)
	}
	runtime := r.client.runtime
	now, s := runtime.Now(), &runtime.events
	s.init()
	subject := strings.Join([]string{
		r.component, object.String(ref, "kind"), object.String(ref, "namespace"), object.String(ref, "name"),
		object.String(ref, "uid"), object.String(ref, "apiVersion"), object.String(ref, "fieldPath"),
	}, "\x00")
	if !s.admits(subject, now) {
		return
	}
	group := subject + "\x00" + typ + "\x00" + reason
	key := group + "\x00" + message
	if s.combines(group, message, now) {
		message, key = "(combined from similar events): "+message, group
	}
	stamp := clock.Timestamp(now)
	namespace := object.String(ref, "namespace")
	if namespace == "" {
		namespace = "default"
	}
	if old := s.recorded[key]; old != nil {
		change := map[string]any{"count": old.count + 1, "lastTimestamp": stamp, "message": message}
		if _, err := r.client.StrategicPatch(Events, namespace, old.name, "", change); err == nil {
			old.count++
			return
		} else if !IsNotFound(err) {
			return
		}
	}
	name := fmt.Sprintf("%s.%x", object.String(ref, "name"), s.nanos(now))
	_, err := r.client.Create(Events, namespace, map[string]any{
		"metadata":       map[string]any{"name": name, "namespace": namespace},
		"involvedObject": object.Copy(ref),
		"reason":         reason, "message": message, "type": typ, "count": int64(1),
		"firstTimestamp": stamp, "lastTimestamp": stamp,
		"source":             map[string]any{"component": r.component},
		"reportingComponent": r.component,
	})
	if err == nil {
		bound(s.recorded)
		s.recorded[key] = &recordedEvent{name: name, count: 1, first: now}
	}
}

func (s *events) init() {
	if s.similar == nil {
		s.similar, s.recorded, s.spam = map[string]*similarEvents{}, map[string]*recordedEvent{}, map[string]*spamBucket{}
	}
}

// admits reports whether the source may record one more Event about the object.
func (s *events) admits(subject string, now time.Time) bool {
	b := s.spam[subject]
	if b == nil {
		bound(s.spam)
		b = &spamBucket{tokens: spamBurst, last: now}
		s.spam[subject] = b
	}
	b.tokens = min(spamBurst, b.tokens+float64(now.Sub(b.last))/float64(spamInterval))
	b.last = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// combines reports whether the group has had so many messages that the Event is
// combined with them.
func (s *events) combines(group, message string, now time.Time) bool {
	e := s.similar[group]
	if e == nil || now.Sub(e.last) > similarWindow {
		bound(s.similar)
		e = &similarEvents{}
		s.similar[group] = e
	}
	e.last = now
	if !slices.Contains(e.messages, message) {
		e.messages = append(e.messages, message)
	}
	if len(e.messages) < maxSimilar {
		return false
	}
	e.messages = slices.Delete(e.messages, 0, 1)
	return true
}

// nanos returns the time for the name of an Event: later than that of the Event
// before.
func (s *events) nanos(now time.Time) int64 {
	s.last = max(s.last+1, now.UnixNano())
	return s.last
}

// bound empties a cache that is full.
func bound[V any](m map[string]V) {
	if len(m) >= maxCorrelation {
		clear(m)
	}
}
