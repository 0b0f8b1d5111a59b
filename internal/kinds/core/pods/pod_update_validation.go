package pods

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/kinds/core/nodes"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// checkPodMetadata validates the metadata again. kube-apiserver does so on writes to
// subresources.
func checkPodMetadata(p validation.View) {
	meta := p.Field("metadata")
	p.AddList(validation.ObjectMeta(meta.Obj, true, validation.SubdomainName, meta.Path))
	p.AddList(validation.FinalizerNames(meta.Obj, meta.Path))
}

// podUpdateRule returns the rule for an update of a Pod.
func podUpdateRule(old object.View) func(validation.View) {
	return func(p validation.View) {
		checkAnnotationsUpdate(p, old)
		checkPodSpecUpdate(p.Field("spec"), old.At("spec"))
	}
}

// checkAnnotationsUpdate checks that mirror and AppArmor annotations do not change,
// and validates the annotations.
func checkAnnotationsUpdate(p validation.View, old object.View) {
	annotations := p.Field("metadata").Field("annotations")
	was := old.At("metadata", "annotations")
	forbid := func(key, verb string) {
		what := " AppArmor annotations"
		if key == MirrorAnnotation {
			what = " mirror pod annotation"
		}
		p.Add(validation.Forbidden(annotations.Path.Key(key), "may not "+verb+what))
	}
	for _, key := range keysWhere(was, isImmutableAnnotation) {
		if v, ok := annotations.Obj[key]; !ok || v != was.String(key) {
			forbid(key, "remove or update")
		}
	}
	for _, key := range keysWhere(annotations.Object(), isImmutableAnnotation) {
		if was.IsNil(key) {
			forbid(key, "add")
		}
	}
	CheckPodAnnotations(annotations, p.Field("spec"))
}

func isImmutableAnnotation(key string) bool {
	return key == MirrorAnnotation || strings.HasPrefix(key, appArmorPrefix)
}

// updatableFields lists the fields that an update can change, for the error message.
const updatableFields = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`," +
	"`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"

// checkPodSpecUpdate checks that only mutable fields of the spec change.
func checkPodSpecUpdate(p validation.View, old object.View) {
	for _, list := range []string{"containers", "initContainers"} {
		if p.Len(list) != old.Len(list) {
			p.Forbidden(list, "pod updates may not add or remove containers")
			return
		}
		for _, c := range p.Each(list) {
			c.Require("image")
			checkImageWhitespace(c)
		}
	}
	if !checkDeadlineUpdate(p, old) {
		return
	}
	checkTolerationsUpdate(p, old)
	checkGatesUpdate(p, old)
	if validation.Equal(p.Obj, old) {
		return
	}
	masked := object.ShallowCopy(p.Obj)
	for _, list := range []string{"containers", "initContainers"} {
		delete(masked, list)
		if containers := withImages(object.List(p.Obj, list), old.At(list)); containers != nil {
			masked[list] = containers
		}
	}
	for _, name := range []string{"activeDeadlineSeconds", "schedulingGates", "tolerations"} {
		object.Keep(masked, old, name)
	}
	if grace, ok := old.Int("terminationGracePeriodSeconds"); ok && grace < 0 && p.Int("terminationGracePeriodSeconds") == 1 {
		masked["terminationGracePeriodSeconds"] = grace
	}
	if old.Len("schedulingGates") > 0 {
		checkGatedUpdate(p, old, masked)
	}
	if !validation.Equal(masked, old) {
		p.Add(validation.Forbidden(p.Path, "pod updates may not change fields other than "+updatableFields+"\n").WithDiff("core.PodSpec", old.Shared(), masked))
	}
}

// withImages returns containers with the images of old.
func withImages(containers []any, old object.View) []any {
	var out []any
	for i, v := range containers {
		c, _ := v.(map[string]any)
		was := old.Item(i)
		c = object.ShallowCopy(c)
		object.Keep(c, was, "image")
		out = append(out, c)
	}
	return out
}

// checkDeadlineUpdate checks that activeDeadlineSeconds is not increased or removed.
// It returns whether kube-apiserver continues the validation.
func checkDeadlineUpdate(p validation.View, old object.View) bool {
	was, had := old.Int("activeDeadlineSeconds")
	n := p.Int("activeDeadlineSeconds")
	switch {
	case !p.Has("activeDeadlineSeconds"):
		if had {
			p.Invalid("activeDeadlineSeconds", "must not update from a positive integer to nil value")
		}
	case n < 0 || n > math.MaxInt32:
		p.InRange("activeDeadlineSeconds", 0, math.MaxInt32)
		return false
	case had && was < n:
		p.Invalid("activeDeadlineSeconds", "must be less than or equal to previous value")
		return false
	}
	return true
}

