package controllers_test

import (
	"fmt"
	"strings"
)

// Paths of collections.
const (
	podsPath     = "/api/v1/namespaces/default/pods"
	servicesPath = "/api/v1/namespaces/default/services"
	claimsPath   = "/api/v1/namespaces/default/persistentvolumeclaims"
	volumesPath  = "/api/v1/persistentvolumes"
	shopPath     = "/api/v1/namespaces/shop"
)

// widgets is the definition of a custom resource.
const widgets = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com},
  spec: {group: example.com, scope: Namespaced, names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList},
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}`

// pod returns a Pod with one container and more fields of its spec, such as
// ", restartPolicy: Never".
func pod(name, more string) string {
	return podWith(name, `containers: [{name: c, image: i}]`+more)
}

// podWith returns a Pod with a spec. Its label app is its name without a number.
func podWith(name, spec string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: %s, labels: {app: %s}}, spec: {%s}}`, name, strings.TrimRight(name, "0123456789"), spec)
}

// volume returns a PersistentVolume with more fields of its spec and of its metadata, such
// as "volumeMode: Block" and "labels: {tier: fast}".
func volume(name, size, more string, meta ...string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: PersistentVolume, metadata: {name: %s%s},
  spec: {capacity: {storage: %s}, hostPath: {path: /tmp/%s}, %s}}`, name, strings.Join(append([]string{""}, meta...), ", "), size, name, more)
}

// claim is volume of a PersistentVolumeClaim in the namespace default.
func claim(name, size, more string, meta ...string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: %s, namespace: default%s},
  spec: {resources: {requests: {storage: %s}}, %s}}`, name, strings.Join(append([]string{""}, meta...), ", "), size, more)
}

func storageClass(name, provisioner, more string) string {
	return fmt.Sprintf(`{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: %s}, provisioner: %s%s}`, name, provisioner, more)
}
