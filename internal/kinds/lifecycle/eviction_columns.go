package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/table"
)

// evictionRequestCells returns the cells of an EvictionRequest.
func evictionRequestCells(r table.Row) []any {
	target, kind := targetOf(r)
	return []any{r.Name(), target, kind, statusOf(r), r.String("spec", "requester"), r.String("spec", "intent"), r.Age()}
}

// evictionCells returns the cells of an Eviction.
func evictionCells(r table.Row) []any {
	target, kind := targetOf(r)
	name, progress, finish, heartbeat, message := responderCells(r)
	return []any{r.Name(), target, kind, statusOf(r), name, progress, finish, requestersOf(r), r.Age(), heartbeat, message}
}

// targetOf returns the name and the kind of what is to be evicted.
func targetOf(r table.Row) (name, kind string) {
	if !r.Has("spec", "target", "pod") {
		return table.Unset, table.Unset
	}
	return r.String("spec", "target", "pod", "name"), "Pod"
}

// statusOf returns what the conditions say: the end of the eviction, or that it began.
func statusOf(r table.Row) string {
	status := "Pending"
	if r.Int("status", "observedGeneration") > 0 {
		status = "Progressing"
	}
	for _, typ := range []string{"Failed", "TargetEvicted"} {
		if r.HasCondition(typ) {
			status = fmt.Sprintf("%s (%s)", typ, object.String(r.Condition(typ), "reason"))
		}
	}
	return status
}

// responderCells returns the cells about the responder that is active or, if all have
// finished, the last one.
func responderCells(r table.Row) (name, progress, finish, heartbeat, message string) {
	var active, finished map[string]any
	all, begun := r.Objects("status", "targetResponders"), 0
	for _, responder := range all {
		switch object.String(responder, "state") {
		case "Active":
			active = responder
			begun++
		case "Canceled", "Interrupted", "Completed":
			finished = responder
			begun++
		}
	}
	if active == nil {
		active = finished
	}
	name, progress, finish, heartbeat, message = table.Unset, table.Unset, table.Unknown, table.Unset, table.Unset
	if active != nil {
		name = object.String(active, "name")
	}
	for _, responder := range r.Objects("status", "responders") {
		if active == nil || object.String(responder, "name") != name {
			continue
		}
		ago := func(field string) string { return table.Since(r.Now, object.String(responder, field)) }
		state := object.String(active, "state")
		progress = state
		switch state {
		case "Active":
			if responder["startTime"] == nil {
				break
			}
			progress = fmt.Sprintf("Started (%s ago)", ago("startTime"))
			if expected := table.ParseTime(object.String(responder, "expectedCompletionTime")); expected.After(r.Now) {
				finish = "in " + table.Duration(expected.Sub(r.Now))
			} else if !expected.IsZero() {
				finish = ago("expectedCompletionTime") + " ago"
			}
		case "Canceled", "Interrupted", "Completed":
			finish = "-"
			if state == "Completed" && responder["completionTime"] != nil {
				progress = fmt.Sprintf("%s (%s ago)", state, ago("completionTime"))
			}
		}
		if responder["heartbeatTime"] != nil {
			heartbeat = ago("heartbeatTime") + " ago"
		}
		message = cmp.Or(strings.TrimSpace(object.String(responder, "message")), table.Unset)
		break
	}
	return fmt.Sprintf("%s (%d/%d)", name, begun, len(all)), progress, finish, heartbeat, message
}

// requestersOf returns the first of those that have not withdrawn, and the number of the others.
func requestersOf(r table.Row) string {
	all := r.Objects("status", "requesters")
	var names []string
	for _, requester := range all {
		if object.String(requester, "intent") != "Withdrawn" {
			names = append(names, object.String(requester, "name"))
		}
	}
	slices.Sort(names)
	switch {
	case len(all) == 0:
		return table.None
	case len(names) == 0:
		return "<withdrawn>"
	case len(names) == 1:
		return names[0]
	}
	return fmt.Sprintf("%s + %d more...", names[0], len(names)-1)
}
