package kinds

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/unversioned"
	"github.com/kubefake/kubefake/internal/validation"
)

// podMetadata checks the metadata of a pod once more, as kube-apiserver does on
// updates.
func podMetadata(p part) {
	meta := p.within("metadata")
	p.add(validation.ObjectMeta(meta.obj, true, validation.SubdomainName, meta.path))
	p.add(validation.FinalizerNames(meta.obj, meta.path))
}

// podUpdate returns the rule of what an update may make of a pod.
func podUpdate(old map[string]any) func(part) {
	return func(p part) {
		annotationsUpdate(p, old)
		podSpecUpdate(p.within("spec"), object.Map(old, "spec"))
	}
}

// annotationsUpdate checks which annotations of a pod come, go and change.
func annotationsUpdate(p part, old map[string]any) {
	annotations := p.within("metadata").within("annotations")
	was := object.Map(old, "metadata", "annotations")
	check := func(key, verb string) {
		switch {
		case strings.HasPrefix(key, appArmorPrefix):
			p.note(validation.Forbidden(annotations.path.Key(key), "may not "+verb+" AppArmor annotations"))
		case key == mirrorAnnotation:
			p.note(validation.Forbidden(annotations.path.Key(key), "may not "+verb+" mirror pod annotation"))
		}
	}
	for _, key := range sortedKeys(was) {
		if v, ok := annotations.obj[key]; !ok || v != was[key] {
			check(key, "remove or update")
		}
	}
	for _, key := range sortedKeys(annotations.obj) {
		if _, ok := was[key]; !ok {
			check(key, "add")
		}
	}
	podAnnotations(annotations, p.within("spec"))
}

// updatableFields says what an update may change.
const updatableFields = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`," +
	"`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"

// podSpecUpdate checks that a pod's specification changes only where it may.
//
// Differs from kube-apiserver: a list that was sent empty is told as null.
func podSpecUpdate(p part, old map[string]any) {
	for _, list := range []string{"containers", "initContainers"} {
		if p.size(list) != len(object.List(old, list)) {
			p.forbid(list, "pod updates may not add or remove containers")
			return
		}
		for _, c := range p.each(list) {
			c.needs("image")
			paddedImage(c)
		}
	}
	if !deadlineUpdate(p, old) {
		return
	}
	tolerationsUpdate(p, old)
	gatesUpdate(p, old)
	if validation.Equal(p.obj, old) {
		return
	}
	masked := copied(p.obj)
	for _, list := range []string{"containers", "initContainers"} {
		if containers := withImages(object.List(p.obj, list), object.List(old, list)); containers != nil {
			masked[list] = containers
		}
	}
	for _, name := range []string{"activeDeadlineSeconds", "schedulingGates", "tolerations"} {
		object.Keep(masked, old, name)
	}
	if grace, ok := object.Int(old, "terminationGracePeriodSeconds"); ok && grace < 0 && p.integer("terminationGracePeriodSeconds") == 1 {
		masked["terminationGracePeriodSeconds"] = grace
	}
	if len(object.List(old, "schedulingGates")) > 0 {
		gatedUpdate(p, old, masked)
	}
	if !validation.Equal(masked, old) {
		p.note(validation.Forbidden(p.path, "pod updates may not change fields other than "+updatableFields+"\n"+unversioned.Diff("core.PodSpec", old, masked)))
	}
}

// withImages are the containers with the images that the old ones have.
func withImages(containers, old []any) []any {
	var out []any
	for i, v := range containers {
		c, _ := v.(map[string]any)
		was, _ := old[i].(map[string]any)
		c = copied(c)
		object.Keep(c, was, "image")
		out = append(out, c)
	}
	return out
}

// deadlineUpdate checks that a deadline only comes nearer, and reports whether
// it makes sense to look further.
func deadlineUpdate(p part, old map[string]any) bool {
	was, had := object.Int(old, "activeDeadlineSeconds")
	n := p.integer("activeDeadlineSeconds")
	switch {
	case !p.has("activeDeadlineSeconds"):
		if had {
			p.invalid("activeDeadlineSeconds", "must not update from a positive integer to nil value")
		}
	case n < 0 || n > math.MaxInt32:
		p.between("activeDeadlineSeconds", 0, math.MaxInt32)
		return false
	case had && was < n:
		p.invalid("activeDeadlineSeconds", "must be less than or equal to previous value")
		return false
	}
	return true
}

