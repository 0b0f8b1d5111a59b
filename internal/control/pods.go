package control

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/controllers/lifecycle"
	"github.com/kubefake/kubefake/internal/selector"
	"github.com/kubefake/kubefake/internal/status"
)

// A PodsChange says what Pods do and answer, those that exist and those that will.
type PodsChange struct {
	// Selector is a label selector, such as app=web. Without it, all Pods are selected.
	Selector string `json:"selector,omitempty"`
	// Namespace limits the change to the Pods of a namespace.
	Namespace string `json:"namespace,omitempty"`
	// Container limits the change to the container of a name.
	Container string `json:"container,omitempty"`
	// Do is what the containers do while the controller "kubelet" runs: run, complete,
	// crash-loop, fail-image-pull or hang.
	Do string `json:"do,omitempty"`
	// ExitCode is that of complete.
	ExitCode int64 `json:"exitCode,omitempty"`
	// Log is what the containers have written, as kubectl logs shows it.
	Log *string `json:"log,omitempty"`
	// Usage has quantities by resource, cpu or memory: how much of it each container uses.
	// The horizontal-pod-autoscaler-controller reads it.
	Usage map[string]string `json:"usage,omitempty"`
	// Metrics has the values of custom metrics of each Pod, quantities by name.
	Metrics map[string]string `json:"metrics,omitempty"`
}

// behaviors are the values of PodsChange.Do. The exit code of complete is a field.
var behaviors = map[string]lifecycle.Behavior{
	"complete":        {Action: lifecycle.Exit},
	"crash-loop":      {Action: lifecycle.Exit, ExitCode: 1},
	"fail-image-pull": {Action: lifecycle.FailImagePull},
	"hang":            {Action: lifecycle.Hang},
	"run":             {Action: lifecycle.Run},
}

// changePods changes all or nothing.
func (c *Control) changePods(_ *Request, in PodsChange) (Revision, error) {
	labels, err := selector.ParseLabels(in.Selector)
	if err != nil {
		return Revision{}, status.BadRequest("selector: " + err.Error())
	}
	behavior, known := behaviors[in.Do]
	switch {
	case in.Do != "" && !known:
		return Revision{}, status.BadRequest(fmt.Sprintf("do: %q is not one of %s", in.Do, strings.Join(slices.Sorted(maps.Keys(behaviors)), ", ")))
	case in.ExitCode != 0 && in.Do != "complete":
		return Revision{}, status.BadRequest("exitCode: only complete has one")
	case in.ExitCode != 0:
		behavior.ExitCode = in.ExitCode
	}
	var measured []lifecycle.Measurement
	for _, name := range slices.Sorted(maps.Keys(in.Usage)) {
		measured = append(measured, lifecycle.Measurement{Namespace: in.Namespace, Labels: labels, Container: in.Container, Name: name, Value: in.Usage[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(in.Metrics)) {
		measured = append(measured, lifecycle.Measurement{Namespace: in.Namespace, Labels: labels, Name: name, Custom: true, Value: in.Metrics[name]})
	}
	pods := c.manager.Lifecycle()
	if err := pods.Measure(measured...); err != nil {
		return Revision{}, status.BadRequest(err.Error())
	}
	if in.Log != nil {
		pods.SetLog(lifecycle.Containers{Namespace: in.Namespace, Labels: labels, Container: in.Container}, *in.Log)
	}
	if known {
		behavior.Namespace, behavior.Labels, behavior.Container = in.Namespace, labels, in.Container
		pods.Add(behavior)
		c.manager.Wake()
	}
	return c.revision(nil)
}

// A NodeChange stops or starts the kubelet of a Node.
type NodeChange struct {
	Name string `json:"name"`
	// Stopped stops the kubelet, as if the machine were off: it renews no Lease, and the
	// Pods of the Node stay as they are. Without it, the kubelet starts again.
	Stopped bool `json:"stopped,omitempty"`
}

func (c *Control) changeNode(_ *Request, in NodeChange) (Revision, error) {
	if in.Name == "" {
		return Revision{}, status.BadRequest("name: the name of a Node is missing")
	}
	c.manager.Lifecycle().StopNode(in.Name, in.Stopped)
	c.manager.Wake()
	return c.revision(nil)
}

// A Metric is the value of a metric that a HorizontalPodAutoscaler has as one of type
// External or Object.
type Metric struct {
	Name string `json:"name"`
	// Value is a quantity.
	Value string `json:"value"`
}

func (c *Control) setMetric(_ *Request, in Metric) (Revision, error) {
	if err := c.manager.Lifecycle().SetMetric(in.Name, in.Value); err != nil {
		return Revision{}, status.BadRequest(err.Error())
	}
	return c.revision(nil)
}
