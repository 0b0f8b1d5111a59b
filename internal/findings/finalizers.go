package findings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/story"
	"github.com/kubefake/kubefake/mvcc"
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
	for _, e := range b.Journal.Transactions() {
		for i := range e.What.Changes {
			c := &e.What.Changes[i]
			change := journal.NewChange(c)
			what := story.Target{Resource: change.Resource, Namespace: change.Namespace, Name: change.Name}
			if c.Type != mvcc.Put {
				delete(deletions, what)
				continue
			}
			o := c.Item.Value
			now, deleted := finalizersOf(o.JSON()), o.Terminating
			var before []string
			if c.Prev != nil {
				before = finalizersOf(c.Prev.Value.JSON())
			}
			for _, f := range now {
				if !deleted && !slices.Contains(before, f) { // a deletion adds those of its propagation policy
					adders[key{what, o.UID, f}] = client{e.What.Writer.User, e.What.Writer.UserAgent}
				}
			}
			switch d := deletions[what]; {
			case !deleted:
			case d != nil:
				d.finalizers = now
			default:
				deletions[what] = &deletion{e.Order, o.UID, now}
				order = append(order, what)
			}
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
	created := map[client][]story.Target{}
	reported := map[key]bool{}
	for _, e := range b.Journal.Transactions() {
		who := client{e.What.Writer.User, e.What.Writer.UserAgent}
		for i := range e.What.Changes {
			c := &e.What.Changes[i]
			if c.Type != mvcc.Put {
				continue
			}
			change := journal.NewChange(c)
			what := story.Target{Resource: change.Resource, Namespace: change.Namespace, Name: change.Name}
			o := c.Item.Value
			if c.Prev == nil {
				if len(ownersOf(o.JSON())) == 0 && !isRenewed(what.Resource) {
					created[who] = append(created[who], what)
				}
				continue
			}
			before := finalizersOf(c.Prev.Value.JSON())
			for _, f := range finalizersOf(o.JSON()) {
				if o.Terminating || slices.Contains(before, f) || reported[key{who, what}] {
					continue
				}
				after := slices.IndexFunc(created[who], func(t story.Target) bool {
					return t != what && (t.Name == what.Name || strings.HasPrefix(t.Name, what.Name+"-"))
				})
				if after >= 0 {
					reported[key{who, what}] = true
					b.add("finalizer-late", who, what.Resource, fmt.Sprintf("has added the finalizer %s to %s after it created %s",
						f, name(what), name(created[who][after])), "", e.Order)
				}
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

// finalizersOf returns the finalizers of an object in JSON.
func finalizersOf(text []byte) []string {
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
