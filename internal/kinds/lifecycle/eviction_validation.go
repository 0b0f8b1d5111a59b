package lifecycle

import (
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// maxElements is how many elements the lists of a status may have, maxResponders how many
// responders, and maxPriority the highest priority of one.
const (
	maxElements   = 100
	maxResponders = 11
	maxPriority   = 100000
)

func validateEvictionRequest(obj, old map[string]any) validation.List {
	return validation.Collect(obj, nil, checkName, func(p validation.View) {
		spec := p.Field("spec")
		checkTarget(spec, old)
		if old != nil && !validation.Equal(spec.Obj["requester"], object.Value(old, "spec", "requester")) {
			spec.Add(validation.Invalid(spec.At("requester"), nil, "field is immutable"))
		} else if old == nil {
			checkKey(spec, "requester")
		}
		spec.RequireOneOf("intent", "Eviction", "Withdrawn")
	})
}

func validateEviction(obj, old map[string]any) validation.List {
	return validation.Collect(obj, nil, checkName, func(p validation.View) { checkTarget(p.Field("spec"), old) })
}

// checkName has the rule of declarative validation for names, which finds a missing one too.
func checkName(p validation.View) {
	if meta := p.Field("metadata"); meta.String("name") == "" {
		meta.Format("name", validation.LongName)
	}
}

// checkTarget checks what is to be evicted, which does not change.
func checkTarget(spec validation.View, old map[string]any) {
	target := spec.Field("target")
	if old != nil {
		if !validation.Equal(target.Obj, object.Map(old, "spec", "target")) {
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

// validateStatus checks what the statuses of both kinds have.
func validateStatus(obj, old map[string]any) validation.List {
	return validation.Collect(obj, nil, func(p validation.View) {
		status := p.Field("status")
		status.AddList(validation.Conditions(object.List(status.Obj, "conditions"), status.At("conditions")))
		checkLength(status, "conditions", maxElements)
		observed, was := status.Int("observedGeneration"), object.Value(old, "status", "observedGeneration")
		switch before, known := was.(int64); {
		case known && !status.Has("observedGeneration"):
			status.Add(validation.Invalid(status.At("observedGeneration"), nil, "field cannot be cleared once set"))
		case status.Has("observedGeneration") && observed < 1:
			status.Invalid("observedGeneration", "must be greater than or equal to 1")
		case known && observed < before:
			status.Invalid("observedGeneration", fmt.Sprintf("may not be decreased from %d", before))
		}
	})
}

// validateEvictionStatus checks the status of an Eviction.
//
// Differs from kube-apiserver: statuses of Evictions: the order in which responders become
// active and finish, and their times, are not checked. Request: PATCH of the status of an
// Eviction of lifecycle.k8s.io with the feature gate EvictionRequestAPI.
func validateEvictionStatus(obj, old map[string]any) validation.List {
	return append(validateStatus(obj, old), validation.Collect(obj, nil, func(p validation.View) {
		status := p.Field("status")
		for _, list := range []string{"requesters", "targetResponders", "responders"} {
			limit := maxResponders
			if list == "requesters" {
				limit = maxElements
			}
			if !checkLength(status, list, limit) {
				continue
			}
			for _, element := range status.Each(list) {
				checkKey(element, "name")
				switch list {
				case "requesters":
					element.RequireOneOf("intent", "Eviction", "Withdrawn")
				case "targetResponders":
					switch priority := element.Int("priority"); {
					case !element.Has("priority"):
						element.Required("priority", "")
					case priority > maxPriority:
						element.Invalid("priority", fmt.Sprintf("must be less than or equal to %d", maxPriority))
					case priority < 0:
						element.Invalid("priority", "must be greater than or equal to 0")
					}
					element.RequireOneOf("state", "Active", "Canceled", "Completed", "Inactive", "Interrupted")
				}
			}
		}
	})...)
}

// checkLength checks the length of a list and reports whether it is within the limit.
func checkLength(p validation.View, list string, limit int) bool {
	n := p.Len(list)
	if n > limit {
		p.Add(validation.TooMany(p.At(list), n, limit))
	}
	return n <= limit
}
