package kinds

import (
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

func defaultPriorityClass(obj map[string]any) { fill(obj, "preemptionPolicy", "PreemptLowerPriority") }

// systemPriorities are the priorities that Kubernetes keeps for itself, by the
// names of their classes.
var systemPriorities = map[string]int64{
	"system-cluster-critical": 2000000000,
	"system-node-critical":    2000001000,
}

// Names with this prefix are for no other classes.
const (
	systemPriorityPrefix = "system-"
	highestUserPriority  = 1000000000
)

func validatePriorityClass(obj, old map[string]any) validation.List {
	return mistakes(obj, nil, func(p part) {
		if old != nil {
			if p.integer("value") != (part{obj: old}).integer("value") {
				p.forbid("value", "may not be changed in an update.")
			}
			p.add(validation.ImmutableField(obj["preemptionPolicy"], old["preemptionPolicy"], p.at("preemptionPolicy")))
			return
		}
		name := object.String(obj, "metadata", "name")
		if strings.HasPrefix(name, systemPriorityPrefix) {
			if detail := systemPriorityMistake(name, p); detail != "" {
				p.note(validation.Forbidden(metadataNamePath, "priority class names with '"+systemPriorityPrefix+"' prefix are reserved for system use only. error: "+detail))
			}
		} else if p.integer("value") > highestUserPriority {
			p.forbid("value", fmt.Sprintf("maximum allowed value of a user defined priority is %d", highestUserPriority))
		}
		if p.has("preemptionPolicy") {
			p.needsOneOf("preemptionPolicy", "PreemptLowerPriority", "Never")
		}
	})
}

// systemPriorityMistake tells how a class differs from the system's of its name,
// "" if it does not.
func systemPriorityMistake(name string, class part) string {
	switch value, ok := systemPriorities[name]; {
	case !ok:
		return name + " is not a known system priority class"
	case class.integer("value") != value:
		return fmt.Sprintf("value of %s PriorityClass must be %d", name, value)
	case class.flag("globalDefault"):
		return fmt.Sprintf("globalDefault of %s PriorityClass must be false", name)
	}
	return ""
}
