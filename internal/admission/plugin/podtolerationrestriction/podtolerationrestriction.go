// Package podtolerationrestriction is the PodTolerationRestriction admission plugin. Pods get
// the tolerations of their namespace, which are in an annotation, or those of the cluster,
// and may have only tolerations that are permitted there.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#podtolerationrestriction.
package podtolerationrestriction

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/configfile"
	"github.com/kubefake/kubefake/internal/kinds/core/nodes"
	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
)

// A Plugin implements [admission.Mutator] and [admission.Validator]. The zero value has no
// configuration.
type Plugin struct {
	// defaults are the tolerations that new pods get in namespaces without the annotation
	// for them, and permitted those that pods may have in such namespaces; none permits all.
	defaults, permitted []toleration
}

// kinds are the kinds of the configuration.
var kinds = []configfile.Kind{{APIVersion: "podtolerationrestriction.admission.k8s.io/v1alpha1", Kind: "Configuration"}}

// Configure returns the plugin of a configuration. The errors are those of kube-apiserver.
func Configure(text []byte, r validation.Release) (Plugin, error) {
	var config struct {
		Default   []toleration `json:"default"`
		Whitelist []toleration `json:"whitelist"`
	}
	if err := configfile.DecodeLenient(text, kinds, r.Minor(), &config); err != nil {
		return Plugin{}, err
	}
	generic := map[string]any{"default": generic(config.Default), "whitelist": generic(config.Whitelist)}
	errs := validation.Collect(generic, validation.NewPath("podtolerationrestriction"),
		func(p validation.View) { nodes.CheckClassTolerations(p, "default") },
		func(p validation.View) { nodes.CheckClassTolerations(p, "whitelist") })
	if errs = errs.In(r, "", ""); len(errs) > 0 {
		return Plugin{}, fmt.Errorf("invalid config: %v", errs)
	}
	return Plugin{config.Default, config.Whitelist}, nil
}

var (
	_ admission.Mutator   = Plugin{}
	_ admission.Validator = Plugin{}
)

// Name returns "PodTolerationRestriction".
func (Plugin) Name() string { return "PodTolerationRestriction" }

// Resources returns pods.
func (Plugin) Resources() []status.GroupResource {
	return []status.GroupResource{{Resource: "pods"}}
}

// The annotations of a namespace.
const (
	defaultsAnnotation  = "scheduler.alpha.kubernetes.io/defaultTolerations"
	permittedAnnotation = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"
)

// Mutate adds tolerations to a pod: the default ones to a new pod, and one for memory
// pressure to a pod whose QoS class is not BestEffort. Then it refuses what Validate refuses.
func (p Plugin) Mutate(a *admission.Attributes) error {
	if a.Subresource != "" {
		return nil
	}
	var extra []toleration
	if a.Operation == admission.Create {
		var err error
		if extra, err = ofNamespace(a, defaultsAnnotation, p.defaults); err != nil {
			return err
		}
	}
	if pods.QOSClass(a.Object, a.Access.Release()) != pods.BestEffort {
		extra = append(slices.Clip(extra), toleration{Key: "node.kubernetes.io/memory-pressure", Operator: "Exists", Effect: "NoSchedule"})
	}
	if len(extra) > 0 {
		tolerations := generic(merge(append(ofPod(a.Object), extra...)))
		object.Own(a.Object, "spec")["tolerations"] = tolerations // the spec may be that of the old pod
	}
	return p.Validate(a)
}

// Validate refuses a pod with a toleration that its namespace, or else the cluster, does not
// permit.
func (p Plugin) Validate(a *admission.Attributes) error {
	tolerations := ofPod(a.Object)
	if a.Subresource != "" || len(tolerations) == 0 {
		return nil
	}
	permitted, err := ofNamespace(a, permittedAnnotation, nil)
	if err != nil {
		return err
	}
	scope := "namespace"
	if permitted == nil {
		permitted, scope = p.permitted, "cluster"
	}
	for _, t := range tolerations {
		if len(permitted) > 0 && !slices.ContainsFunc(permitted, t.isPartOf) {
			return status.Unclassified(fmt.Sprintf("pod tolerations (possibly merged with namespace default tolerations) conflict with its %s whitelist", scope))
		}
	}
	return nil
}

var namespaceKind = resource.Kind{GroupVersion: resource.GroupVersion{Version: "v1"}, Kind: "Namespace"}

// ofNamespace returns the tolerations in an annotation of the namespace, which are not nil,
// or otherwise if there is no such annotation.
func ofNamespace(a *admission.Attributes, annotation string, otherwise []toleration) ([]toleration, error) {
	namespace := a.Reader.Get(namespaceKind, "", a.Namespace)
	if namespace.IsNil() {
		return nil, status.NotFound(status.GroupResource{Resource: "namespaces"}, a.Namespace)
	}
	if namespace.IsNil("metadata", "annotations", annotation) {
		return otherwise, nil
	}
	text := namespace.String("metadata", "annotations", annotation)
	tolerations := []toleration{}
	if text == "" {
		return tolerations, nil
	}
	if err := json.Unmarshal([]byte(text), &tolerations); err != nil {
		return nil, status.Unclassified(goTypes.Replace(err.Error()))
	}
	return append([]toleration{}, tolerations...), nil
}

// ofPod returns the tolerations of a pod.
func ofPod(pod map[string]any) (out []toleration) {
	for t := range object.Each(object.Value(pod, "spec", "tolerations")) {
		out = append(out, tolerationOf(t))
	}
	return out
}
