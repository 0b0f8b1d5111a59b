package lifecycle

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/internal/wire"
)

// maxElements is how many elements the lists of a status may have, maxResponders how many
// responders, maxPriority the highest priority of one, and maxMessage how long its message may be.
const (
	maxElements   = 100
	maxResponders = 11
	maxPriority   = 100000
	maxMessage    = 4000 // characters
)

func validateEvictionRequest(obj map[string]any, old object.View) validation.List {
	return validation.Collect(obj, nil, checkName, func(p validation.View) {
		spec := p.Field("spec")
		checkTarget(spec, old)
		if !old.IsNil() && !validation.Equal(spec.Obj["requester"], old.At("spec", "requester")) {
			spec.Add(validation.Invalid(spec.At("requester"), nil, "field is immutable"))
		} else if old.IsNil() {
			checkKey(spec, "requester")
		}
		spec.RequireOneOf("intent", "Eviction", "Withdrawn")
	})
}

func validateEviction(obj map[string]any, old object.View) validation.List {
	return validation.Collect(obj, nil, checkName, func(p validation.View) { checkTarget(p.Field("spec"), old) })
}

// checkName has the rule of declarative validation for names, which finds a missing one too.
func checkName(p validation.View) {
	if meta := p.Field("metadata"); meta.String("name") == "" {
		meta.Format("name", validation.LongName)
	}
}

// checkTarget checks what is to be evicted, which does not change.
func checkTarget(spec validation.View, old object.View) {
	target := spec.Field("target")
	if !old.IsNil() {
		if !validation.Equal(target.Obj, old.At("spec", "target")) {
			spec.Add(validation.Invalid(spec.At("target"), nil, "field is immutable"))
		}
		return
	}
	if !target.Has("pod") {
		target.Add(validation.Invalid(target.Path, "", "must specify one of: `pod`"))
	}
	target.IfPresent("pod", func(pod validation.View) {
		pod.RequireFormat("name", validation.LongName)
		pod.RequireFormat("uid", validation.UUID)
	})
}

// checkKey checks a name with a domain before a slash.
func checkKey(p validation.View, name string) {
	key := p.String(name)
	switch msgs := validation.QualifiedName(key); {
	case key == "":
		p.Required(name, "")
	case len(msgs) > 0:
		p.AddList(validation.Each(p.At(name), key, msgs))
	case !strings.Contains(key, "/"):
		p.Invalid(name, "must include a prefix (e.g. 'example.com/key')")
	}
}

// validateRequestStatus checks the status of an EvictionRequest.
func validateRequestStatus(obj map[string]any, old object.View) validation.List {
	errs := validation.Conditions(object.List(obj, "status", "conditions"), validation.NewPath("status", "conditions"))
	return append(errs, validateCommonStatus(obj, old)...)
}

// validateCommonStatus checks what the statuses of both kinds have, except for the conditions themselves.
func validateCommonStatus(obj map[string]any, old object.View) validation.List {
	return validation.Collect(obj, nil, func(p validation.View) {
		status := p.Field("status")
		checkLength(status, "conditions", maxElements)
		observed, was := status.Int("observedGeneration"), old.At("status", "observedGeneration")
		switch before, known := was.Int(); {
		case known && !status.Has("observedGeneration"):
			status.Add(validation.Invalid(status.At("observedGeneration"), nil, cleared))
		case status.Has("observedGeneration") && observed < 1:
			status.Invalid("observedGeneration", "must be greater than or equal to 1")
		case known && observed < before:
			status.Invalid("observedGeneration", fmt.Sprintf("may not be decreased from %d", before))
		}
	})
}

// A namedList is a list in the status of an Eviction whose elements have unique names.
type namedList struct {
	name  string
	limit int
	// check checks an element that is new or has changed. old is nothing for a new one.
	check func(element validation.View, old object.View)
}

var evictionLists = []namedList{
	{"requesters", maxElements, checkRequester},
	{"targetResponders", maxResponders, checkTargetResponder},
	{"responders", maxResponders, checkResponderStatus},
}

// validateEvictionStatus checks the fields of the status of an Eviction. validateProgress checks how they change.
func validateEvictionStatus(obj map[string]any, old object.View) validation.List {
	return append(validateCommonStatus(obj, old), validation.Collect(obj, nil, func(p validation.View) {
		status, was := p.Field("status"), old.At("status")
		for _, l := range evictionLists {
			if !validation.Equal(status.Obj[l.name], was.At(l.name)) && checkLength(status, l.name, l.limit) {
				l.validate(status, was)
			}
		}
	})...)
}

// validate checks the elements of the list. was is the status before.
func (l namedList) validate(status validation.View, was object.View) {
	names := map[string]bool{}
	for _, element := range status.Each(l.name) {
		if name := element.String("name"); names[name] {
			element.Add(validation.Duplicate(element.Path, wire.QuotedElement("lifecycle.k8s.io", "v1alpha1", "Eviction", []string{"status", l.name}, element.Obj)))
		} else {
			names[name] = true
		}
	}
	for _, element := range status.Each(l.name) {
		old := named(was.At(l.name), "name", element.String("name"))
		if old.IsNil() {
			checkKey(element, "name")
		}
		if old.IsNil() || !validation.Equal(element.Obj, old) {
			l.check(element, old)
		}
	}
}

func checkRequester(requester validation.View, _ object.View) {
	requester.RequireOneOf("intent", "Eviction", "Withdrawn")
}

func checkTargetResponder(target validation.View, old object.View) {
	switch priority := target.Int("priority"); {
	case !target.Has("priority"):
		target.Required("priority", "")
	case !old.IsNil() && !validation.Equal(target.Obj["priority"], old.At("priority")):
		target.Add(validation.Invalid(target.At("priority"), nil, modified))
	case priority > maxPriority:
		target.Invalid("priority", fmt.Sprintf("must be less than or equal to %d", maxPriority))
	case priority < 0:
		target.Invalid("priority", "must be greater than or equal to 0")
	}
	target.RequireOneOf("state", stateActive, stateCanceled, stateCompleted, stateInactive, stateInterrupted)
}

func checkResponderStatus(responder validation.View, old object.View) {
	for _, name := range []string{startTime, completionTime} {
		switch was := old.String(name); {
		case was == "" || was == responder.String(name):
		case !responder.Has(name):
			responder.Add(validation.Invalid(responder.At(name), nil, cleared))
		default:
			responder.Add(validation.Invalid(responder.At(name), nil, modified))
		}
	}
	if utf8.RuneCountInString(responder.String("message")) > maxMessage {
		long := validation.TooLong(responder.At("message"), maxMessage)
		long.Detail = fmt.Sprintf("may not be more than %d characters", maxMessage)
		responder.Add(long)
	}
}

const (
	cleared  = "field cannot be cleared once set"
	modified = "field cannot be modified once set"
)

// checkLength checks the length of a list and reports whether it is within the limit.
func checkLength(p validation.View, list string, limit int) bool {
	n := p.Len(list)
	if n > limit {
		p.Add(validation.TooMany(p.At(list), n, limit))
	}
	return n <= limit
}
