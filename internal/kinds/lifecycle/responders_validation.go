package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

const (
	// allowedSkew is how far clocks of responders may be from that of the server.
	allowedSkew = 30 * time.Second
	// heartbeatDeadline is how long a responder stays active without a sign of life.
	heartbeatDeadline = 20 * time.Minute
	// maxExpectedTime is how far in the future a responder may expect to complete.
	maxExpectedTime = 10 * 365 * 24 * time.Hour
)

const (
	// reservedPriorities is the lowest priority that responders of users may have.
	reservedPriorities = 1000
	// evictor is the responder of Kubernetes, which has evictorPriority.
	evictor         = "imperative-eviction.k8s.io/evictor"
	evictorPriority = 100
)

// The states of a target responder. Of several responders one is active, in the order of their
// priorities, until it is in a final state:
//
//	Inactive --> Active --> Canceled, Completed or Interrupted
const (
	stateActive      = "Active"
	stateCanceled    = "Canceled"
	stateCompleted   = "Completed"
	stateInactive    = "Inactive"
	stateInterrupted = "Interrupted"
)

// The times of a responder.
const (
	startTime      = "startTime"
	heartbeatTime  = "heartbeatTime"
	expectedTime   = "expectedCompletionTime"
	completionTime = "completionTime"

	notPresent = "must be set to the present time"
)

var finalStates = []string{stateCanceled, stateCompleted, stateInterrupted}

// A progress is a change of the status of an Eviction. Several clients write it: the controller the
// states of the target responders, and each active responder its own entry of responders.
type progress struct {
	status validation.View
	old    object.View // the status before
	now    time.Time
	final  bool // the target is evicted, or the Eviction has failed
}

// validateProgress checks a change of the status of an Eviction.
func validateProgress(w *resource.Write) validation.List {
	status, old := object.Map(w.Object, "status"), w.Old.At("status")
	if w.Old.IsNil() || validation.Equal(status, old) {
		return nil
	}
	return validation.Collect(w.Object, nil, func(p validation.View) {
		c := &progress{status: p.Field("status"), old: old, now: *timeOf(w.Author.Now)}
		c.checkConditions()
		c.checkTargets()
		c.checkResponders()
	})
}

// timeOf returns a time, nil if text is none.
func timeOf(text string) *time.Time {
	t, ok := validation.Timestamp(text)
	if !ok {
		return nil
	}
	return &t
}

// checkConditions checks that conditions that end an Eviction stay, and sets final.
func (c *progress) checkConditions() {
	path := c.status.At("conditions")
	c.status.AddList(validation.Conditions(object.List(c.status.Obj, "conditions"), path))
	for _, typ := range []string{"TargetEvicted", "Failed"} {
		c.final = c.final || named(object.ViewOf(c.status.Obj["conditions"]), "type", typ).String("status") == "True"
	}
	for was := range c.old.At("conditions").Objects() {
		typ := was.String("type")
		if typ != "TargetEvicted" && typ != "Failed" || was.String("status") != "True" {
			continue
		}
		is := named(object.ViewOf(c.status.Obj["conditions"]), "type", typ)
		if is.IsNil() || is.String("status") == "False" || is.String("reason") != was.String("reason") {
			c.status.Add(validation.Invalid(path, validation.AsGoType("[]metav1.Condition", c.status.Obj["conditions"]), typ+" condition status cannot be reverted"))
			c.final = true
		}
	}
}

// named returns the first object of a list whose member key has a value, nil if there is none.
func named(list object.View, key, value string) object.View {
	for item := range list.Objects() {
		if item.String(key) == value {
			return item
		}
	}
	return object.View{}
}

// keysChange returns why the names in a list are not those of another one: detail, with what of the
// lengths if they differ; "" if they are.
func keysChange(list []any, other object.View, lengths, detail string) string {
	if len(list) != other.Len() {
		return lengths
	}
	for item := range other.Objects() {
		if named(object.ViewOf(list), "name", item.String("name")).IsNil() {
			return detail
		}
	}
	return ""
}

