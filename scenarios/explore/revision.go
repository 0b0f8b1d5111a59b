package explore

import (
	"maps"
	"slices"
	"strconv"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/object"
)

// An ended is an object at the end of a run.
type ended struct {
	text string // normalized
	old  bool   // it is a revision that is not the newest, and runs nothing
}

// The annotations in which the controller of Deployments counts templates.
const (
	revisionAnnotation = "deployment.kubernetes.io/revision"
	historyAnnotation  = "deployment.kubernetes.io/revision-history"
)

// revisionOf returns the number of a ControllerRevision, or of a ReplicaSet or Deployment, 0 if an object
// has none.
func revisionOf(o fakeapi.Object) int64 {
	if object.String(o, "kind") == "ControllerRevision" {
		n, _ := object.Int(o, "revision")
		return n
	}
	n, err := strconv.ParseInt(object.String(o, "metadata", "annotations", revisionAnnotation), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// newestRevisions returns the newest revision that the controlled objects of each owner have, by UID.
func newestRevisions(live map[objectKey]*life) map[string]int64 {
	newest := map[string]int64{}
	for _, l := range live {
		if owner := object.String(controllerRef(l.change.object), "uid"); owner != "" {
			newest[owner] = max(newest[owner], revisionOf(l.change.object))
		}
	}
	return newest
}

// withoutRevision returns an object with a word for its revision, and whether it is history only. The number
// depends on how many templates the controller has seen. That it is the newest one does not.
func withoutRevision(o fakeapi.Object, newest map[string]int64) (out fakeapi.Object, old bool) {
	revision := revisionOf(o)
	if revision == 0 {
		return o, false
	}
	owner := controllerRef(o)
	last := newest[uidOf(o)] // of a Deployment
	if owner != nil {
		last = newest[object.String(owner, "uid")]
	}
	word := "<old>"
	if revision == last {
		word = "<newest>"
	}
	out = maps.Clone(o)
	if object.String(o, "kind") == "ControllerRevision" {
		out["revision"] = word
		return out, revision != last
	}
	annotations := maps.Clone(object.Map(o, "metadata", "annotations"))
	annotations[revisionAnnotation] = word
	delete(annotations, historyAnnotation)
	meta := maps.Clone(object.Map(o, "metadata"))
	meta["annotations"] = annotations
	out["metadata"] = meta
	return out, revision != last && owner != nil && !asks(o)
}

// withoutMissedHistory returns the objects that a run should have: those of the reference run without the
// old revisions that it has not, because a system that is stopped does not see each template.
func withoutMissedHistory(want, got []ended) []ended {
	missed := len(want) - len(got)
	return slices.DeleteFunc(slices.Clone(want), func(e ended) bool {
		if missed <= 0 || !e.old || slices.Contains(got, e) {
			return false
		}
		missed--
		return true
	})
}
