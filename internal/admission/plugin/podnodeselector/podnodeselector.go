// Package podnodeselector is the PodNodeSelector admission plugin. Pods get the node
// selector of their namespace, which is in an annotation, or that of the cluster.
package podnodeselector

import (
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
)

// A Plugin implements [admission.Mutator] and [admission.Validator]. The zero value has no
// configuration.
type Plugin struct {
	// selectors are the labels that a namespace permits, by its name, and the selector of
	// namespaces without the annotation, by the name clusterDefault.
	selectors map[string]string
}

const clusterDefault = "clusterDefaultNodeSelector"

// Configure returns the plugin of a configuration: an object with the member
// podNodeSelectorPluginConfig, in YAML or JSON. As in kube-apiserver, what cannot be read
// is left out: no configuration is an error, and a wrong selector fails requests.
func Configure(text []byte) Plugin {
	var config struct {
		PodNodeSelectorPluginConfig map[string]string
	}
	_ = yaml.Unmarshal(text, &config)
	return Plugin{config.PodNodeSelectorPluginConfig}
}

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
// whose selector has another value for a label, or labels that the namespace does not
// permit.
func (p Plugin) Mutate(a *admission.Attributes) error {
	if a.Operation != admission.Create || a.Subresource != "" {
		return nil
	}
	labels, err := p.labels(a)
	if err != nil {
		return err
	}
	for name, v := range labels {
		object.Own(object.EnsureMap(a.Object, "spec"), "nodeSelector")[name] = v
	}
	return p.Validate(a)
}

// Validate refuses a new pod whose selector has another value for a label than the
// selector of the namespace, or labels that the namespace does not permit.
func (p Plugin) Validate(a *admission.Attributes) error {
	if a.Operation != admission.Create || a.Subresource != "" {
		return nil
	}
	if _, err := p.labels(a); err != nil {
		return err
	}
	permitted, err := parse(p.selectors[a.Namespace])
	if err != nil {
		return status.Unclassified(err.Error())
	}
	if len(permitted) == 0 {
		return nil
	}
	for name, v := range object.Map(a.Object, "spec", "nodeSelector") {
		if want, ok := permitted[name]; !ok || want != v {
			return errors.New("pod node label selector labels conflict with its namespace whitelist")
		}
	}
	return nil
}

const annotation = "scheduler.alpha.kubernetes.io/node-selector"

var namespaceKind = resource.Kind{GroupVersion: resource.GroupVersion{Version: "v1"}, Kind: "Namespace"}

// labels returns the labels in the selector of the namespace of a new pod. It fails if
// the pod has other values for them.
func (p Plugin) labels(a *admission.Attributes) (map[string]string, error) {
	text := p.selectors[clusterDefault]
	if own := a.Reader.Get(namespaceKind, "", a.Namespace).At("metadata", "annotations", annotation); !own.IsNil() {
		text = own.String()
	}
	labels, err := parse(text)
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
		var root *validation.Path
		if problems := validation.QualifiedName(name); len(problems) > 0 {
			return nil, validation.Invalid(root, name, strings.Join(problems, "; "))
		}
		if problems := validation.LabelValue(value); len(problems) > 0 {
			return nil, validation.Invalid(root.Key(name), value, strings.Join(problems, "; "))
		}
		labels[name] = value
	}
	return labels, nil
}
