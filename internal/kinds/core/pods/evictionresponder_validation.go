package pods

import (
	"strings"

	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/internal/wire"
)

const (
	maxEvictionResponders = 10
	// The priorities of responders: those below reservedPriorities are for Kubernetes.
	reservedPriorities = 1000
	maxPriority        = 100000
)

// checkEvictionResponders validates the evictionResponders of a PodSpec.
func checkEvictionResponders(p validation.View) {
	const name = "evictionResponders"
	if p.Len(name) == 0 {
		return
	}
	if p.Has("schedulingGroup") {
		p.Forbidden("schedulingGroup", "may not be set when evictionResponders is set")
	}
	if n := p.Len(name); n > maxEvictionResponders {
		p.Add(validation.TooMany(p.At(name), n, maxEvictionResponders))
		return
	}
	checkUnique(p, "name", "spec", name)
	for _, responder := range p.Each(name) {
		checkResponderName(responder)
		checkResponderPriority(responder)
	}
}

// checkUnique checks that the elements of the list at a path of a Pod have different keys. p has the
// last list of the path.
func checkUnique(p validation.View, key string, path ...string) {
	seen := validation.Seen{}
	for _, element := range p.Each(path[len(path)-1]) {
		value := element.String(key)
		if seen[value] {
			p.Add(validation.Duplicate(element.Path, wire.QuotedElement("", "v1", "Pod", path, element.Obj)))
		}
		seen[value] = true
	}
}

func checkResponderName(p validation.View) {
	name := p.String("name")
	if !p.Require("name") {
		return
	}
	domain, _, qualified := strings.Cut(name, "/")
	domain = strings.TrimRight(strings.TrimSpace(strings.ToLower(domain)), ".")
	for _, reserved := range []string{"k8s.io", "kubernetes.io"} {
		if domain == reserved || strings.HasSuffix(domain, "."+reserved) {
			p.InvalidString("name", "domain names *.k8s.io, *.kubernetes.io are reserved")
		}
	}
	if messages := validation.QualifiedName(name); len(messages) > 0 {
		p.AddList(validation.Each(p.At("name"), name, messages))
	} else if !qualified {
		p.InvalidString("name", "must include a prefix (e.g. 'example.com/key')")
	}
}

func checkResponderPriority(p validation.View) {
	if !p.Has("priority") {
		p.Required("priority", "")
		return
	}
	switch n := p.Int("priority"); {
	case n < 0:
		p.Invalid("priority", "must be greater than or equal to 0")
	case n < reservedPriorities:
		p.Invalid("priority", "priorities 0-999 are reserved for responders with *.k8s.io suffix")
	case n > maxPriority:
		p.Invalid("priority", "must be less than or equal to 100000")
	}
}
