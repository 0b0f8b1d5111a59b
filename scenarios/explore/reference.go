package explore

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/journal"
	"github.com/kubefake/kubefake/internal/object"
)

// What a reference run does wrong must not be the measure of other runs. These oracles judge it by
// itself, so they report only what no system wants.

// judgeReference reports what is wrong with the run itself.
func (j *judgement) judgeReference() {
	for _, key := range sortedKeys(j.run.orphans, j.run.leftovers) {
		if owner := j.run.orphans[key]; owner != "" {
			j.report(Orphans, key, "", "it ends with an owner that does not exist: "+owner)
		} else {
			j.report(Orphans, key, "", fmt.Sprintf("it is left behind: %s was deleted, for which the system has created it, and is not its owner", j.run.leftovers[key]))
		}
	}
	for _, key := range sortedKeys(j.run.doubles, nil) {
		j.report(Duplicates, key, "", fmt.Sprintf("%d that are equal, created one after the other", j.run.doubles[key]))
	}
	for _, key := range sortedKeys(j.run.attempts, nil) {
		budget := spareWrites + 2*(len(j.run.changes)-j.run.writes[key])
		if got := j.run.attempts[key]; key.name != "" && got > budget {
			j.report(WriteBudget, key, "", fmt.Sprintf("the system has tried to write it %s, while there were %d changes of other objects", times(got), len(j.run.changes)-j.run.writes[key]))
		}
	}
}

// findLeftovers sets leftovers: the objects that the system has created for an object of the users,
// and that stay when that is deleted, because they do not have it as their owner. That an object
// is for another one shows in its name, its labels or its annotations.
func (o *outcome) findLeftovers(live map[objectKey]*life, dead []*life) {
	o.leftovers = map[objectKey]string{}
	for _, l := range live {
		if !l.system || object.Value(l.change.object, "metadata", "ownerReferences") != nil || uidOf(l.change.object) == "" ||
			object.Value(l.change.object, "metadata", "deletionTimestamp") != nil {
			continue
		}
		for _, d := range dead {
			during := d.born < l.born && l.born < d.change.revision
			if during && !d.system && !d.dependent && !d.before && refersTo(l.change.object, d.last) && !hasNamesake(live, d) {
				o.leftovers[l.class] = d.change.key().String()
			}
		}
	}
}

// hasNamesake reports whether an object exists that the system has not created, with the name of a
// deleted one.
func hasNamesake(live map[objectKey]*life, d *life) bool {
	for key, l := range live {
		if !l.system && key.name == d.change.what.Name {
			return true
		}
	}
	return false
}

// refersTo reports whether an object has the name or the UID of another one in its name, its
// labels or its annotations.
func refersTo(o, other fakeapi.Object) bool {
	name := other.Name()
	if strings.Contains("-"+o.Name()+"-", "-"+name+"-") {
		return true
	}
	for _, field := range []string{"labels", "annotations"} {
		for _, v := range object.Map(o, "metadata", field) {
			if v == name || v == other.Namespace()+"/"+name || v == uidOf(other) {
				return true
			}
		}
	}
	return false
}

// A twin is an object with a generated name of which another one may be a duplicate.
type twin struct {
	class objectKey
	owner string // UID
	text  string
}

// findDoubles sets doubles: how many equal objects with generated names the system has created for
// one change by users, where one is enough.
func (o *outcome) findDoubles(n *normalizer) {
	o.doubles = map[objectKey]int{}
	owners := map[string]fakeapi.Object{} // newest objects, by UID
	for _, phase := range phases(o.changes) {
		for _, c := range phase {
			if c.object != nil {
				owners[uidOf(c.object)] = c.object
			}
		}
		for t, members := range n.twins(phase) {
			if o.areDoubles(members, owners[t.owner]) {
				o.doubles[t.class] = max(o.doubles[t.class], len(members))
			}
		}
	}
}

// phases returns the changes in parts. A part begins with a change by users.
func phases(changes []change) (parts [][]change) {
	begin := 0
	for i, c := range changes {
		if !c.system && !c.cluster {
			parts = append(parts, changes[begin:i])
			begin = i
		}
	}
	return append(parts, changes[begin:])
}

// twins returns the objects with generated names that the system has created and nobody has deleted
// since, in the order of their creation.
func (n *normalizer) twins(phase []change) map[twin][]*change {
	groups := map[twin][]*change{}
	for i := range phase {
		c := &phase[i]
		switch class := n.class(c.key()); {
		case c.object == nil:
			for t, members := range groups {
				groups[t] = slices.DeleteFunc(members, func(m *change) bool { return m.key() == c.key() })
			}
		case c.system && c.what.Type == journal.Added && strings.HasSuffix(class.name, "*"):
			wanted := maps.Clone(c.object)
			delete(wanted, "status")
			t := twin{class, object.String(controllerRef(c.object), "uid"), n.text(wanted)}
			groups[t] = append(groups[t], c)
		}
	}
	return groups
}

// areDoubles reports whether one of the twins would be enough: the system has created the last one
// after it has seen something else than the first, and their number is not in their owner, as that
// of replicas is.
func (o *outcome) areDoubles(twins []*change, owner fakeapi.Object) bool {
	return len(twins) > 1 && o.sawEvents(twins[0].revision, twins[len(twins)-1].revision) &&
		!hasNumber(map[string]any(owner), len(twins))
}

// sawEvents reports whether events were delivered to the system between two of its writes.
func (o *outcome) sawEvents(first, last int64) bool {
	after := false
	for _, p := range o.points {
		switch {
		case p.committed == first:
			after = true
		case p.committed == last:
			return false
		case after && p.Event != "":
			return true
		}
	}
	return false
}

// hasNumber reports whether a value has a number, or as many elements.
func hasNumber(v any, n int) bool {
	switch v := v.(type) {
	case int64:
		return v == int64(n)
	case map[string]any:
		for k, e := range v {
			if k != "metadata" && hasNumber(e, n) {
				return true
			}
		}
	case []any:
		if len(v) == n {
			return true
		}
		return slices.ContainsFunc(v, func(e any) bool { return hasNumber(e, n) })
	}
	return false
}