// checkTolerationsUpdate checks that existing tolerations change only their
// tolerationSeconds.
func checkTolerationsUpdate(p validation.View, old object.View) {
	now := object.List(p.Obj, "tolerations")
	for was := range old.At("tolerations").Objects() {
		if !hasToleration(now, was) {
			p.Forbidden("tolerations", "existing toleration can not be modified except its tolerationSeconds")
			return
		}
	}
	nodes.CheckTolerations(p, "tolerations")
}

// hasToleration reports whether one of the tolerations equals was except for its
// tolerationSeconds.
func hasToleration(tolerations []any, was object.View) bool {
	if slices.ContainsFunc(tolerations, func(v any) bool { return object.ViewOf(v).Same(was) }) {
		return true
	}
	same := was.ShallowCopy()
	return slices.ContainsFunc(tolerations, func(v any) bool {
		now := object.ViewOf(v)
		object.Keep(same, now, "tolerationSeconds")
		return validation.Equal(same, now)
	})
}

// checkGatesUpdate checks that no scheduling gate is added.
func checkGatesUpdate(p validation.View, old object.View) {
	known := validation.Seen{}
	for gate := range old.At("schedulingGates").Objects() {
		known[gate.String("name")] = true
	}
	for _, gate := range p.Each("schedulingGates") {
		if name := gate.String("name"); !known[name] {
			gate.Forbidden("name", fmt.Sprintf("only deletion is allowed, but found new scheduling gate '%s'", name))
		}
	}
}

// checkGatedUpdate validates changes of the nodeSelector and nodeAffinity of a Pod
// with scheduling gates, and sets both fields in masked to the old values. Such a
// Pod may narrow the set of nodes.
func checkGatedUpdate(p validation.View, old object.View, masked map[string]any) {
	selector, was := object.Map(p.Obj, "nodeSelector"), old.At("nodeSelector")
	for key, v := range was.Fields() {
		if !v.EqualTo(selector[key]) {
			p.Invalid("nodeSelector", "only additions to spec.nodeSelector are allowed (no mutations or deletions)")
			break
		}
	}
	object.Keep(masked, old, "nodeSelector")

	affinity, oldAffinity := object.Map(p.Obj, "affinity"), old.At("affinity")
	if validation.Equal(affinity["nodeAffinity"], oldAffinity.At("nodeAffinity")) {
		return
	}
	checkNodeAffinityUpdate(p.Field("affinity").Field("nodeAffinity").Field(requiredDuring), oldAffinity.At("nodeAffinity", requiredDuring))
	switch {
	case affinity == nil:
		masked["affinity"] = map[string]any{"nodeAffinity": oldAffinity.At("nodeAffinity").Shared()}
	case oldAffinity.IsNil() && affinity["podAffinity"] == nil && affinity["podAntiAffinity"] == nil:
		delete(masked, "affinity")
	default:
		affinity = object.ShallowCopy(affinity)
		object.Keep(affinity, oldAffinity, "nodeAffinity")
		masked["affinity"] = affinity
	}
}

// checkNodeAffinityUpdate checks that requirements are only added to the required
// terms.
func checkNodeAffinityUpdate(p validation.View, old object.View) {
	terms, was := object.List(p.Obj, "nodeSelectorTerms"), old.At("nodeSelectorTerms")
	if was.Len() == 0 {
		return
	}
	path := p.At("nodeSelectorTerms")
	if len(terms) != was.Len() {
		p.Add(validation.Invalid(path, validation.AsGoType("[]core.NodeSelectorTerm", p.Obj["nodeSelectorTerms"]), "no additions/deletions to non-empty NodeSelectorTerms list are allowed"))
		return
	}
	for i := range was.Items() {
		term, _ := terms[i].(map[string]any)
		oldTerm := was.Item(i)
		if !onlyAdds(term, oldTerm) {
			p.Add(validation.Invalid(path.Index(i), validation.AsGoType("core.NodeSelectorTerm", term), "only additions are allowed (no mutations or deletions)"))
		}
	}
}

// onlyAdds reports whether term starts with all requirements of old. An empty term
// selects no node, and must stay empty.
func onlyAdds(term map[string]any, old object.View) bool {
	asked := false
	for _, name := range []string{"matchExpressions", "matchFields"} {
		now, was := object.List(term, name), old.At(name)
		asked = asked || was.Len() > 0
		if len(now) < was.Len() || !validation.Equal(now[:was.Len()], was) {
			return false
		}
	}
	return asked || len(object.List(term, "matchExpressions"))+len(object.List(term, "matchFields")) == 0
}
