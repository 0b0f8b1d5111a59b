package deployment

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
)

// Annotations of Deployments and their ReplicaSets.
const (
	revisionAnnotation = "deployment.kubernetes.io/revision"
	historyAnnotation  = "deployment.kubernetes.io/revision-history" // the revisions that a ReplicaSet had before
	desiredAnnotation  = "deployment.kubernetes.io/desired-replicas"
	maxAnnotation      = "deployment.kubernetes.io/max-replicas"
	rollbackAnnotation = "deprecated.deployment.rollback.to"
	applyAnnotation    = "kubectl.kubernetes.io/last-applied-configuration"
)

// hashLabel is the label with the hash of the Pod template.
const hashLabel = "pod-template-hash"

// ownAnnotations are those that are not copied between Deployments and ReplicaSets.
var ownAnnotations = map[string]bool{
	revisionAnnotation: true, historyAnnotation: true, desiredAnnotation: true, maxAnnotation: true, rollbackAnnotation: true, applyAnnotation: true,
}

// maxHistory is the maximum length of the history annotation.
const maxHistory = 2000

// annotations returns what the annotations of the newest ReplicaSet are to be, as the
// newest revision, and reports whether they differ from those that it has.
func (r *rollout) annotations(has object.View, revision int64) (want map[string]any, changed bool) {
	want = has.ShallowCopy()
	for k, v := range object.Map(r.obj, "metadata", "annotations") {
		if !ownAnnotations[k] && want[k] != v {
			want[k], changed = v, true
		}
	}
	old, had := want[revisionAnnotation].(string)
	n, err := strconv.ParseInt(old, 10, 64)
	if err != nil && old != "" {
		return want, false
	}
	if n >= revision {
		return want, changed
	}
	want[revisionAnnotation] = strconv.FormatInt(revision, 10)
	if had {
		want[historyAnnotation] = appendHistory(object.String(want, historyAnnotation), old)
	}
	return want, true
}

// appendHistory adds a revision to a list of them, and drops the first ones if it gets
// too long.
func appendHistory(history, revision string) string {
	if history == "" {
		return revision
	}
	for len(history)+len(revision)+1 > maxHistory {
		_, rest, ok := strings.Cut(history, ",")
		if !ok {
			return revision
		}
		history = rest
	}
	return history + "," + revision
}

// setRevision sets the revision of the Deployment.
func (r *rollout) setRevision(revision string) {
	annotations := object.EnsureMap(object.Meta(r.obj), "annotations")
	if annotations[revisionAnnotation] != revision {
		annotations[revisionAnnotation] = revision
		r.changed = true
	}
}

// revisionOf returns the revision of a ReplicaSet, 0 if it has none.
func revisionOf(rs *controller.Object) (int64, error) {
	s, ok := rs.View().At("metadata", "annotations", revisionAnnotation).Shared().(string)
	if !ok {
		return 0, nil
	}
	return strconv.ParseInt(s, 10, 64)
}

func maxRevision(sets []*controller.Object) (most int64) {
	for _, rs := range sets {
		if n, err := revisionOf(rs); err == nil {
			most = max(most, n)
		}
	}
	return most
}

// lastRevision returns the revision before the newest, 0 if there is none.
func lastRevision(sets []*controller.Object) (second int64) {
	most := int64(0)
	for _, rs := range sets {
		switch n, err := revisionOf(rs); {
		case err != nil:
		case n >= most:
			second, most = most, n
		case n > second:
			second = n
		}
	}
	return second
}

// sameTemplate reports whether two Pod templates are equal but for the hash label.
func sameTemplate(a, b object.View) bool {
	if !a.At("spec").Equal(b.At("spec")) {
		return false
	}
	x, y := a.At("metadata"), b.At("metadata")
	for _, field := range []string{"annotations", "finalizers", "name", "namespace", "generateName", "ownerReferences"} {
		if !equalOrEmpty(x.At(field), y.At(field)) {
			return false
		}
	}
	return sameLabels(x.At("labels"), y.At("labels"))
}

func sameLabels(a, b object.View) bool {
	other := 0
	for k, v := range a.Fields() {
		if k != hashLabel {
			if !b.At(k).Equal(v) {
				return false
			}
			other++
		}
	}
	for k := range b.Fields() {
		if k != hashLabel {
			other--
		}
	}
	return other == 0
}

func equalOrEmpty(a, b object.View) bool { return isEmpty(a) && isEmpty(b) || a.Equal(b) }

func isEmpty(v object.View) bool {
	switch v := v.Shared().(type) {
	case nil, object.EmptyMap:
		return true
	case string:
		return v == ""
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// replicas returns the number of Pods that a ReplicaSet should have.
func replicas(rs *controller.Object) int64 {
	return controller.IntOr(rs.View(), 1, "spec", "replicas")
}

// counter returns a number of the status of a ReplicaSet.
func counter(rs *controller.Object, name string) int64 {
	return controller.IntOr(rs.View(), 0, "status", name)
}

// count returns the number in an annotation of a ReplicaSet; false if there is none.
func count(rs *controller.Object, annotation string) (int64, bool) {
	n, err := strconv.ParseUint(rs.View().String("metadata", "annotations", annotation), 10, 32)
	return int64(n), err == nil && n <= math.MaxInt32
}

// active returns the ReplicaSets that should have Pods.
func active(sets []*controller.Object) (out []*controller.Object) {
	for _, rs := range sets {
		if replicas(rs) > 0 {
			out = append(out, rs)
		}
	}
	return out
}

func compareCreation(a, b *controller.Object) int {
	return cmp.Or(
		cmp.Compare(a.View().String("metadata", "creationTimestamp"), b.View().String("metadata", "creationTimestamp")),
		cmp.Compare(a.Name, b.Name),
	)
}

func sortByCreation(sets []*controller.Object) { slices.SortStableFunc(sets, compareCreation) }

func sortByRevision(sets []*controller.Object) {
	slices.SortStableFunc(sets, func(a, b *controller.Object) int {
		x, errX := revisionOf(a)
		y, errY := revisionOf(b)
		if errX != nil || errY != nil || x == y {
			return compareCreation(a, b)
		}
		return cmp.Compare(x, y)
	})
}

// maxName is the maximum length of the name of a ReplicaSet.
const maxName = 253

// replicaSetName returns the name of the ReplicaSet of a hash.
func replicaSetName(name, hash string) string {
	return name[:min(len(name), maxName-1-len(hash))] + "-" + hash
}
