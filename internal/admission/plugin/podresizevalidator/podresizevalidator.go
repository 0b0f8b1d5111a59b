// Package podresizevalidator is the PodResizeValidator admission plugin. It refuses
// to resize pods beyond the allocatable resources of their nodes, and on nodes that
// do not run Linux.
package podresizevalidator

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/kinds/core/resources"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
)

// Plugin implements [admission.Validator].
type Plugin struct{}

var _ admission.Validator = Plugin{}

// Name returns "PodResizeValidator".
func (Plugin) Name() string { return "PodResizeValidator" }

// Resources returns pods.
func (Plugin) Resources() []status.GroupResource {
	return []status.GroupResource{{Resource: "pods"}}
}

// The reasons of causes.
const (
	reasonNodeCapacity        = "NodeCapacity"
	reasonUnsupportedPlatform = "UnsupportedPlatform"
)

var nodeKind = resource.Kind{GroupVersion: resource.GroupVersion{Version: "v1"}, Kind: "Node"}

// Validate checks a changed pod that is bound to a node, in a write of its
// subresource resize.
func (Plugin) Validate(a *admission.Attributes) error {
	name := object.String(a.Object, "spec", "nodeName")
	if a.Subresource != "resize" || a.Operation != admission.Update || name == "" || pods.SameGeneration(a.Object, a.Old) {
		return nil
	}
	node := a.Reader.Get(nodeKind, "", name)
	if node.IsNil() {
		return fmt.Errorf("node %q not found", name)
	}
	if os := node.At("metadata", "labels", "kubernetes.io/os"); !os.IsNil() && os.String() != "linux" {
		return refuse(a, reasonUnsupportedPlatform, fmt.Errorf("pod resize is only supported on linux nodes, node %q is %q", name, os.String()))
	}
	if err := checkRequests(object.Map(a.Object, "spec"), node.At("status", "allocatable")); err != nil {
		return refuse(a, reasonNodeCapacity, err)
	}
	return nil
}

// refuse returns a 403 that has a cause with the reason.
func refuse(a *admission.Attributes, reason string, err error) error {
	st := status.Forbidden(a.GroupResource(), a.DisplayName(), err.Error())
	st.Details.Causes = append(st.Details.Causes, status.Cause{Reason: reason})
	return st
}

// checkRequests checks that a pod requests at most the allocatable cpu and memory.
func checkRequests(spec map[string]any, allocatable object.View) error {
	requests := pods.TotalResources(object.ViewOf(spec), "requests")
	resources.Add(requests, object.ViewOf(object.Map(spec, "overhead")))
	var messages []string
	for _, r := range []struct {
		name string
		unit int64 // of messages, in billionths
	}{{"cpu", 1e6}, {"memory", 1e9}} {
		requested, available := amount(object.ViewOf(requests), r.name), amount(allocatable, r.name)
		if quantity.Compare(requested, available) > 0 {
			messages = append(messages, fmt.Sprintf("%s, requested: %d, allocatable: %d", r.name, quantity.Count(requested, r.unit), quantity.Count(available, r.unit)))
		}
	}
	if messages != nil {
		return errors.New("node didn't have enough allocatable resources: " + strings.Join(messages, "; "))
	}
	return nil
}

// amount returns a quantity of a resource list; "0" if it has none.
func amount(list object.View, name string) string {
	if q := list.At(name); !q.IsNil() {
		return q.String()
	}
	return "0"
}
