package coordination

import (
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateLease(obj map[string]any, _ object.View) validation.List {
	return validation.Collect(obj, nil, func(lease validation.View) {
		spec := lease.Field("spec")
		if spec.Has("leaseDurationSeconds") && spec.Int("leaseDurationSeconds") <= 0 {
			spec.Invalid("leaseDurationSeconds", "must be greater than 0")
		}
		spec.NonNegative("leaseTransitions")
		if spec.Has("strategy") {
			checkLeaseStrategy(spec)
		}
		if spec.String("preferredHolder") != "" && spec.String("strategy") == "" {
			spec.Forbidden("preferredHolder", "may only be specified if `strategy` is defined")
		}
	})
}

const oldestEmulationVersion = "OldestEmulationVersion"

// checkLeaseStrategy checks the strategy of a leader election: one of Kubernetes, or
// a custom one with a qualified name. The path of its errors is strategy.strategy, as
// in kube-apiserver.
func checkLeaseStrategy(spec validation.View) {
	strategy, path := spec.String("strategy"), spec.At("strategy").Child("strategy")
	switch {
	case strings.Contains(strategy, "/"):
		spec.AddList(validation.Each(path, validation.NamedString(strategy), validation.QualifiedName(strategy)))
	case strategy != oldestEmulationVersion:
		spec.Add(validation.NotSupported(path, validation.NamedString(strategy), []string{oldestEmulationVersion}))
	}
}
