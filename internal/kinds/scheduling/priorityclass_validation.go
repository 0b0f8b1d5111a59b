package scheduling

import (
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// systemPriorities maps the PriorityClasses that Kubernetes reserves to their values.
var systemPriorities = map[string]int64{
	"system-cluster-critical": 2000000000,
	"system-node-critical":    2000001000,
}

// systemPriorityPrefix is the prefix of names that only these PriorityClasses can have.
const (
	systemPriorityPrefix = "system-"
	highestUserPriority  = 1000000000
)

func validatePriorityClass(obj map[string]any, old object.View) validation.List {
	return validation.Collect(obj, nil, func(p validation.View) {
		if !old.IsNil() {
			if was, _ := old.Int("value"); p.Int("value") != was {
				p.Forbidden("value", "may not be changed in an update.")
			}
			p.AddList(validation.ImmutableField(obj["preemptionPolicy"], old.At("preemptionPolicy").Shared(), p.At("preemptionPolicy")))
			return
		}
		name := object.String(obj, "metadata", "name")
		if strings.HasPrefix(name, systemPriorityPrefix) {
			if detail := checkSystemPriority(name, p); detail != "" {
				p.Add(validation.Forbidden(validation.NewPath("metadata", "name"), "priority class names with '"+systemPriorityPrefix+"' prefix are reserved for system use only. error: "+detail))
			}
		} else if p.Int("value") > highestUserPriority {
			p.Forbidden("value", fmt.Sprintf("maximum allowed value of a user defined priority is %d", highestUserPriority))
		}
		if p.Has("preemptionPolicy") {
			p.RequireOneOf("preemptionPolicy", "PreemptLowerPriority", "Never")
		}
	})
}

// checkSystemPriority returns the error text for a class that differs from the
// reserved one with the same name, "" if it does not.
func checkSystemPriority(name string, class validation.View) string {
	switch value, ok := systemPriorities[name]; {
	case !ok:
		return name + " is not a known system priority class"
	case class.Int("value") != value:
		return fmt.Sprintf("value of %s PriorityClass must be %d", name, value)
	case class.Bool("globalDefault"):
		return fmt.Sprintf("globalDefault of %s PriorityClass must be false", name)
	}
	return ""
}

// SystemPriority returns the value of a PriorityClass that Kubernetes reserves, and
// reports whether name is one.
func SystemPriority(name string) (value int64, ok bool) {
	value, ok = systemPriorities[name]
	return value, ok
}
