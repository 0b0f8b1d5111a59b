package scheduler

import (
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/controllers/volume"
	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/selector"
)

// volumes are the claims of a Pod.
type volumes struct {
	bound   []*controller.Object
	delayed []*controller.Object // to be bound when the Pod has a Node
}

// podVolumes returns the claims of a Pod, nil if it has none. If they keep the Pod from
// all Nodes, it returns the plugin and the reason.
func (s *scheduler) podVolumes(p *pod) (v *volumes, plugin, reason string) {
	for entry := range p.view().At("spec", "volumes").Objects() {
		name, ephemeral := pods.VolumeClaimName(p.object.Name, entry), !entry.IsNil("ephemeral")
		if name == "" {
			continue
		}
		if v == nil {
			v = &volumes{}
		}
		claim := s.claims.Get(p.object.Namespace, name)
		switch {
		case claim == nil && ephemeral:
			return nil, "VolumeBinding", fmt.Sprintf("waiting for ephemeral volume controller to create the persistentvolumeclaim %q", name)
		case claim == nil:
			return nil, "VolumeBinding", fmt.Sprintf("persistentvolumeclaim %q not found", name)
		case claim.View().String("status", "phase") == "Lost":
			return nil, "VolumeBinding", fmt.Sprintf("persistentvolumeclaim %q bound to non-existent persistentvolume %q", name, claim.View().String("spec", "volumeName"))
		case claim.Terminating:
			return nil, "VolumeBinding", fmt.Sprintf("persistentvolumeclaim %q is being deleted", name)
		case ephemeral && !claim.View().ControlledBy(p.object.UID):
			return nil, "VolumeBinding", fmt.Sprintf("PVC %s/%s was not created for pod %s/%s (pod is not owner)", claim.Namespace, name, claim.Namespace, p.object.Name)
		}
		switch {
		case volume.ClaimBound(claim.View()):
			v.bound = append(v.bound, claim)
		case volume.Delayed(s.classes.Get("", volume.Class(claim.View()))) && claim.View().String("spec", "volumeName") == "":
			v.delayed = append(v.delayed, claim)
		default:
			return nil, "VolumeBinding", "pod has unbound immediate PersistentVolumeClaims"
		}
	}
	return v, "", ""
}

// filterVolumeRestrictions is the plugin VolumeRestrictions for claims with the access
// mode ReadWriteOncePod.
func (s *scheduler) filterVolumeRestrictions(a *attempt, _ *node) *rejection {
	if a.volumes == nil {
		return nil
	}
	for _, list := range [][]*controller.Object{a.volumes.bound, a.volumes.delayed} {
		for _, claim := range list {
			for _, mode := range claim.View().Strings("spec", "accessModes") {
				if mode == "ReadWriteOncePod" && s.claimInUse(a.pod, claim.Name) {
					return unschedulable("node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod")
				}
			}
		}
	}
	return nil
}

func (s *scheduler) claimInUse(p *pod, claim string) bool {
	for k, other := range s.cache.assigned {
		if k.Namespace != p.object.Namespace || k == p.key() {
			continue
		}
		if s.cache.node(other.node).pods[k] == nil {
			continue // taken from the Node for the time of a preemption
		}
		for entry := range other.view().At("spec", "volumes").Objects() {
			if entry.String("persistentVolumeClaim", "claimName") == claim {
				return true
			}
		}
	}
	return false
}

// filterVolumes is the plugin VolumeBinding.
func (s *scheduler) filterVolumes(a *attempt, n *node) *rejection {
	if a.volumes == nil {
		return nil
	}
	var reasons []string
	for _, claim := range a.volumes.bound {
		v := s.volumes.Get("", claim.View().String("spec", "volumeName"))
		switch {
		case v == nil:
			reasons = append(reasons, "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)")
		case !volume.OnNode(v.View(), n.view()):
			reasons = append(reasons, "node(s) didn't match PersistentVolume's node affinity")
		default:
			continue
		}
		break
	}
	if _, ok := s.place(a, n); !ok {
		reasons = append(reasons, "node(s) didn't find available persistent volumes to bind")
	}
	if len(reasons) > 0 {
		return unresolvable(reasons...)
	}
	return nil
}

// A placement is how a delayed claim is bound for a Node.
type placement struct {
	claim  *controller.Object
	volume *controller.Object // nil: the provisioner makes one
}

// place returns how the delayed claims are bound for a Node. It fails if one can
// neither be matched with a volume nor provisioned.
func (s *scheduler) place(a *attempt, n *node) (out []placement, ok bool) {
	excluded := map[string]bool{}
	for _, claim := range a.volumes.delayed {
		if name, selected := volume.Annotation(claim.View(), volume.SelectedNode); selected {
			if name != n.name {
				return nil, false
			}
			out = append(out, placement{claim, nil})
			continue
		}
		if v := volume.Find(claim.View(), s.volumes.List("", selector.Labels{}), n.view(), true, excluded); v != nil {
			excluded[v.Name] = true
			out = append(out, placement{claim, v})
			continue
		}
		class := s.classes.Get("", volume.Class(claim.View()))
		if class == nil {
			return nil, false
		}
		if p := class.View().String("provisioner"); p == "" || p == volume.NoProvisioner || !permits(class.View(), n.object.Labels) {
			return nil, false
		}
		out = append(out, placement{claim, nil})
	}
	return out, true
}

// permits reports whether the allowedTopologies of a StorageClass permit a Node with
// the labels.
func permits(class object.View, labels map[string]string) bool {
	list := class.At("allowedTopologies")
	if list.Len() == 0 {
		return true
	}
next:
	for t := range list.Objects() {
		for e := range t.At("matchLabelExpressions").Objects() {
			value, ok := labels[e.String("key")]
			if !ok || !slices.Contains(e.Strings("values"), value) {
				continue next
			}
		}
		return true
	}
	return false
}

// bindVolumes begins to bind the delayed claims of a Pod for a Node. It reports whether
// there are any: then the Pod is bound when they are.
func (s *scheduler) bindVolumes(a *attempt, n *node) (bool, error) {
	if a.volumes == nil || len(a.volumes.delayed) == 0 {
		return false, nil
	}
	placements, ok := s.place(a, n)
	if !ok {
		return false, nil
	}
	for _, p := range placements {
		if p.volume != nil {
			if changed := volume.Refer(p.volume, p.claim); changed != nil {
				if _, err := s.client.Update(controller.PersistentVolumes, "", changed); err != nil {
					return true, err
				}
			}
			continue
		}
		if name, _ := volume.Annotation(p.claim.View(), volume.SelectedNode); name == n.name {
			continue
		}
		change := map[string]any{"metadata": map[string]any{"annotations": map[string]any{volume.SelectedNode: n.name}, "uid": p.claim.UID}}
		if _, err := s.client.StrategicPatch(controller.PersistentVolumeClaims, p.claim.Namespace, p.claim.Name, "", change); err != nil {
			return true, err
		}
	}
	return true, nil
}

// volumesBound reports whether all claims of a Pod are bound.
func (s *scheduler) volumesBound(p *pod) bool {
	v, _, reason := s.podVolumes(p)
	return reason == "" && (v == nil || len(v.delayed) == 0)
}
