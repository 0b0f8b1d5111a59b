package findings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/story"
)

// A deletion is an object that has finalizers and is being deleted.
type deletion struct {
	began      int64 // the position in the journal
	uid        string
	finalizers []string
}

// finalizers finds objects that are being deleted and keep a finalizer, while the client that has
// added it does something else.
func (b *builder) finalizers() {
	type key struct {
		story.Target
		uid, finalizer string
	}
	adders := map[key]client{}
	deletions := map[story.Target]*deletion{}
	var order []story.Target // of the deletions
	for c := range b.changes() {
		if c.now == nil {
			delete(deletions, c.what)
			continue
		}
		for _, f := range c.addedFinalizers() {
			adders[key{c.what, c.now.UID, f}] = c.who
		}
		switch d := deletions[c.what]; {
		case !c.now.Terminating:
		case d != nil:
			d.finalizers = finalizersOf(c.now)
		default:
			deletions[c.what] = &deletion{c.order, c.now.UID, finalizersOf(c.now)}
			order = append(order, c.what)
		}
	}
	for _, what := range order {
		d := deletions[what]
		if d == nil {
			continue // it is gone
		}
		delete(deletions, what) // a name may be there twice
		for _, f := range d.finalizers {
			who, ok := adders[key{what, d.uid, f}]
			if later, busy := b.after(who, what, d.began); ok && !busy && later >= minLater {
				b.add("finalizer-left", who, what.Resource, fmt.Sprintf("has added the finalizer %s to %s, which is being deleted, and %d other requests later it is still there",
					f, name(what), later), "", d.began)
			}
		}
	}
}

// lateFinalizers finds finalizers that a client adds to an object after it has created others for it,
// which a deletion in between leaves behind: they are named after the object, and not owned by it.
func (b *builder) lateFinalizers() {
	type key struct {
		client
		story.Target
	}
	type creation struct {
		order int64
		what  story.Target
	}
	created := map[client][]creation{}
	begun := map[story.Target]int64{} // when an object was created, unless it was before the journal
	reported := map[key]bool{}
	for c := range b.changes() {
		switch {
		case c.now == nil:
		case c.old == nil:
			begun[c.what] = c.order
			if len(ownersOf(c.now)) == 0 && !isRenewed(c.what.Resource) {
				created[c.who] = append(created[c.who], creation{c.order, c.what})
			}
		default:
			added := c.addedFinalizers()
			after := slices.IndexFunc(created[c.who], func(other creation) bool {
				return other.order > begun[c.what] && (other.what.Name == c.what.Name || strings.HasPrefix(other.what.Name, c.what.Name+"-"))
			})
			if k := (key{c.who, c.what}); len(added) > 0 && after >= 0 && !reported[k] {
				reported[k] = true
				b.add("finalizer-late", c.who, c.what.Resource, fmt.Sprintf("has added the finalizer %s to %s after it created %s",
					added[0], name(c.what), name(created[c.who][after].what)), "", c.order)
			}
		}
	}
}

// after returns how many requests of a client have arrived after a position of the journal, and whether it
// has asked for an object.
func (b *builder) after(who client, what story.Target, began int64) (later int, asked bool) {
	for i := range b.requests {
		if r := &b.requests[i]; r.What.Came >= began && r.client() == who && r.Verb != "watch" {
			later++
			asked = asked || r.target() == what
		}
	}
	return later, asked
}

// addedFinalizers returns the finalizers that a change has added. A deletion adds those of its
// propagation policy, which do not count.
func (c *change) addedFinalizers() []string {
	if c.now.Terminating {
		return nil
	}
	before := finalizersOf(c.old)
	return slices.DeleteFunc(finalizersOf(c.now), func(f string) bool { return slices.Contains(before, f) })
}

// finalizersOf returns the finalizers of an object, which may be nil.
func finalizersOf(o *storage.Object) []string {
	if o == nil {
		return nil
	}
	text := o.JSON()
	if !bytes.Contains(text, []byte(`"finalizers"`)) {
		return nil
	}
	var obj struct {
		Metadata struct {
			Finalizers []string `json:"finalizers"`
		} `json:"metadata"`
	}
	if json.Unmarshal(text, &obj) != nil {
		return nil // unreachable: the store has objects
	}
	return obj.Metadata.Finalizers
}
