// Package podnodeselector is the PodNodeSelector admission plugin. Pods get the node
// selector of their namespace, which is in an annotation.
package podnodeselector

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/selector"
	"github.com/kubefake/kubefake/internal/status"
)

// Plugin implements [admission.Mutator] and [admission.Validator].
//
// Differs from kube-apiserver: PodNodeSelector: it has no configuration, so that there
// is no default selector of the cluster and no list of labels that a namespace permits.
// Request: POST of a pod with --enable-admission-plugins=PodNodeSelector and
// --admission-control-config-file.
type Plugin struct{}

var (
	_ admission.Mutator   = Plugin{}
	_ admission.Validator = Plugin{}
)

// Name returns "PodNodeSelector".
func (Plugin) Name() string { return "PodNodeSelector" }

// Resources returns pods.
func (Plugin) Resources() []status.GroupResource {
	return []status.GroupResource{{Resource: "pods"}}
}

// Mutate adds the selector of the namespace to that of a new pod. It refuses a pod
// whose selector has another value for a label.
func (p Plugin) Mutate(a *admission.Attributes) error {
	labels, err := p.labels(a)
	if err != nil {
		return err
	}
	for name, v := range labels {
		object.Set(a.Object, v, "spec", "nodeSelector", name)
	}
	return nil
}

// Validate refuses a new pod whose selector has another value for a label than the
// selector of the namespace.
func (p Plugin) Validate(a *admission.Attributes) error {
	_, err := p.labels(a)
	return err
}

const annotation = "scheduler.alpha.kubernetes.io/node-selector"

var namespaceKind = resource.Kind{GroupVersion: resource.GroupVersion{Version: "v1"}, Kind: "Namespace"}

// labels returns the labels in the selector of the namespace of a new pod. It fails if
// the pod has other values for them.
func (Plugin) labels(a *admission.Attributes) (map[string]string, error) {
	if a.Operation != admission.Create || a.Subresource != "" {
		return nil, nil
	}
	namespace := a.Reader.Get(namespaceKind, "", a.Namespace)
	labels, err := parse(object.String(namespace, "metadata", "annotations", annotation))
	if err != nil {
		return nil, status.Unclassified(err.Error())
	}
	for name, v := range labels {
		if have, ok := object.Map(a.Object, "spec", "nodeSelector")[name]; ok && have != v {
			return nil, errors.New("pod node label selector conflicts with its namespace node label selector")
		}
	}
	return labels, nil
}

// parse returns the labels of a selector that consists of equalities: a=b,c=d.
func parse(text string) (map[string]string, error) {
	if text == "" {
		return nil, nil
	}
	labels := map[string]string{}
	for _, term := range strings.Split(text, ",") {
		parts := strings.Split(term, "=")
		if len(parts) != 2 {
			return nil, fmt.Errorf("invalid selector: %v", parts)
		}
		name, value := strings.TrimSpace(parts[0]), strings.TrimSpace(parts[1])
		if _, err := selector.ParseLabels(name + "=" + value); err != nil {
			return nil, err
		}
		labels[name] = value
	}
	return labels, nil
}
