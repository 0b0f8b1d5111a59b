package kinds

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// eventNames are the members that events have by other names in the group
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

func eventToNew(obj map[string]any) map[string]any {
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

// newEventFields are what field selectors may name in the group events.k8s.io.
var newEventFields = append(referenceFields("regarding"),
	field("reason", "reason"),
	field("reportingController", "reportingController"),
	field("type", "type"),
)

// referenceFields are what field selectors may name of a reference to an
// object.
func referenceFields(member string) (fields []resource.Field) {
	for _, name := range []string{"kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"} {
		fields = append(fields, field(member+"."+name, member, name))
	}
	return fields
}

// eventMembers are the members of an event that an update in the group
// events.k8s.io leaves alone, with their Go types.
var eventMembers = []struct{ name, typ string }{
	{"involvedObject", "core.ObjectReference"}, {"reason", "s"}, {"message", "s"}, {"source", "core.EventSource"},
	{"firstTimestamp", "t"}, {"lastTimestamp", "t"}, {"count", "i"}, {"reason", "s"}, {"type", "s"},
	{"eventTime", "t"}, {"action", "s"}, {"related", "*core.ObjectReference"},
	{reportingMember, "s"}, {"reportingInstance", "s"},
}

// What reports an event is told by its name in the group events.k8s.io.
const (
	reportingMember = "reportingComponent"
	reportingTold   = "reportingController"
)

// validateNewEvent checks an event that is written in the group events.k8s.io:
// it has what its kind was given there, and keeps it.
func validateNewEvent(obj, old map[string]any) validation.List {
	errs := validateEvent(obj, old)
	for _, e := range errs {
		if e.Field == reportingMember {
			e.Field = reportingTold
		}
	}
	return append(errs, mistakes(obj, nil, func(p part) {
		meta := p.within("metadata")
		if old == nil {
			meta.add(validation.ObjectMeta(meta.obj, true, validation.SubdomainName, meta.path))
			meta.add(validation.FinalizerNames(meta.obj, meta.path))
			eventSeries(p)
			unreported(p)
			return
		}
		meta.add(validation.ObjectMetaUpdate(meta.obj, object.Map(old, "metadata"), meta.path))
		meta.add(validation.FinalizerNames(meta.obj, meta.path))
		if !validation.Equal(obj["series"], old["series"]) {
			eventSeries(p)
		}
		for _, member := range eventMembers {
			path := p.at(member.name)
			if member.name == reportingMember {
				path = p.at(reportingTold)
			}
			if !validation.Equal(obj[member.name], old[member.name]) {
				p.note(validation.Invalid(path, eventValue(member.typ, obj[member.name]), "field is immutable"))
			}
		}
	})...)
}

// eventValue is the value of a member as messages print it.
func eventValue(typ string, v any) any {
	if s, ok := v.(string); ok && typ == "s" {
		return s
	}
	return internal(typ, v)
}

func eventSeries(p part) {
	series, ok := p.given("series")
	if !ok {
		return
	}
	if series.integer("count") < 2 {
		series.note(validation.Invalid(series.at("count"), "", "should be at least 2"))
	}
	if !series.has("lastObservedTime") {
		series.missing("lastObservedTime", "")
	}
}

// unreported checks that a new event has its time and type, and nothing of what
// only older ones had.
func unreported(p part) {
	if !p.has("eventTime") {
		p.missing("eventTime", "")
	}
	if typ := p.text("type"); typ != "Normal" && typ != "Warning" {
		p.note(validation.Invalid(p.at("type"), "", fmt.Sprintf("has invalid value: %s", typ)))
	}
	source := p.within("source")
	for _, old := range []struct {
		name string
		set  bool
	}{
		{"firstTimestamp", p.has("firstTimestamp")},
		{"lastTimestamp", p.has("lastTimestamp")},
		{"count", p.integer("count") != 0},
		{"source", source.text("component") != "" || source.text("host") != ""},
	} {
		if old.set {
			p.note(validation.Invalid(p.at(old.name), "", "needs to be unset"))
		}
	}
}
