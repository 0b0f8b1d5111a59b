// Package rootcacertpublisher has the root-ca-certificate-publisher-controller: every
// namespace has a ConfigMap "kube-root-ca.crt" with the CA certificate of the server.
//
// See https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/#directly-accessing-the-rest-api.
package rootcacertpublisher

import (
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
)

const (
	configMapName = "kube-root-ca.crt"
	annotation    = "kubernetes.io/description"
	description   = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. " +
		"No other usage is guaranteed across distributions of Kubernetes clusters."
)

type publisher struct {
	client     *controller.Client
	configMaps *controller.Informer
	queue      *controller.Queue // of namespaces
	data       map[string]any    // of the ConfigMaps
}

// Start starts the controller. A server without TLS has no certificate: there the
// ConfigMaps have an empty one.
func Start(e *controller.Env) {
	c := &publisher{client: e.Client("root-ca-cert-publisher"), data: map[string]any{"ca.crt": e.RootCA()}}
	c.queue = e.Queue(c.sync)
	c.configMaps = e.Informer(controller.ConfigMaps, func(old, configMap *controller.Object) {
		if old != nil && old.Name == configMapName {
			c.queue.Add(controller.Key{Name: old.Namespace})
		}
	})
	e.Informer(controller.Namespaces, func(old, ns *controller.Object) {
		if ns != nil && (old == nil || ns.View().String("status", "phase") == "Active") {
			c.queue.Add(ns.Key())
		}
	})
}

// sync creates the ConfigMap of a namespace, or updates it if its data are not the
// certificate.
func (c *publisher) sync(k controller.Key) error {
	configMap := c.configMaps.Get(k.Name, configMapName)
	if configMap == nil {
		_, err := c.client.Create(controller.ConfigMaps, k.Name, map[string]any{
			"metadata": map[string]any{"name": configMapName, "namespace": k.Name, "annotations": map[string]any{annotation: description}},
			"data":     object.Copy(c.data),
		})
		if controller.IsNotFound(err) || controller.IsTerminatingNamespace(err) {
			return nil
		}
		return err
	}
	if old := configMap.View(); old.At("data").EqualTo(c.data) && old.String("metadata", "annotations", annotation) != "" {
		return nil
	}
	obj := configMap.Copy()
	obj["data"] = object.Copy(c.data)
	object.Set(obj, description, "metadata", "annotations", annotation)
	_, err := c.client.Update(controller.ConfigMaps, "", obj)
	return err
}
