package main

import "fmt"

const storage = "/apis/storage.k8s.io/v1/"

func (t *teller) volume(name string, spec obj) {
	spec["hostPath"] = obj{"path": "/tmp/NS-" + name}
	t.post("/api/v1/persistentvolumes", obj{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": obj{"name": "NS-" + name, "labels": obj{"disk": name}}, "spec": spec})
}

// volumeSpec returns the spec of a volume of a class of the story.
func (t *teller) volumeSpec(class string) obj {
	return obj{
		"capacity": obj{"storage": t.oneOf("1Gi", "2Gi", "5Gi")}, "accessModes": []any{t.oneOf("ReadWriteOnce", "ReadWriteOnce", "ReadOnlyMany")},
		"storageClassName": class, "persistentVolumeReclaimPolicy": t.oneOf("Retain", "Delete"),
	}
}

func (t *teller) claim(name, class string, more obj) {
	spec := obj{
		"accessModes": []any{"ReadWriteOnce"}, "storageClassName": class, "resources": obj{"requests": obj{"storage": t.oneOf("1Gi", "2Gi", "3Gi")}},
	}
	for k, v := range more {
		spec[k] = v
	}
	t.post(core+"persistentvolumeclaims", obj{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": obj{"name": name}, "spec": spec})
}

// podWithClaim creates a Pod that uses a claim.
func (t *teller) podWithClaim(name, claim string) {
	t.post(core+"pods", obj{"apiVersion": "v1", "kind": "Pod", "metadata": obj{"name": name, "annotations": obj{"puppet": t.oneOf("", "succeed", "hang")}}, "spec": obj{
		"containers": []any{obj{"name": "main", "image": "a:1"}},
		"volumes":    []any{obj{"name": "data", "persistentVolumeClaim": obj{"claimName": claim}}},
	}})
}

// class creates a StorageClass without a provisioner, and returns its name.
func (t *teller) class() string {
	t.post(storage+"storageclasses", obj{"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": obj{"name": "NS-fast"},
		"provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": t.oneOf("Immediate", "Immediate", "WaitForFirstConsumer")})
	return "NS-fast"
}

// volumes binds claims to volumes, uses them, and deletes claims, volumes, Pods and their
// class in any order.
func (t *teller) volumes() {
	class := t.class()
	if t.maybe() {
		t.claim("early", class, nil)
	}
	for i := range 1 + t.IntN(3) {
		t.volume(fmt.Sprint("v", i), t.volumeSpec(class))
	}
	var more obj
	switch t.IntN(4) {
	case 0:
		more = obj{"selector": obj{"matchLabels": obj{"disk": t.oneOf("v0", "v1", "none")}}}
	case 1:
		more = obj{"volumeName": "NS-" + t.oneOf("v0", "v1", "none")}
	}
	t.claim("data", class, more)
	if t.maybe() {
		t.podWithClaim("p", "data")
	}
	for range 2 + t.IntN(4) {
		switch t.IntN(8) {
		case 0:
			t.delete(core+"persistentvolumeclaims/data", "")
		case 1:
			t.delete("/api/v1/persistentvolumes/NS-"+t.oneOf("v0", "v1"), "")
		case 2:
			t.delete(core+"pods/p", "")
		case 3:
			t.delete(storage+"storageclasses/NS-fast", "")
		case 4:
			t.merge("/api/v1/persistentvolumes/NS-v0", obj{"spec": obj{"claimRef": nil}})
		case 5:
			t.podWithClaim("q", t.oneOf("data", "early"))
		case 6:
			t.merge("/api/v1/persistentvolumes/NS-v0", obj{"spec": obj{"persistentVolumeReclaimPolicy": "Retain"}})
		case 7:
			t.claim("late", class, nil)
		}
	}
	t.removeVolumes()
}

// removeVolumes deletes what is not in the namespace of the story.
func (t *teller) removeVolumes() {
	for i := range 3 {
		t.delete(fmt.Sprint("/api/v1/persistentvolumes/NS-v", i), "")
	}
	t.delete(storage+"storageclasses/NS-fast", "")
}

// retention scales and deletes a StatefulSet whose Pods have claims, with volumes for some of
// them.
func (t *teller) retention() {
	class := t.class()
	for i := range t.IntN(3) {
		spec := t.volumeSpec(class)
		spec["accessModes"] = []any{"ReadWriteOnce"}
		t.volume(fmt.Sprint("v", i), spec)
	}
	spec := obj{
		"replicas": 1 + t.IntN(3), "serviceName": "db", "selector": selects("db"), "template": t.template("db", "a:1"), "podManagementPolicy": "Parallel",
		"persistentVolumeClaimRetentionPolicy": obj{"whenDeleted": t.oneOf("Retain", "Delete"), "whenScaled": t.oneOf("Retain", "Delete")},
		"volumeClaimTemplates": []any{obj{"metadata": obj{"name": "data"}, "spec": obj{
			"accessModes": []any{"ReadWriteOnce"}, "storageClassName": class, "resources": obj{"requests": obj{"storage": "1Gi"}},
		}}},
	}
	t.post(apps+"statefulsets", obj{"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": obj{"name": "db"}, "spec": spec})
	path := apps + "statefulsets/db"
	for range 1 + t.IntN(3) {
		switch t.IntN(4) {
		case 0, 1:
			t.merge(path, obj{"spec": obj{"replicas": t.IntN(4)}})
		case 2:
			t.merge(path, obj{"spec": obj{"persistentVolumeClaimRetentionPolicy": obj{"whenDeleted": t.oneOf("Retain", "Delete"), "whenScaled": t.oneOf("Retain", "Delete")}}})
		case 3:
			t.delete(core+"persistentvolumeclaims/data-db-0", "")
		}
	}
	t.delete(path, t.policy())
	t.removeVolumes()
}
