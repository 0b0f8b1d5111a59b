package nodes

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/validation"
)

// The annotations that held taints, tolerations and avoided Pods before there were fields for them.
const (
	taintsAnnotation      = "scheduler.alpha.kubernetes.io/taints"
	tolerationsAnnotation = "scheduler.alpha.kubernetes.io/tolerations"
	avoidPodsAnnotation   = "scheduler.alpha.kubernetes.io/preferAvoidPods"
)

// The types that these annotations encode. Their names are part of errors.
type (
	Taint struct {
		Key, Value string
		Effect     TaintEffect
		TimeAdded  Timestamp
	}
	Toleration struct {
		Key               string
		Operator          TolerationOperator
		Value             string
		Effect            TaintEffect
		TolerationSeconds *int64
	}
	TaintEffect        string
	TolerationOperator string
	UID                string
	Timestamp          struct{}
	AvoidPods          struct {
		PreferAvoidPods []PreferAvoidPodsEntry `json:"preferAvoidPods"`
	}
	PreferAvoidPodsEntry struct {
		PodSignature PodSignature `json:"podSignature"`
		EvictionTime Timestamp    `json:"evictionTime"`
		Reason       string       `json:"reason"`
		Message      string       `json:"message"`
	}
	PodSignature struct {
		PodController *OwnerReference `json:"podController"`
	}
	OwnerReference struct {
		APIVersion         string `json:"apiVersion"`
		Kind               string `json:"kind"`
		Name               string `json:"name"`
		UID                UID    `json:"uid"`
		Controller         *bool  `json:"controller"`
		BlockOwnerDeletion *bool  `json:"blockOwnerDeletion"`
	}
)

// UnmarshalJSON checks that a time has the form of RFC 3339.
func (*Timestamp) UnmarshalJSON(data []byte) error {
	var text *string
	if err := json.Unmarshal(data, &text); err != nil || text == nil {
		return err
	}
	_, err := time.Parse(time.RFC3339, *text)
	return err
}

// decodeAnnotation decodes an annotation of p, the annotations of an object. It reports whether there is
// one without errors. pkg is the package of the Go types that kube-apiserver decodes into.
func decodeAnnotation(p validation.View, name, pkg string, path *validation.Path, into any) bool {
	text := p.String(name)
	if text == "" {
		return false
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		p.Add(validation.Invalid(path, name, strings.NewReplacer("nodes.UID", "types.UID", "nodes.", pkg+".").Replace(err.Error())))
		return false
	}
	return true
}

// checkNodeAnnotations validates the annotations with a meaning for Nodes.
//
// Differs from kube-apiserver: controllers of avoided Pods: in the annotation
// scheduler.alpha.kubernetes.io/preferAvoidPods kube-apiserver panics if a podController has no field
// controller. Here the Node is invalid. Request: POST of a Node with the annotation
// {"preferAvoidPods": [{"podSignature": {"podController": {}}}]}.
func checkNodeAnnotations(p validation.View) {
	annotations := p.Field("metadata").Field("annotations")
	var taints []Taint
	if decodeAnnotation(annotations, taintsAnnotation, "core", annotations.Path, &taints) {
		list := make([]any, len(taints))
		for i, t := range taints {
			list[i] = map[string]any{"key": t.Key, "value": t.Value, "effect": string(t.Effect)}
		}
		checkTaints(validation.View{Obj: map[string]any{"taints": list}, Errs: p.Errs}, annotations.At(taintsAnnotation))
	}
	var avoided AvoidPods
	if !decodeAnnotation(annotations, avoidPodsAnnotation, "v1", annotations.At("AvoidPods"), &avoided) {
		return
	}
	for i, entry := range avoided.PreferAvoidPods {
		path := annotations.At(avoidPodsAnnotation).Index(i).Child("PodSignature")
		switch controller := entry.PodSignature.PodController; {
		case controller == nil:
			p.Add(validation.Required(path, ""))
		case controller.Controller == nil || !*controller.Controller:
			p.Add(validation.Invalid(path.Child("PodController").Child("Controller"), false, "must point to a controller"))
		}
	}
}

// CheckTolerationsAnnotation validates the tolerations in p, the annotations of a Pod.
func CheckTolerationsAnnotation(p validation.View) {
	var tolerations []Toleration
	if !decodeAnnotation(p, tolerationsAnnotation, "core", p.Path, &tolerations) {
		return
	}
	list := make([]any, len(tolerations))
	for i, t := range tolerations {
		toleration := map[string]any{"key": t.Key, "operator": string(t.Operator), "value": t.Value, "effect": string(t.Effect)}
		if t.TolerationSeconds != nil {
			toleration["tolerationSeconds"] = *t.TolerationSeconds
		}
		list[i] = toleration
	}
	CheckTolerations(validation.View{Obj: map[string]any{tolerationsAnnotation: list}, Path: p.Path, Errs: p.Errs}, tolerationsAnnotation)
}