// tolerationsUpdate checks that tolerations are only added, or last longer or
// shorter.
func tolerationsUpdate(p part, old map[string]any) {
	for was := range object.Each(old["tolerations"]) {
		stays := slices.ContainsFunc(object.List(p.obj, "tolerations"), func(v any) bool {
			now, _ := v.(map[string]any)
			same := copied(was)
			object.Keep(same, now, "tolerationSeconds")
			return validation.Equal(same, now)
		})
		if !stays {
			p.forbid("tolerations", "existing toleration can not be modified except its tolerationSeconds")
			return
		}
	}
	tolerations(p, "tolerations")
}

// gatesUpdate checks that scheduling gates only go.
func gatesUpdate(p part, old map[string]any) {
	known := names{}
	for gate := range object.Each(old["schedulingGates"]) {
		known[object.String(gate, "name")] = true
	}
	for _, gate := range p.each("schedulingGates") {
		if name := gate.text("name"); !known[name] {
			gate.forbid("name", fmt.Sprintf("only deletion is allowed, but found new scheduling gate '%s'", name))
		}
	}
}

// gatedUpdate checks how a pod that is not yet scheduled narrows the nodes that
// it can go to, and masks that.
func gatedUpdate(p part, old, masked map[string]any) {
	selector, was := object.Map(p.obj, "nodeSelector"), object.Map(old, "nodeSelector")
	for _, key := range sortedKeys(was) {
		if selector[key] != was[key] {
			p.invalid("nodeSelector", "only additions to spec.nodeSelector are allowed (no mutations or deletions)")
			break
		}
	}
	object.Keep(masked, old, "nodeSelector")

	affinity, oldAffinity := object.Map(p.obj, "affinity"), object.Map(old, "affinity")
	if validation.Equal(affinity["nodeAffinity"], oldAffinity["nodeAffinity"]) {
		return
	}
	nodeAffinityUpdate(p.within("affinity").within("nodeAffinity").within(requiredDuring), object.Map(oldAffinity, "nodeAffinity", requiredDuring))
	switch {
	case affinity == nil:
		masked["affinity"] = map[string]any{"nodeAffinity": oldAffinity["nodeAffinity"]}
	case oldAffinity == nil && affinity["podAffinity"] == nil && affinity["podAntiAffinity"] == nil:
		delete(masked, "affinity")
	default:
		affinity = copied(affinity)
		object.Keep(affinity, oldAffinity, "nodeAffinity")
		masked["affinity"] = affinity
	}
}

// nodeAffinityUpdate checks that each term that nodes have to satisfy only asks
// for more.
func nodeAffinityUpdate(p part, old map[string]any) {
	terms, was := object.List(p.obj, "nodeSelectorTerms"), object.List(old, "nodeSelectorTerms")
	if len(was) == 0 {
		return
	}
	path := p.at("nodeSelectorTerms")
	if len(terms) != len(was) {
		p.note(validation.Invalid(path, internal("[]core.NodeSelectorTerm", p.obj["nodeSelectorTerms"]), "no additions/deletions to non-empty NodeSelectorTerms list are allowed"))
		return
	}
	for i := range was {
		term, _ := terms[i].(map[string]any)
		oldTerm, _ := was[i].(map[string]any)
		if !narrows(term, oldTerm) {
			p.note(validation.Invalid(path.Index(i), internal("core.NodeSelectorTerm", term), "only additions are allowed (no mutations or deletions)"))
		}
	}
}

// narrows reports whether a term asks for all that it did, in front of what it
// asks for now. An empty term selects nothing, and cannot come to select.
func narrows(term, old map[string]any) bool {
	asked := false
	for _, name := range []string{"matchExpressions", "matchFields"} {
		now, was := object.List(term, name), object.List(old, name)
		asked = asked || len(was) > 0
		if len(now) < len(was) || !validation.Equal(now[:len(was)], was) {
			return false
		}
	}
	return asked || len(object.List(term, "matchExpressions"))+len(object.List(term, "matchFields")) == 0
}