// checkTargets checks that responders become active and finish in their order.
func (c *progress) checkTargets() {
	list, was := object.List(c.status.Obj, "targetResponders"), c.old.At("targetResponders")
	if was.Len() > 0 {
		if detail := keysChange(list, was, "must preserve the same length and the same keys", "must preserve the same keys"); detail != "" {
			c.status.Add(validation.Invalid(c.status.At("targetResponders"), validation.AsGoType("[]lifecycle.TargetResponder", c.status.Obj["targetResponders"]), detail))
			return
		}
	}
	if len(list) > maxResponders || hasDuplicates(list) {
		return // which validateEvictionStatus refuses
	}
	var targets []validation.View
	for _, target := range c.status.Each("targetResponders") {
		targets = append(targets, target)
	}
	slices.SortStableFunc(targets, func(a, b validation.View) int { return compareTargets(a.Object(), b.Object()) })
	t := c.turns(targets, was)
	for i, target := range targets {
		states, why := t.expected(i)
		c.checkTarget(target, states, why)
	}
}

// hasDuplicates reports whether two objects of a list have the same name.
func hasDuplicates(list []any) bool {
	names := map[string]bool{}
	for item := range object.Each(list) {
		names[object.String(item, "name")] = true
	}
	return len(names) < len(list)
}

// turns says which target responder's turn it is.
type turns struct {
	before []string // the states before, in the order of the turns; none for a new list
	active int      // the index in before of the active one, -1 for none
	ended  bool     // the active one is active no more
	final  bool     // the Eviction has ended
}

// turns returns the turns of targets, which are sorted. was is the list before.
func (c *progress) turns(targets []validation.View, was object.View) turns {
	sorted := slices.Collect(was.Objects())
	slices.SortStableFunc(sorted, compareTargets)
	t := turns{final: c.final}
	for _, target := range sorted {
		t.before = append(t.before, target.String("state"))
	}
	t.active = slices.Index(t.before, stateActive)
	t.ended = t.active >= 0 && targets[t.active].String("state") != stateActive
	return t
}

// expected returns the states that the i-th target responder may have, and why.
func (t turns) expected(i int) (states []string, why string) {
	n := len(t.before)
	switch {
	case i < t.active, n > 0 && t.active < 0 && (t.final || slices.Contains(finalStates, t.before[n-1])):
		return []string{t.before[i]}, "final state is immutable"
	case i == t.active && t.ended:
		return finalStates, "this responder must reach a final state"
	case i == t.active && t.final:
		return finalStates, "the eviction request has finished processing"
	case i == t.active:
		return []string{stateActive}, "the eviction request stays active"
	case i == 0 && n == 0, i == t.active+1 && t.ended:
		if t.final {
			return []string{stateInactive}, "the eviction request has finished processing"
		}
		return []string{stateActive}, "this responder is next in line"
	}
	return []string{stateInactive}, "the previously active has not finished processing"
}

// checkTarget checks a target responder that may have some states.
func (c *progress) checkTarget(target validation.View, states []string, why string) {
	name, state := target.String("name"), target.String("state")
	responder := named(object.ViewOf(c.status.Obj["responders"]), "name", name)
	if responder.IsNil() {
		target.Add(validation.Invalid(target.Path, validation.AsGoType("lifecycle.TargetResponder", target.Obj), fmt.Sprintf("%q has to be tracked in status.responders first", name)))
		return
	}
	if priority := target.Int("priority"); target.Has("priority") && priority >= 0 {
		switch {
		case name == evictor && priority != evictorPriority:
			target.Invalid("priority", fmt.Sprintf("core k8s responder is expected to have priority: %d", evictorPriority))
		case name != evictor && priority < reservedPriorities:
			target.Invalid("priority", "priorities 0-999 are reserved for responders with *.k8s.io suffix")
		}
	}
	if !slices.Contains(states, state) {
		target.InvalidNamed("state", fmt.Sprintf("must be one of: %s, because %s", strings.Join(states, ", "), why))
		return
	}
	start, completion := timeOf(responder.String(startTime)), timeOf(responder.String(completionTime))
	if state != stateActive && start != nil && completion == nil && !c.final {
		heartbeat := cmp.Or(timeOf(responder.String(heartbeatTime)), start)
		if c.now.Before(heartbeat.Add(heartbeatDeadline - allowedSkew)) {
			target.Forbidden("state", "must stay Active because the responder is in progress and it should report status.responders.heartbeatTime or status.responders.completionTime")
		}
	}
	if state == stateCompleted && completion == nil {
		target.InvalidNamed("state", "cannot become Completed because the responder didn't report status.responders.completionTime")
	}
}

