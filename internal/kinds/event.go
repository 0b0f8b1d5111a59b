package kinds

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// validateEvent checks an event as the older of its two APIs does, which asks
// little of events that have no eventTime.
func validateEvent(obj, _ map[string]any) validation.List {
	return mistakes(obj, nil, event)
}

// The limits of an event, in bytes.
const (
	maxEventWord = 128
	maxEventNote = 1024
)

func event(p part) {
	namespace, about := object.String(p.obj, "metadata", "namespace"), p.within("involvedObject")
	if !p.has("eventTime") {
		if its := about.text("namespace"); its != namespace && (its != "" || namespace != "default") {
			about.elsewhere()
		}
	} else {
		if about.text("namespace") == "" && namespace != "default" && namespace != "kube-system" {
			about.elsewhere()
		}
		newEvent(p)
	}
	p.add(validation.Each(p.at("namespace"), namespace, validation.DNS1123Subdomain(namespace)))
}

// elsewhere says that the object of an event is in another namespace.
func (p part) elsewhere() {
	p.note(validation.Invalid(p.at("namespace"), p.text("namespace"), "does not match event.namespace"))
}

// newEvent checks what events with an eventTime have to have.
func newEvent(p part) {
	p.needs("reportingComponent")
	p.is("reportingComponent", validation.QualifiedName)
	for _, name := range []string{"reportingInstance", "action", "reason"} {
		p.needs(name)
		p.brief(name, maxEventWord)
	}
	p.brief("message", maxEventNote)
}

// brief checks the length of a text, which is not quoted.
func (p part) brief(name string, limit int) {
	if len(p.text(name)) > limit {
		p.note(validation.Invalid(p.at(name), "", fmt.Sprintf("can have at most %d characters", limit)))
	}
}
