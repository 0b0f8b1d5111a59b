package kubelet

import (
	"time"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/controllers/lifecycle"
)

// A delayKey identifies an object that waits for its next Stage.
type delayKey struct{ kind, uid string }

// A delay is a Stage that was chosen for a version of an object.
type delay struct {
	version string
	stage   *lifecycle.Stage
	at      time.Time
}

// play chooses a Stage for each version of an object, and plays it when its time has
// come.
func (k *kubelet) play(kind string, stages []*lifecycle.Stage, o *controller.Object, node string, queue *controller.Queue) error {
	key := delayKey{kind, o.UID}
	obj, now := o.View(), k.env.Now()
	version := obj.String("metadata", "resourceVersion")
	d := k.delays[key]
	if d == nil || d.version != version {
		d = &delay{version: version, stage: lifecycle.Choose(stages, obj, k.env.IDs().Below)}
		if d.stage != nil {
			d.at = now.Add(d.stage.Delay(obj, now, k.env.IDs().Below))
		}
		k.delays[key] = d
	}
	if d.stage == nil {
		return nil
	}
	if left := d.at.Sub(now); left > 0 {
		queue.AddAfter(o.Key(), left)
		return nil
	}
	if err := k.run(d.stage, o, node); err != nil {
		return err
	}
	d.stage = nil // it is played once
	return nil
}

// run makes the changes of a Stage.
func (k *kubelet) run(s *lifecycle.Stage, o *controller.Object, node string) error {
	res := o.Resource()
	for _, step := range s.Steps {
		switch {
		case step.Event != nil:
			k.recorder(node).Event(o, step.Event.Type, step.Event.Reason, "%s", step.Event.Message)
		case step.Finalizers != nil:
			has := o.View().Strings("metadata", "finalizers")
			change := map[string]any{"metadata": map[string]any{"uid": o.UID, "finalizers": step.Finalizers.Apply(has)}}
			if _, err := k.client(node).MergePatch(res, o.Namespace, o.Name, "", change); err != nil {
				return ignoreGone(err)
			}
		case step.Delete:
			zero := int64(0)
			return ignoreGone(k.client(node).Delete(res, o.Namespace, o.Name, controller.DeleteOptions{UID: o.UID, GracePeriod: &zero}))
		case step.Patch != nil:
			data, err := step.Patch.Render(host{k}, node, o.View())
			if err != nil {
				return err
			}
			if _, err := k.client(node).Patch(res, o.Namespace, o.Name, step.Patch.Subresource, step.Patch.Type, data); err != nil {
				return ignoreGone(err)
			}
		}
	}
	return nil
}

// ignoreGone returns nil for the error of a write to an object that is gone.
func ignoreGone(err error) error {
	if controller.IsNotFound(err) || controller.IsConflict(err) {
		return nil
	}
	return err
}
