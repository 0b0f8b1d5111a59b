package findings

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/story"
)

// ownerReferences finds owner references to what is no owner of the object.
func (b *builder) ownerReferences() {
	known := map[string]story.Target{} // objects by UID
	scanned := map[string]bool{}       // resources
	scan := func(apiVersion, kind string) (found bool) {
		group, version, ok := strings.Cut(apiVersion, "/")
		if !ok {
			group, version = "", apiVersion
		}
		for i := range b.usage.Requests {
			r := &b.usage.Requests[i]
			t := b.Type(r.Group, r.Version, r.Resource)
			if t == nil || t.Kind != kind || r.Group != group || r.Version != version {
				continue
			}
			if found = true; scanned[t.Prefix] {
				break
			}
			scanned[t.Prefix] = true
			for o := range b.Store.All(t.Prefix) {
				known[o.UID] = story.Target{Resource: groupResource(r.Group, r.Resource), Namespace: o.Namespace, Name: o.Name}
			}
			break
		}
		return found
	}
	for c := range b.changes() {
		if c.now != nil {
			known[c.now.UID] = c.what
		}
	}
	for c := range b.changes() {
		if c.now == nil {
			continue
		}
		references := ownersOf(c.now)
		if len(references) == 0 || object.Equal(any(references), any(ownersOf(c.old))) {
			continue
		}
		for reference := range object.Each(references) {
			kind := object.String(reference, "kind")
			owner := kind + " " + object.String(reference, "name")
			of, ok := known[object.String(reference, "uid")]
			if !ok && scan(object.String(reference, "apiVersion"), kind) {
				of, ok = known[object.String(reference, "uid")]
			} else if !ok {
				continue // the client has not asked for such objects here: they may exist
			}
			problem := ""
			switch {
			case !ok:
				problem = "no object has its UID"
			case of.Namespace != "" && of.Namespace != c.what.Namespace:
				problem = "that one is in namespace " + of.Namespace
			case of.Name != object.String(reference, "name"):
				problem = "the UID is that of " + name(of)
			}
			if problem != "" {
				b.add("owner-reference", c.who, c.what.Resource,
					fmt.Sprintf("%s has the owner %s, but %s", name(c.what), owner, problem), "", c.order)
			}
		}
	}
}

// ownersOf returns the owner references of an object, which may be nil.
func ownersOf(o *storage.Object) []any {
	if o == nil {
		return nil
	}
	text := o.JSON()
	if !bytes.Contains(text, []byte(`"ownerReferences"`)) {
		return nil
	}
	var obj struct {
		Metadata struct {
			OwnerReferences []any `json:"ownerReferences"`
		} `json:"metadata"`
	}
	if json.Unmarshal(text, &obj) != nil {
		return nil // unreachable: the store has objects
	}
	return obj.Metadata.OwnerReferences
}

// minEvents is how many Events for one object and reason are a finding.
const minEvents = 10

// events finds clients that create many Events for the same.
func (b *builder) events() {
	type key struct {
		client
		object, reason string
	}
	type reference struct {
		Kind, Namespace, Name string
	}
	counts := map[key]int{}
	for c := range b.changes() {
		if c.old != nil || c.now == nil || c.what.Resource != "events" && c.what.Resource != "events.events.k8s.io" {
			continue
		}
		var event struct {
			Reason                    string
			InvolvedObject, Regarding reference
		}
		if json.Unmarshal(c.now.JSON(), &event) != nil {
			continue // unreachable: the store has objects
		}
		of := cmp.Or(event.InvolvedObject, event.Regarding)
		k := key{c.who, strings.TrimSpace(of.Kind + " " + strings.TrimPrefix(of.Namespace+"/"+of.Name, "/")), event.Reason}
		if counts[k]++; counts[k] == minEvents {
			b.add("events-flood", k.client, "events", fmt.Sprintf("created %d Events %s for %s", minEvents, k.reason, k.object), "", c.order)
		}
	}
}
