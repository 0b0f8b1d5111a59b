package main

import "fmt"

const storage = "/apis/storage.k8s.io/v1/"

func (w *storyWriter) volume(name string, spec obj) {
	spec["hostPath"] = obj{"path": "/tmp/NS-" + name}
	w.post("/api/v1/persistentvolumes", obj{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": obj{"name": "NS-" + name, "labels": obj{"disk": name}}, "spec": spec})
}

// volumeSpec returns the spec of a volume of a class of the story.
func (w *storyWriter) volumeSpec(class string) obj {
	return obj{
		"capacity": obj{"storage": w.oneOf("1Gi", "2Gi", "5Gi")}, "accessModes": []any{w.oneOf("ReadWriteOnce", "ReadWriteOnce", "ReadOnlyMany")},
		"storageClassName": class, "persistentVolumeReclaimPolicy": w.oneOf("Retain", "Delete"),
	}
}

func (w *storyWriter) claim(name, class string, more obj) {
	spec := obj{
		"accessModes": []any{"ReadWriteOnce"}, "storageClassName": class, "resources": obj{"requests": obj{"storage": w.oneOf("1Gi", "2Gi", "3Gi")}},
	}
	for k, v := range more {
		spec[k] = v
	}
	w.post(core+"persistentvolumeclaims", obj{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": obj{"name": name}, "spec": spec})
}

// podWithClaim creates a Pod that uses a claim.
func (w *storyWriter) podWithClaim(name, claim string) {
	w.post(core+"pods", obj{"apiVersion": "v1", "kind": "Pod", "metadata": obj{"name": name, "annotations": obj{"puppet": w.oneOf("", "succeed", "hang")}}, "spec": obj{
		"containers": []any{obj{"name": "main", "image": "a:1"}},
		"volumes":    []any{obj{"name": "data", "persistentVolumeClaim": obj{"claimName": claim}}},
	}})
}

// class creates a StorageClass without a provisioner, and returns its name.
func (w *storyWriter) class() string {
	w.post(storage+"storageclasses", obj{"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": obj{"name": "NS-fast"},
		"provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": w.oneOf("Immediate", "Immediate", "WaitForFirstConsumer")})
	return "NS-fast"
}

// volumes binds claims to volumes, uses them, and deletes claims, volumes, Pods and their
// class in any order.
func (w *storyWriter) volumes() {
	class := w.class()
	if w.maybe() {
		w.claim("early", class, nil)
	}
	for i := range 1 + w.IntN(3) {
		w.volume(fmt.Sprint("v", i), w.volumeSpec(class))
	}
	var more obj
	switch w.IntN(4) {
	case 0:
		more = obj{"selector": obj{"matchLabels": obj{"disk": w.oneOf("v0", "v1", "none")}}}
	case 1:
		more = obj{"volumeName": "NS-" + w.oneOf("v0", "v1", "none")}
	}
	w.claim("data", class, more)
	if w.maybe() {
		w.podWithClaim("p", "data")
	}
	for range 2 + w.IntN(4) {
		switch w.IntN(8) {
		case 0:
			w.delete(core+"persistentvolumeclaims/data", "")
		case 1:
			w.delete("/api/v1/persistentvolumes/NS-"+w.oneOf("v0", "v1"), "")
		case 2:
			w.delete(core+"pods/p", "")
		case 3:
			w.delete(storage+"storageclasses/NS-fast", "")
		case 4:
			w.merge("/api/v1/persistentvolumes/NS-v0", obj{"spec": obj{"claimRef": nil}})
		case 5:
			w.podWithClaim("q", w.oneOf("data", "early"))
		case 6:
			w.merge("/api/v1/persistentvolumes/NS-v0", obj{"spec": obj{"persistentVolumeReclaimPolicy": "Retain"}})
		case 7:
			w.claim("late", class, nil)
		}
	}
	w.removeVolumes()
}

// removeVolumes deletes what is not in the namespace of the story.
func (w *storyWriter) removeVolumes() {
	for i := range 3 {
		w.delete(fmt.Sprint("/api/v1/persistentvolumes/NS-v", i), "")
	}
	w.delete(storage+"storageclasses/NS-fast", "")
}

// retention scales and deletes a StatefulSet whose Pods have claims, with volumes for some of
// them.
func (w *storyWriter) retention() {
	class := w.class()
	for i := range w.IntN(3) {
		spec := w.volumeSpec(class)
		spec["accessModes"] = []any{"ReadWriteOnce"}
		w.volume(fmt.Sprint("v", i), spec)
	}
	spec := obj{
		"replicas": 1 + w.IntN(3), "serviceName": "db", "selector": selects("db"), "template": w.template("db", "a:1"), "podManagementPolicy": "Parallel",
		"persistentVolumeClaimRetentionPolicy": obj{"whenDeleted": w.oneOf("Retain", "Delete"), "whenScaled": w.oneOf("Retain", "Delete")},
		"volumeClaimTemplates": []any{obj{"metadata": obj{"name": "data"}, "spec": obj{
			"accessModes": []any{"ReadWriteOnce"}, "storageClassName": class, "resources": obj{"requests": obj{"storage": "1Gi"}},
		}}},
	}
	w.post(apps+"statefulsets", obj{"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": obj{"name": "db"}, "spec": spec})
	path := apps + "statefulsets/db"
	for range 1 + w.IntN(3) {
		switch w.IntN(4) {
		case 0, 1:
			w.merge(path, obj{"spec": obj{"replicas": w.IntN(4)}})
		case 2:
			w.merge(path, obj{"spec": obj{"persistentVolumeClaimRetentionPolicy": obj{"whenDeleted": w.oneOf("Retain", "Delete"), "whenScaled": w.oneOf("Retain", "Delete")}}})
		case 3:
			w.delete(core+"persistentvolumeclaims/data-db-0", "")
		}
	}
	w.delete(path, w.policy())
	w.removeVolumes()
}
