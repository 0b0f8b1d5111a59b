package main

import (
	"net/http"
)

// encodings returns a story about objects in protobuf, CBOR, YAML and JSON, which are written in one and
// read in another. A server answers CBOR only with its gate, see -gates.
func encodings(r *source) []Step {
	const thing = "things.{id}.example.com"
	steps := []Step{post(definitions, object{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": object{"name": thing},
		"spec": object{
			"group": "{id}.example.com", "scope": "Namespaced", "names": object{"plural": "things", "kind": "Thing"},
			"versions": list{object{"name": "v1", "served": true, "storage": true, "schema": object{"openAPIV3Schema": object{
				"type": "object", "properties": object{"spec": object{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}}}},
		},
	})}
	served := get("/apis/{id}.example.com/v1/namespaces/{id}/things")
	served.Await = http.StatusOK
	steps = append(steps, served)
	if !r.chance(3) { // most stories need no definition
		steps = nil
	}
	mediaTypes := []string{protobufType, protobufType, "application/cbor", "application/json", "application/yaml"}
	accepts := append(mediaTypes, protobufType+",application/json", "application/cbor, application/json;q=0.5", "application/cbor;q=0.5, "+protobufType, protobufType+";as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
		protobufType+";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json", protobufType+";as=Table;g=meta.k8s.io;v=v1", "application/cbor;as=Table;g=meta.k8s.io;v=v1", "application/cbor;as=PartialObjectMetadata;g=meta.k8s.io;v=v1beta1",
		"application/json;as=Table;g=meta.k8s.io;v=v1,"+protobufType, protobufType+";type=x", protobufType+";stream=watch", "application/cbor-seq")
	for range 5 + r.IntN(8) {
		k := pick(r, encoded...)
		if steps == nil && k.kind == "Thing" {
			k = encoded[0]
		}
		name := pick(r, "a", "b")
		body := subset(r, k.body).(object)
		body["apiVersion"], body["kind"] = k.apiVersion, k.kind
		body["metadata"] = object{"name": name, "labels": object{"l": "m"}, "annotations": object{"k": "é\u2028"}}
		if r.chance(8) {
			delete(body, pick(r, "apiVersion", "kind", "metadata"))
		}
		path := k.collection + "/" + name
		media := pick(r, mediaTypes...)
		var s Step
		switch r.IntN(8) {
		case 0, 1, 2:
			s = post(k.collection+r.query(8, "dryRun=All", "fieldValidation=Strict", "fieldValidation=Warn"), body)
		case 3:
			s = put(path+r.query(8, "fieldValidation=Strict"), body)
		case 4:
			media = pick(r, "application/apply-patch+cbor", applyPatch, mergePatch, "application/merge-patch+cbor")
			s = patch(path+"?fieldManager=m&force=true", media, body)
		case 5:
			options := object{"kind": "DeleteOptions", "apiVersion": pick(r, "v1", k.apiVersion, "meta.k8s.io/v1"), "gracePeriodSeconds": 0}
			s = request(http.MethodDelete, pick(r, path, path, k.collection), "", options)
		case 6:
			s = get(pick(r, path, path, k.collection, k.collection+"?limit=1"))
		case 7:
			s = get(k.collection + "?watch=1&timeoutSeconds=1" + pick(r, "", "&resourceVersion=0", "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"))
		}
		if s.Body != "" {
			s = s.with("Content-Type", media)
			s.Encoding = media
			if r.chance(15) {
				s.Encoding = pick(r, mediaTypes...)
			}
			if k.kind == "Thing" && media == protobufType { // a real server panics
				continue
			}
			if r.chance(15) {
				s.Cut = 1 + r.IntN(20)
			}
			if r.chance(12) {
				s.Body, s.Encoding = pick(r, oddBytes...), "hex"
			}
		}
		if !r.chance(3) {
			s = s.with("Accept", pick(r, accepts...))
		}
		steps = append(steps, s)
	}
	return steps
}

const protobufType = "application/vnd.kubernetes.protobuf"

// oddBytes are bodies that no encoder writes.
var oddBytes = []string{
	"", "00", "6b387300", "6b38730001", "6b3873000a00", "6b387300ffffffff", "6b3873000a0f0a0276311209436f6e6669674d6170", "6b3873000a0f0a0276311209436f6e6669674d61701200", "6b3873000a0f0a0276311209436f6e6669674d617012050a030a01611a001200",
	"6b3873000a0f0a0276311209436f6e6669674d61701205ff0a030a01", "6b3873000a0f0a0276311209436f6e6669674d6170120712050a030a0161",
	"d9d9f7a0", "a0", "f6", "80", "01", "ff", "bf", "bfff", "d9d9f7", "d9d9f7f6", "a26a61706956657273696f6e627631646b696e6469436f6e6669674d6170", "a36a61706956657273696f6e627631646b696e6469436f6e6669674d6170686d65746164617461a1646e616d656161",
	"a36a61706956657273696f6e627631646b696e6469436f6e6669674d6170686d65746164617461a1646e616d654161", "a46a61706956657273696f6e627631646b696e6469436f6e6669674d6170646b696e6469436f6e6669674d6170686d65746164617461a1646e616d656161",
	"a46a61706956657273696f6e627631646b696e6469436f6e6669674d6170686d65746164617461a1646e616d6561616464617461a1616b01", "a46a61706956657273696f6e627631646b696e6469436f6e6669674d6170686d65746164617461a1646e616d65616164646174 61a1016176",
	"a46a61706956657273696f6e627631646b696e6469436f6e6669674d6170686d65746164617461a1646e616d6561616464617461a1616bf97e00", "a46a61706956657273696f6e627631646b696e6469436f6e6669674d6170686d65746164617461a1646e616d6561616464617461bf616b6176ff",
	"a46a61706956657273696f6e627631646b696e6469436f6e6669674d6170686d65746164617461a1646e616d65616164646174 61a1616b7f61766177ff", "a46a61706956657273696f6e627631646b696e6469436f6e6669674d6170686d65746164617461a1646e616d656161697a7a7a6e6b6e6f776e01", "1bffffffffffffffff", "c11a514b67b0", "c24101",
}

// An encodedKind is a kind whose objects a story is about.
type encodedKind struct {
	collection, apiVersion, kind string
	body                         object
}

// encoded are kinds with the types of fields that an encoding has rules for.
var encoded = []encodedKind{
	{"/api/v1/namespaces/{id}/configmaps", "v1", "ConfigMap", object{"data": object{"a": "1", "b": "é\x00"}, "binaryData": object{"c": "AP8="}, "immutable": false}},
	{"/api/v1/namespaces/{id}/secrets", "v1", "Secret", object{"data": object{"a": "AP8=", "b": ""}, "stringData": object{"c": "d"}, "type": "Opaque"}},
	{"/api/v1/namespaces/{id}/pods", "v1", "Pod", object{"spec": object{
		"containers": list{object{"name": "c", "image": "i", "resources": object{"limits": object{"cpu": "1500m", "memory": "1Gi"}, "requests": object{"cpu": "0.5"}},
			"livenessProbe": object{"httpGet": object{"port": "http", "path": "/"}, "periodSeconds": 5}, "readinessProbe": object{"tcpSocket": object{"port": 80}}, "env": list{object{"name": "A", "value": ""}}}},
		"terminationGracePeriodSeconds": 0, "activeDeadlineSeconds": 7, "automountServiceAccountToken": false,
		"volumes": list{object{"name": "v", "emptyDir": object{"sizeLimit": "1.5Gi"}}, object{"name": "p", "projected": object{"sources": list{object{"serviceAccountToken": object{"path": "t", "expirationSeconds": 700}}}}}},
	}}},
	{"/apis/apps/v1/namespaces/{id}/deployments", "apps/v1", "Deployment", object{"spec": object{
		"replicas": 0, "selector": object{"matchLabels": object{"a": "b"}}, "strategy": object{"rollingUpdate": object{"maxSurge": "25%", "maxUnavailable": 0}},
		"template": object{"metadata": object{"labels": object{"a": "b"}, "creationTimestamp": nil}, "spec": object{"containers": list{object{"name": "c", "image": "i"}}}},
	}}},
	{"/apis/coordination.k8s.io/v1/namespaces/{id}/leases", "coordination.k8s.io/v1", "Lease", object{"spec": object{"holderIdentity": "h", "leaseDurationSeconds": 15, "renewTime": "2024-05-06T07:08:09.123456Z", "acquireTime": "2024-05-06T07:08:09.000000Z"}}},
	{"/apis/apps/v1/namespaces/{id}/controllerrevisions", "apps/v1", "ControllerRevision", object{"revision": 3, "data": object{"spec": object{"a": 1, "b": list{1.5, nil, "x"}}, "apiVersion": "v1", "kind": "X"}}},
	{"/apis/autoscaling/v2/namespaces/{id}/horizontalpodautoscalers", "autoscaling/v2", "HorizontalPodAutoscaler", object{"spec": object{
		"minReplicas": 1, "maxReplicas": 3, "scaleTargetRef": object{"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"},
		"metrics": list{object{"type": "Resource", "resource": object{"name": "cpu", "target": object{"type": "AverageValue", "averageValue": "100m"}}}},
	}}},
	{"/apis/discovery.k8s.io/v1/namespaces/{id}/endpointslices", "discovery.k8s.io/v1", "EndpointSlice", object{"addressType": "IPv4", "endpoints": list{object{"addresses": list{"192.0.2.1"}, "conditions": object{"ready": false}, "zone": "z"}}, "ports": list{object{"port": 80, "name": ""}}}},
	{"/apis/networking.k8s.io/v1/namespaces/{id}/networkpolicies", "networking.k8s.io/v1", "NetworkPolicy", object{"spec": object{"podSelector": object{}, "ingress": list{object{}, object{"ports": list{object{"port": "http"}, object{"port": 80, "endPort": 90}}, "from": list{}}}, "policyTypes": list{"Ingress"}}}},
	{"/apis/{id}.example.com/v1/namespaces/{id}/things", "{id}.example.com/v1", "Thing", object{"spec": object{"a": 1, "b": list{1.5, nil, "x", true}, "c": object{"d": -7, "e": "2024-05-06T07:08:09Z"}, "f": 1 << 40}}},
}
