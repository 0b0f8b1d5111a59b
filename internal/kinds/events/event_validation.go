package events

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// validateEvent checks a write of an Event in the core group. Most checks apply only
// to Events with eventTime.
func validateEvent(obj map[string]any, _ object.View) validation.List {
	return validation.Collect(obj, nil, checkEvent)
}

// The limits of an event, in bytes.
const (
	maxEventWord = 128
	maxEventNote = 1024
)

func checkEvent(p validation.View) {
	namespace, about := object.String(p.Obj, "metadata", "namespace"), p.Field("involvedObject")
	if !p.Has("eventTime") {
		if its := about.String("namespace"); its != namespace && (its != "" || namespace != "default") {
			addNamespaceMismatch(about)
		}
	} else {
		if about.String("namespace") == "" && namespace != "default" && namespace != "kube-system" {
			addNamespaceMismatch(about)
		}
		checkNewEvent(p)
	}
	p.AddList(validation.Each(p.At("namespace"), namespace, validation.DNS1123Subdomain(namespace)))
}

// addNamespaceMismatch adds the error that the involved object is in another
// namespace.
func addNamespaceMismatch(p validation.View) {
	p.Add(validation.Invalid(p.At("namespace"), p.String("namespace"), "does not match event.namespace"))
}

// checkNewEvent checks the fields that an Event with eventTime must have.
func checkNewEvent(p validation.View) {
	p.Require("reportingComponent")
	p.Format("reportingComponent", validation.QualifiedName)
	for _, name := range []string{"reportingInstance", "action", "reason"} {
		p.Require(name)
		checkLength(p, name, maxEventWord)
	}
	checkLength(p, "message", maxEventNote)
}

// checkLength checks that a string is at most limit bytes long. The error does not
// quote it.
func checkLength(p validation.View, name string, limit int) {
	if len(p.String(name)) > limit {
		p.Add(validation.Invalid(p.At(name), "", fmt.Sprintf("can have at most %d characters", limit)))
	}
}
