package events

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// eventNames are the fields of Events whose names differ between the core group and
// events.k8s.io.
var eventNames = []struct{ core, new string }{
	{"involvedObject", "regarding"},
	{"message", "note"},
	{"reportingComponent", "reportingController"},
	{"source", "deprecatedSource"},
	{"firstTimestamp", "deprecatedFirstTimestamp"},
	{"lastTimestamp", "deprecatedLastTimestamp"},
	{"count", "deprecatedCount"},
}

func eventFromNew(obj map[string]any) map[string]any {
	for _, name := range eventNames {
		rename(obj, name.new, name.core)
	}
	return obj
}

func eventToNew(_ int, obj map[string]any) map[string]any {
	for _, name := range eventNames {
		rename(obj, name.core, name.new)
	}
	return obj
}

func rename(obj map[string]any, from, to string) {
	if v, ok := obj[from]; ok {
		obj[to] = v
		delete(obj, from)
	}
}

// immutableEventFields are the fields of an Event that an update in the group
// events.k8s.io cannot change, with their Go types.
var immutableEventFields = []struct{ name, typ string }{
	{"involvedObject", "core.ObjectReference"}, {"reason", "s"}, {"message", "s"}, {"source", "core.EventSource"},
	{"firstTimestamp", "t"}, {"lastTimestamp", "t"}, {"count", "i"}, {"reason", "s"}, {"type", "s"},
	{"eventTime", "t"}, {"action", "s"}, {"related", "*core.ObjectReference"},
	{coreReportingController, "s"}, {"reportingInstance", "s"},
}

// The name of the same field in the core group and in events.k8s.io.
const (
	coreReportingController = "reportingComponent"
	newReportingController  = "reportingController"
)

// validateNewEvent checks a write of an Event in the group events.k8s.io: it requires
// the fields of that group, and updates cannot change most fields.
func validateNewEvent(obj map[string]any, old object.View) validation.List {
	errs := validateEvent(obj, old)
	for _, e := range errs {
		if e.Field == coreReportingController {
			e.Field = newReportingController
		}
	}
	return append(errs, validation.Collect(obj, nil, func(p validation.View) {
		meta := p.Field("metadata")
		if old.IsNil() {
			meta.AddList(validation.ObjectMeta(meta.Obj, true, validation.SubdomainName, meta.Path))
			meta.AddList(validation.FinalizerNames(meta.Obj, meta.Path))
			checkEventSeries(p)
			checkDeprecatedFields(p)
			return
		}
		meta.AddList(validation.ObjectMetaUpdate(meta.Obj, old.At("metadata"), meta.Path))
		meta.AddList(validation.FinalizerNames(meta.Obj, meta.Path))
		if !validation.Equal(obj["series"], old.At("series")) {
			checkEventSeries(p)
		}
		for _, member := range immutableEventFields {
			path := p.At(member.name)
			if member.name == coreReportingController {
				path = p.At(newReportingController)
			}
			if !validation.Equal(obj[member.name], old.At(member.name)) {
				p.Add(validation.Invalid(path, eventValue(member.typ, obj[member.name]), "field is immutable"))
			}
		}
	})...)
}

// eventValue returns the value of a field as error messages print it.
func eventValue(typ string, v any) any {
	if s, ok := v.(string); ok && typ == "s" {
		return s
	}
	return validation.AsGoType(typ, v)
}

func checkEventSeries(p validation.View) {
	series, ok := p.Lookup("series")
	if !ok {
		return
	}
	if series.Int("count") < 2 {
		series.Add(validation.Invalid(series.At("count"), "", "should be at least 2"))
	}
	if !series.Has("lastObservedTime") {
		series.Required("lastObservedTime", "")
	}
}

// checkDeprecatedFields checks that a new Event has a time and a type, and none of the
// deprecated fields.
func checkDeprecatedFields(p validation.View) {
	if !p.Has("eventTime") {
		p.Required("eventTime", "")
	}
	if typ := p.String("type"); typ != "Normal" && typ != "Warning" {
		p.Add(validation.Invalid(p.At("type"), "", fmt.Sprintf("has invalid value: %s", typ)))
	}
	source := p.Field("source")
	for _, old := range []struct {
		name string
		set  bool
	}{
		{"firstTimestamp", p.Has("firstTimestamp")},
		{"lastTimestamp", p.Has("lastTimestamp")},
		{"count", p.Int("count") != 0},
		{"source", source.String("component") != "" || source.String("host") != ""},
	} {
		if old.set {
			p.Add(validation.Invalid(p.At(old.name), validation.NamedString(""), "needs to be unset"))
		}
	}
}

// Conversions returns the conversions of the versions that are not stored.
func Conversions() map[kind.VersionedResource]kind.Conversion {
	return map[kind.VersionedResource]kind.Conversion{
		{GroupVersion: resource.GroupVersion{Group: "events.k8s.io", Version: "v1"}, Name: "events"}: {
			ToStored: eventFromNew, FromStored: eventToNew, Validate: validateNewEvent, SelectableFields: newEventFields(),
		},
	}
}

// newEventFields returns the selectable fields of the group events.k8s.io.
func newEventFields() []resource.Field {
	return append(referenceFields("regarding"),
		kind.SelectableField("reason", "reason"),
		kind.SelectableField("reportingController", "reportingController"),
		kind.SelectableField("type", "type"),
	)
}
