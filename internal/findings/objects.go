package findings

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/story"
	"github.com/kubefake/kubefake/mvcc"
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
	transactions := b.Journal.Transactions()
	for _, e := range transactions {
		for i := range e.What.Changes {
			c := &e.What.Changes[i]
			if c.Type == mvcc.Put {
				change := journal.NewChange(c)
				known[c.Item.Value.UID] = story.Target{Resource: change.Resource, Namespace: change.Namespace, Name: change.Name}
			}
		}
	}
	for _, e := range transactions {
		for i := range e.What.Changes {
			c := &e.What.Changes[i]
			if c.Type != mvcc.Put || !bytes.Contains(c.Item.Value.JSON(), []byte(`"ownerReferences"`)) {
				continue
			}
			references := ownersOf(c.Item.Value.JSON())
			if c.Prev != nil && object.Equal(any(references), any(ownersOf(c.Prev.Value.JSON()))) {
				continue
			}
			change := journal.NewChange(c)
			what := story.Target{Resource: change.Resource, Namespace: change.Namespace, Name: change.Name}
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
				case of.Namespace != "" && of.Namespace != what.Namespace:
					problem = "that one is in namespace " + of.Namespace
				case of.Name != object.String(reference, "name"):
					problem = "the UID is that of " + name(of)
				}
				if problem != "" {
					b.add("owner-reference", client{e.What.Writer.User, e.What.Writer.UserAgent}, what.Resource,
						fmt.Sprintf("%s has the owner %s, but %s", name(what), owner, problem), "", e.Order)
				}
			}
		}
	}
}

// ownersOf returns the owner references of an object in JSON.
func ownersOf(text []byte) []any {
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
	for _, e := range b.Journal.Transactions() {
		for i := range e.What.Changes {
			c := &e.What.Changes[i]
			if c.Prev != nil || c.Type != mvcc.Put {
				continue
			}
			resource, _, _ := journal.SplitKey(c.Item.Key)
			if resource != "events" && resource != "events.events.k8s.io" {
				continue
			}
			var event struct {
				Reason                    string
				InvolvedObject, Regarding reference
			}
			if json.Unmarshal(c.Item.Value.JSON(), &event) != nil {
				continue // unreachable: the store has objects
			}
			of := cmp.Or(event.InvolvedObject, event.Regarding)
			k := key{client{e.What.Writer.User, e.What.Writer.UserAgent}, strings.TrimSpace(of.Kind + " " + strings.TrimPrefix(of.Namespace+"/"+of.Name, "/")), event.Reason}
			if counts[k]++; counts[k] == minEvents {
				b.add("events-flood", k.client, "events", fmt.Sprintf("created %d Events %s for %s", minEvents, k.reason, k.object), "", e.Order)
			}
		}
	}
}
