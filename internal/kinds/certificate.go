package kinds

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

// prepareSigningRequest leaves a request as it was made.
func prepareSigningRequest(obj, old map[string]any) {
	if old != nil {
		object.Keep(obj, old, "spec")
	}
}

// stampSigningRequest says in a new request whose it is, and dates the
// conditions of one that is decided on.
func stampSigningRequest(obj, old map[string]any, by resource.Author) {
	if old == nil {
		spec := child(obj, "spec")
		for name, v := range map[string]any{"username": by.Name, "uid": by.UID, "groups": list(by.Groups), "extra": extra(by.Extra)} {
			if v == nil || v == "" {
				delete(spec, name)
			} else {
				spec[name] = v
			}
		}
		return
	}
	before := object.List(old, "status", "conditions")
	for condition := range object.Each(object.Value(obj, "status", "conditions")) {
		fill(condition, "lastUpdateTime", by.Now)
		if condition["lastTransitionTime"] != nil {
			continue
		}
		condition["lastTransitionTime"] = by.Now
		for c := range object.Each(before) {
			if same(c, condition, "type") && same(c, condition, "status") && c["lastTransitionTime"] != nil {
				condition["lastTransitionTime"] = c["lastTransitionTime"]
				break
			}
		}
	}
}

// list is a list of strings as a generic value, nil if it is empty.
func list(texts []string) any {
	if len(texts) == 0 {
		return nil
	}
	out := make([]any, len(texts))
	for i, s := range texts {
		out[i] = s
	}
	return out
}

// extra are a user's attributes as a generic value, nil if there are none.
func extra(attributes map[string][]string) any {
	if len(attributes) == 0 {
		return nil
	}
	out := make(map[string]any, len(attributes))
	for name, values := range attributes {
		out[name] = list(values)
	}
	return out
}
