package registry

import (
	"errors"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/admission/plugin/resourcequota"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
)

// chargeQuotas adds what a write uses to the quotas of its namespace, or rejects
// the write. A dry run adds nothing. Usage stays charged if the write fails later,
// as in kube-apiserver, whose quota controller recalculates it.
func (op *operation) chargeQuotas(a *admission.Attributes) error {
	if !op.api().Plugins.HandlesQuota(a) {
		return nil
	}
	t := op.Surface.ForKind(resourcequota.Kind)
	if t == nil {
		return nil
	}
	quotas := op.store.Objects(t.KeyPrefix(op.Namespace))
	if len(quotas) == 0 {
		if !op.api().Plugins.LimitsByDefault() {
			return nil
		}
		_, err := op.api().Plugins.EvaluateQuota(a, nil)
		return err
	}
	for len(quotas) > 0 {
		decoded := make([]object.View, len(quotas))
		for i, o := range quotas {
			decoded[i] = o.Decoded(t).View()
		}
		used, err := op.api().Plugins.EvaluateQuota(a, decoded)
		if err != nil || a.DryRun {
			return err
		}
		if quotas, err = op.writeUsage(t, quotas, used); err != nil {
			return err
		}
	}
	return nil
}

// writeUsage writes the usage of quotas to their status. It returns the quotas,
// as they are now, that another write has changed in between.
func (op *operation) writeUsage(t *resource.Type, quotas []*storage.Object, used []map[string]any) (changed []*storage.Object, err error) {
	accountant := op.internal("update", Request{Type: t, Namespace: op.Namespace, Subresource: "status", UserAgent: ServerAgent})
	for i, old := range quotas {
		if used[i] == nil {
			continue
		}
		quota := old.Decoded(t)
		edit := quota.Object().Edit()
		edit.Set(used[i], "status", "used")
		obj := accountant.withManagedFields(edit.Map(), quota)
		_, err := accountant.replaceObject(t, old, obj, quota, false)
		switch {
		case errors.Is(err, ErrConflict):
			if o := op.store.Newest(t.Key(old.Namespace, old.Name)); o != nil {
				changed = append(changed, o)
			}
		case err != nil:
			return nil, err
		}
	}
	return changed, nil
}