// compareTargets compares target responders by their turns: by priority, the highest first, and then by the
// domains in their names, from the right.
func compareTargets(a, b object.View) int {
	p, ok := a.Int("priority")
	q, known := b.Int("priority")
	if ok != known || p != q {
		if !ok || known && p < q {
			return 1
		}
		return -1
	}
	domain, key, _ := strings.Cut(a.String("name"), "/")
	other, otherKey, _ := strings.Cut(b.String("name"), "/")
	return cmp.Or(slices.Compare(labelsOf(domain), labelsOf(other)), strings.Compare(key, otherKey))
}

// labelsOf returns the labels of a domain, the top one first.
func labelsOf(domain string) []string {
	labels := strings.Split(domain, ".")
	slices.Reverse(labels)
	return labels
}

// checkResponders checks what responders report.
func (c *progress) checkResponders() {
	targets, list := object.List(c.status.Obj, "targetResponders"), object.List(c.status.Obj, "responders")
	detail := keysChange(list, object.ViewOf(targets), "must be the same length as status.targetResponders and contain the same keys", "must contain the same keys as status.targetResponders")
	if detail != "" {
		c.status.Add(validation.Invalid(c.status.At("responders"), validation.AsGoType("[]lifecycle.ResponderStatus", c.status.Obj["responders"]), detail))
		return
	}
	if len(list) > maxResponders || hasDuplicates(list) {
		return // which validateEvictionStatus refuses
	}
	for _, responder := range c.status.Each("responders") {
		name := responder.String("name")
		old := named(c.old.At("responders"), "name", name)
		target := named(object.ViewOf(c.status.Obj["targetResponders"]), "name", name)
		c.checkResponder(responder, old, target.String("state") == stateActive)
	}
}

// checkResponder checks what a responder reports. Only an active one changes it. old is what it has reported
// before, nil for nothing.
func (c *progress) checkResponder(r validation.View, old object.View, active bool) {
	if !old.IsNil() && !active && !validation.Equal(r.Obj, old) {
		r.Add(validation.Invalid(r.Path, validation.AsGoType("lifecycle.ResponderStatus", r.Obj), "field is immutable"))
		return
	}
	was := func(name string) string { return old.String(name) }
	changed := func(name string) bool { return r.Has(name) && r.String(name) != was(name) }
	switch {
	case was(startTime) != "" && r.String(startTime) != was(startTime): // which validateEvictionStatus refuses
	case !r.Has(startTime) && active:
		r.Required(startTime, "is required for an active responder")
	case changed(startTime) && !c.isPresent(timeOf(r.String(startTime))):
		r.Invalid(startTime, notPresent)
	}
	if was(heartbeatTime) != "" && !r.Has(heartbeatTime) {
		r.Required(heartbeatTime, "is required once set")
	}
	for _, name := range []string{heartbeatTime, expectedTime} {
		if changed(name) {
			c.checkTime(r, name, was(name))
		}
	}
	if r.Has(completionTime) && (was(completionTime) == "" || !changed(completionTime)) {
		c.checkTime(r, completionTime, was(completionTime))
	}
}

// checkTime compares a time of a responder with its start, with the time that it replaces, "" for none, and with
// that of the server.
func (c *progress) checkTime(r validation.View, name, was string) {
	t, start, before := timeOf(r.String(name)), timeOf(r.String(startTime)), timeOf(was)
	switch {
	case start == nil:
		r.Invalid(name, fmt.Sprintf("cannot be set before %s is set", r.At(startTime)))
	case name == heartbeatTime && before != nil && t.Before(*before):
		r.Invalid(name, "cannot be decreased")
	case t.Before(*start):
		r.Invalid(name, fmt.Sprintf("must occur after %s", r.At(startTime)))
	case name == expectedTime && t.Before(c.now.Add(-allowedSkew)):
		r.Invalid(name, "cannot be set to the past time")
	case name == expectedTime && t.After(c.now.Add(maxExpectedTime)):
		r.Invalid(name, "must complete within 10 years")
	case name != expectedTime && r.String(name) != was && !c.isPresent(t):
		r.Invalid(name, notPresent)
	}
}

// isPresent reports whether a time is about that of the server.
func (c *progress) isPresent(t *time.Time) bool { return t.Sub(c.now).Abs() < allowedSkew }
