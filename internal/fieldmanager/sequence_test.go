package fieldmanager

import (
	"strings"
	"testing"
)

// The expectations were recorded from kube-apiserver v1.36.3.
func TestSequences(t *testing.T) {
	configMap := builtin(t, "", "v1", "ConfigMap")
	deployment := builtin(t, "apps", "v1", "Deployment")
	slice := builtin(t, "discovery.k8s.io", "v1", "EndpointSlice")
	described := custom(t, `
type: object
properties:
  apiVersion: {type: string}
  kind: {type: string}
  metadata: {type: object}
  spec:
    type: object
    properties:
      items:
        type: array
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [name, proto]
        items:
          type: object
          properties: {name: {type: string}, proto: {type: string, default: TCP}, v: {type: integer}}
      ref: {type: object, x-kubernetes-map-type: atomic, properties: {a: {type: string}, b: {type: string}}}
      tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}
`)
	// pods is a Deployment with a template.
	const pods = `
spec:
  replicas: 1
  selector: {matchLabels: {a: b}}
  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}
`
	const ownsPods = "f:replicas:{},f:selector:{},f:template:{f:metadata:{f:labels:{.:{},f:a:{}}},f:spec:{f:containers:{k:{'name':'c'}:{.:{},f:image:{},f:name:{},f:resources:{}}}}}"

	for _, s := range []sequence{
		{"apply creates, changes nothing, adds and removes fields", configMap, []step{
			Apply{By: "one", Object: `{data: {a: x, b: x}, metadata: {labels: {l: m}}}`,
				Managed: []string{"one Apply 0 {f:data:{f:a:{},f:b:{}},f:metadata:{f:labels:{f:l:{}}}}"}},
			Apply{By: "one", Object: `{data: {a: x, b: x}, metadata: {labels: {l: m}}}`,
				Managed: []string{"one Apply 0 {f:data:{f:a:{},f:b:{}},f:metadata:{f:labels:{f:l:{}}}}"}},
			Apply{By: "one", Object: `data: {b: w, c: x}`, Want: `data: {b: w, c: x}`,
				Managed: []string{"one Apply 2 {f:data:{f:b:{},f:c:{}}}"}},
			Apply{By: "one", Object: `{}`, Want: `{}`, Managed: []string{}},
		}},
		{"empty lists and maps are owned if JSON encodes them", slice, []step{
			Put{By: "one", Object: `{metadata: {labels: {}, finalizers: []}, addressType: IPv4, endpoints: []}`,
				Managed: []string{"one Update 0 {f:addressType:{},f:endpoints:{}}"}},
		}},
		{"empty lists and maps that JSON omits change nothing", deployment, []step{
			Put{By: "one", Object: pods, Managed: []string{"one Update 0 {f:spec:{" + ownsPods + "}}"}},
			Put{By: "two", Object: `
metadata: {labels: {}}
spec:
  replicas: 1
  selector: {matchLabels: {a: b}, matchExpressions: []}
  template: {metadata: {labels: {a: b}, annotations: {}}, spec: {containers: [{name: c, image: i, args: [], env: []}], nodeSelector: {}}}
`, Managed: []string{"one Update 0 {f:spec:{" + ownsPods + "}}"}},
		}},
		{"changing a field that another manager applied is a conflict", configMap, []step{
			Apply{By: "one", Object: `data: {a: x, b: x}`},
			Apply{By: "two", Object: `data: {a: w}`,
				Err: `Apply failed with 1 conflict: conflict with "one": .data.a`},
			Apply{By: "two", Object: `data: {a: w, b: w, c: new}`,
				Err: "Apply failed with 2 conflicts: conflicts with \"one\":\n- .data.a\n- .data.b"},
			Apply{By: "two", Object: `data: {a: w}`, Force: true, Want: `data: {a: w, b: x}`, Managed: []string{
				"one Apply 0 {f:data:{f:b:{}}}",
				"two Apply 3 {f:data:{f:a:{}}}",
			}},
		}},
		{"conflicts name version and subresource of Update entries", deployment, []step{
			Put{By: "updater", Object: pods, Managed: []string{"updater Update 0 {f:spec:{" + ownsPods + "}}"}},
			Apply{By: "applier", Object: `spec: {replicas: 3, template: {spec: {containers: [{name: c, image: j}]}}}`,
				Err: "Apply failed with 2 conflicts: conflicts with \"updater\" using apps/v1:\n- .spec.replicas\n- .spec.template.spec.containers[name=\"c\"].image"},
			Patch{By: "scaler", Subresource: "scale", Merge: `spec: {replicas: 7}`, Managed: []string{
				"updater Update 0 {f:spec:{" + ownsPods[len("f:replicas:{},"):] + "}}",
				"scaler/scale Update 2 {f:spec:{f:replicas:{}}}",
			}},
			Apply{By: "applier", Object: `spec: {replicas: 3, paused: true, template: {spec: {containers: [{name: c, image: j}]}}}`,
				Err: "Apply failed with 2 conflicts: conflicts with \"scaler\" with subresource \"scale\" using apps/v1:\n- .spec.replicas\n" +
					"conflicts with \"updater\" using apps/v1:\n- .spec.template.spec.containers[name=\"c\"].image"},
		}},
		{"managers that apply the same value share the field until both remove it", configMap, []step{
			Apply{By: "one", Object: `data: {a: x}`},
			Apply{By: "two", Object: `data: {a: x}`, Managed: []string{
				"two Apply - {f:data:{f:a:{}}}",
				"one Apply 0 {f:data:{f:a:{}}}",
			}},
			Apply{By: "one", Object: `data: {b: x}`, Want: `data: {a: x, b: x}`, Managed: []string{
				"two Apply - {f:data:{f:a:{}}}",
				"one Apply 2 {f:data:{f:b:{}}}",
			}},
			Apply{By: "two", Object: `{}`, Want: `data: {b: x}`, Managed: []string{"one Apply 2 {f:data:{f:b:{}}}"}},
		}},
		{"each element of a map list has its own owners", deployment, []step{
			Apply{By: "one", Object: `
spec:
  selector: {matchLabels: {a: b}}
  template:
    spec: {containers: [{name: c, image: i, env: [{name: A, value: x}], ports: [{containerPort: 80}]}]}
`},
			Apply{By: "two", Object: `
spec: {template: {spec: {containers: [{name: c, env: [{name: B, value: x}], ports: [{containerPort: 80, protocol: UDP}]}, {name: d, image: s}]}}}
`, Managed: []string{
				"one Apply 0 {f:spec:{f:selector:{},f:template:{f:spec:{f:containers:{k:{'name':'c'}:{.:{},f:env:{k:{'name':'A'}:{.:{},f:name:{},f:value:{}}},f:image:{},f:name:{},f:ports:{k:{'containerPort':80,'protocol':'TCP'}:{.:{},f:containerPort:{}}}}}}}}}",
				"two Apply 1 {f:spec:{f:template:{f:spec:{f:containers:{k:{'name':'c'}:{.:{},f:env:{k:{'name':'B'}:{.:{},f:name:{},f:value:{}}},f:name:{},f:ports:{k:{'containerPort':80,'protocol':'UDP'}:{.:{},f:containerPort:{},f:protocol:{}}}},k:{'name':'d'}:{.:{},f:image:{},f:name:{}}}}}}}",
			}},
			Apply{By: "two", Object: `spec: {template: {spec: {containers: [{name: c, env: [{name: A, value: x}]}]}}}`, Want: `
spec:
  selector: {matchLabels: {a: b}}
  template:
    spec: {containers: [{name: c, image: i, env: [{name: A, value: x}], ports: [{containerPort: 80}]}]}
`},
			Apply{By: "two", Object: `spec: {template: {spec: {containers: [{name: c, env: [{name: A, value: z}]}]}}}`,
				Err: `Apply failed with 1 conflict: conflict with "one": .spec.template.spec.containers[name="c"].env[name="A"].value`},
		}},
		{"each element of sets and maps in metadata has its own owners", configMap, []step{
			Apply{By: "one", Object: `metadata: {finalizers: [ex.com/a], ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: u1}]}`,
				Managed: []string{"one Apply 0 {f:metadata:{f:finalizers:{v:'ex.com/a':{}},f:ownerReferences:{k:{'uid':'u1'}:{}}}}"}},
			Apply{By: "two", Object: `metadata: {finalizers: [ex.com/b]}`,
				Want: `metadata: {finalizers: [ex.com/a, ex.com/b], ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: u1}]}`},
			Apply{By: "one", Object: `{}`, Want: `metadata: {finalizers: [ex.com/b]}`,
				Managed: []string{"two Apply 1 {f:metadata:{f:finalizers:{v:'ex.com/b':{}}}}"}},
		}},
		{"atomic lists and maps have one owner", deployment, []step{
			Apply{By: "one", Object: `spec: {template: {spec: {nodeSelector: {disk: ssd}, tolerations: [{key: k, operator: Exists}]}}}`,
				Managed: []string{"one Apply 0 {f:spec:{f:template:{f:spec:{f:nodeSelector:{},f:tolerations:{}}}}}"}},
			Apply{By: "two", Object: `spec: {template: {spec: {nodeSelector: {zone: z}, tolerations: [{key: l, operator: Exists}]}}}`,
				Err: "Apply failed with 2 conflicts: conflicts with \"one\":\n- .spec.template.spec.nodeSelector\n- .spec.template.spec.tolerations"},
			Apply{By: "two", Force: true, Object: `spec: {template: {spec: {nodeSelector: {zone: z}}}}`,
				Want: `spec: {template: {spec: {nodeSelector: {zone: z}, tolerations: [{key: k, operator: Exists}]}}}`},
		}},
		{"an update owns the fields that it changes", configMap, []step{
			Put{By: "creator", Object: `{data: {a: x, b: x}, metadata: {labels: {l: m}}}`,
				Managed: []string{"creator Update 0 {f:data:{.:{},f:a:{},f:b:{}},f:metadata:{f:labels:{.:{},f:l:{}}}}"}},
			Patch{By: "patcher", Merge: `data: {b: w, c: x}`, Managed: []string{
				"creator Update 0 {f:data:{.:{},f:a:{}},f:metadata:{f:labels:{.:{},f:l:{}}}}",
				"patcher Update 1 {f:data:{f:b:{},f:c:{}}}",
			}},
			Put{By: "putter", Object: `{data: {a: x, c: x, d: x}, metadata: {labels: {l: m}}}`, Managed: []string{
				"creator Update 0 {f:data:{.:{},f:a:{}},f:metadata:{f:labels:{.:{},f:l:{}}}}",
				"patcher Update 1 {f:data:{f:c:{}}}",
				"putter Update 2 {f:data:{f:d:{}}}",
			}},
			Patch{By: "patcher", Merge: `data: {a: x}`, Managed: []string{
				"creator Update 0 {f:data:{.:{},f:a:{}},f:metadata:{f:labels:{.:{},f:l:{}}}}",
				"patcher Update 1 {f:data:{f:c:{}}}",
				"putter Update 2 {f:data:{f:d:{}}}",
			}},
			Patch{By: "", Merge: `data: {a: z}`, Managed: []string{
				"creator Update 0 {f:data:{},f:metadata:{f:labels:{.:{},f:l:{}}}}",
				"patcher Update 1 {f:data:{f:c:{}}}",
				"putter Update 2 {f:data:{f:d:{}}}",
				"unknown Update 4 {f:data:{f:a:{}}}",
			}},
			Patch{By: "creator", Merge: `{data: null, metadata: {labels: null}}`},
		}},
		{"only writes to the status own the status, and nothing else", deployment, []step{
			Put{By: "maker", Object: pods + "status: {replicas: 9}", Managed: []string{"maker Update 0 {f:spec:{" + ownsPods + "}}"}},
			Apply{By: "ctl", Subresource: "status", Object: `{spec: {replicas: 9}, status: {replicas: 1, conditions: [{type: Available, status: "True"}]}}`, Force: true, Managed: []string{
				"ctl/status Apply 1 {f:status:{f:conditions:{k:{'type':'Available'}:{.:{},f:status:{},f:type:{}}},f:replicas:{}}}",
				"maker Update 0 {f:spec:{" + ownsPods + "}}",
			}},
			Patch{By: "upd", Subresource: "status", Merge: `status: {readyReplicas: 1}`, Managed: []string{
				"ctl/status Apply 1 {f:status:{f:conditions:{k:{'type':'Available'}:{.:{},f:status:{},f:type:{}}},f:replicas:{}}}",
				"maker Update 0 {f:spec:{" + ownsPods + "}}",
				"upd/status Update 2 {f:status:{f:readyReplicas:{}}}",
			}},
		}},
		{"an empty list or an empty entry clears managedFields permanently", configMap, []step{
			Put{By: "one", Object: `data: {a: x}`, Managed: []string{"one Update 0 {f:data:{.:{},f:a:{}}}"}},
			Put{By: "one", Object: `{data: {a: x}, metadata: {managedFields: [{}]}}`},
			Patch{By: "two", Merge: `data: {b: x}`},
			Put{By: "one", Object: `{data: {a: x}, metadata: {managedFields: []}}`},
		}},
		{"a subresource does not write managedFields", configMap, []step{
			Put{By: "one", Object: `data: {a: x}`, Managed: []string{"one Update 0 {f:data:{.:{},f:a:{}}}"}},
			Put{By: "one", Subresource: "status", Object: `{data: {a: x}, metadata: {managedFields: [{}]}}`,
				Managed: []string{"one Update 0 {f:data:{.:{},f:a:{}}}"}},
		}},
		{"an update may replace managedFields by readable ones only", configMap, []step{
			Put{By: "one", Object: `data: {a: x, b: x}`, Managed: []string{"one Update 0 {f:data:{.:{},f:a:{},f:b:{}}}"}},
			Put{By: "one", Object: `{data: {a: x, b: x}, metadata: {managedFields: [{manager: x, operation: Nonsense, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {}}]}}`,
				Managed: []string{"one Update 0 {f:data:{.:{},f:a:{},f:b:{}}}"}},
			Put{By: "one", Object: `{data: {a: x, b: x}, metadata: {managedFields: [{manager: x, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:a": {}}}}]}}`,
				Managed: []string{"x Apply - {f:data:{f:a:{}}}"}},
		}},
		{"the first apply to an object without managedFields adds before-first-apply", configMap, []step{
			Put{By: "one", Object: `data: {a: x, b: x}`, Managed: []string{"one Update 0 {f:data:{.:{},f:a:{},f:b:{}}}"}},
			Put{By: "one", Object: `{data: {a: x, b: x}, metadata: {managedFields: [{}]}}`},
			Apply{By: "one", Object: `data: {a: w}`,
				Err: `Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.a`},
			Apply{By: "one", Object: `data: {a: w}`, Force: true, Want: `data: {a: w, b: x}`, Managed: []string{
				"one Apply 3 {f:data:{f:a:{}}}",
				"before-first-apply Update 3 {f:data:{.:{},f:b:{}}}",
			}},
		}},
		{"kubectl takes over from client-side apply", configMap, []step{
			Put{By: "kubectl-client-side-apply", Object: `
metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"annotations":{},"name":"a"},"data":{"a":"x","b":"x"}}'}}
data: {a: x, b: x}
`, Managed: []string{"kubectl-client-side-apply Update 0 {f:data:{.:{},f:a:{},f:b:{}},f:metadata:{f:annotations:{.:{},f:kubectl.kubernetes.io/last-applied-configuration:{}}}}"}},
			Apply{By: "kubectl", Object: `data: {a: w}`, Want: `
metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: "{\"apiVersion\":\"v1\",\"data\":{\"a\":\"w\"},\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"}}\n"}}
data: {a: w, b: x}
`, Managed: []string{
				"kubectl Apply 1 {f:data:{f:a:{}}}",
				"kubectl-client-side-apply Update 0 {f:data:{.:{},f:b:{}},f:metadata:{f:annotations:{.:{},f:kubectl.kubernetes.io/last-applied-configuration:{}}}}",
			}},
			Apply{By: "other", Object: `data: {b: w}`,
				Err: `Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using v1: .data.b`},
			Patch{By: "editor", Merge: `data: {b: z}`, Managed: []string{
				"kubectl Apply 1 {f:data:{f:a:{}}}",
				"kubectl-client-side-apply Update 0 {f:data:{},f:metadata:{f:annotations:{.:{},f:kubectl.kubernetes.io/last-applied-configuration:{}}}}",
				"editor Update 3 {f:data:{f:b:{}}}",
			}},
			Apply{By: "kubectl", Object: `data: {a: x, b: w}`,
				Err: `Apply failed with 1 conflict: conflict with "editor" using v1: .data.b`},
		}},
		{"kubectl takes over nothing from an annotation without a kind", configMap, []step{
			Put{By: "one", Object: `
metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"v1","kind":null,"data":{"a":"x"}}'}}
data: {a: x}
`, Managed: []string{"one Update 0 {f:data:{.:{},f:a:{}},f:metadata:{f:annotations:{.:{},f:kubectl.kubernetes.io/last-applied-configuration:{}}}}"}},
			Apply{By: "kubectl", Object: `data: {a: w}`, Err: `Apply failed with 1 conflict: conflict with "one" using v1: .data.a`},
		}},
		{"the last-applied annotation follows kubectl's applies", configMap, []step{
			Apply{By: "kubectl", Object: `
metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"data":{"a":"x"}}', b: x}}
data: {a: x}
`, Want: `
metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: "{\"apiVersion\":\"v1\",\"data\":{\"a\":\"x\"},\"kind\":\"ConfigMap\",\"metadata\":{\"annotations\":{\"b\":\"x\"},\"name\":\"a\"}}\n", b: x}}
data: {a: x}
`},
			Apply{By: "other", Object: `data: {b: x}`, Want: `
metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: "{\"apiVersion\":\"v1\",\"data\":{\"a\":\"x\"},\"kind\":\"ConfigMap\",\"metadata\":{\"annotations\":{\"b\":\"x\"},\"name\":\"a\"}}\n", b: x}}
data: {a: x, b: x}
`},
			Apply{By: "kubectl", Object: `
metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: '{}', b: null}}
data: {a: x}
`, Want: `
metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: "{\"apiVersion\":\"v1\",\"data\":{\"a\":\"x\"},\"kind\":\"ConfigMap\",\"metadata\":{\"annotations\":{\"b\":\"\"},\"name\":\"a\"}}\n", b: ""}}
data: {a: x, b: x}
`},
			Apply{By: "kubectl", Object: `
metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: '{}', b: x}}
data: {a: "` + strings.Repeat("x", 256<<10) + `"}
`, Want: `
metadata: {annotations: {b: x}}
data: {a: "` + strings.Repeat("x", 256<<10) + `", b: x}
`},
		}},
		{"kubectl takes over only fields that client-side apply set", configMap, []step{
			Put{By: "creator", Object: `{data: {a: x}, metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: 'not JSON'}}}`,
				Managed: []string{"creator Update 0 {f:data:{.:{},f:a:{}},f:metadata:{f:annotations:{.:{},f:kubectl.kubernetes.io/last-applied-configuration:{}}}}"}},
			Apply{By: "kubectl", Object: `data: {a: w}`, Err: `Apply failed with 1 conflict: conflict with "creator" using v1: .data.a`},
			Patch{By: "creator", Merge: `metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"v1","data":{"a":1}}'}}`,
				Managed: []string{"creator Update 2 {f:data:{.:{},f:a:{}},f:metadata:{f:annotations:{.:{},f:kubectl.kubernetes.io/last-applied-configuration:{}}}}"}},
			Apply{By: "kubectl", Object: `data: {a: w}`, Err: `Apply failed with 1 conflict: conflict with "creator" using v1: .data.a`},
		}},
		{"nulls and empty maps are owned as values", configMap, []step{
			Apply{By: "one", Object: `{data: {a: null, b: x}, metadata: {labels: null}}`, Want: `data: {a: "", b: x}`,
				Managed: []string{"one Apply 0 {f:data:{f:a:{},f:b:{}},f:metadata:{f:labels:{}}}"}},
			Apply{By: "one", Object: `data: {}`, Want: `{}`, Managed: []string{"one Apply 1 {f:data:{}}"}},
		}},
		{"a configuration that does not match the schema fails", deployment, []step{
			Apply{By: "one", Object: `spec: {template: {spec: {containers: [{name: c}, {name: c}]}}}`,
				Err: `failed to create typed patch object (/a; apps/v1, Kind=Deployment): .spec.template.spec.containers: duplicate entries for key [name="c"]`},
			Apply{By: "one", Object: `metadata: {namespace: ns, finalizers: [ex.com/a, ex.com/a]}`,
				Err: `failed to create typed patch object (ns/a; apps/v1, Kind=Deployment): .metadata.finalizers: duplicate entries for key [="ex.com/a"]`},
			Apply{By: "one", Object: `spec: {template: {spec: {containers: [{name: c, imag: i}]}}}`,
				Err: `failed to create typed patch object (/a; apps/v1, Kind=Deployment): .spec.template.spec.containers[name="c"].imag: field not declared in schema`},
			Apply{By: "one", Object: `spec: {replicas: three}`,
				Err: `failed to create typed patch object (/a; apps/v1, Kind=Deployment): .spec.replicas: expected numeric (int or float), got string`},
			Apply{By: "one", Object: `metadata: {labels: {a: 1}}`,
				Err: `failed to create typed patch object (/a; apps/v1, Kind=Deployment): .metadata.labels.a: expected string, got &value.valueUnstructured{Value:1}`},
		}},
		{"a configuration with managedFields fails", configMap, []step{
			Apply{By: "one", Object: `metadata: {managedFields: [{manager: x}]}`, Err: "metadata.managedFields must be nil"},
			Apply{By: "one", Object: `metadata: {managedFields: []}`, Err: "metadata.managedFields must be nil"},
			Apply{By: "one", Object: `metadata: {managedFields: [x]}`, Err: "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .metadata.managedFields[0]: expected map, got &{x}"},
		}},
		{"lists with a patch merge strategy are maps and sets", custom(t, `
type: object
properties:
  apiVersion: {type: string}
  kind: {type: string}
  metadata: {type: object}
  map: {type: array, x-kubernetes-patch-strategy: merge, x-kubernetes-patch-merge-key: name, items: {type: object, properties: {name: {type: string}}}}
  set: {type: array, x-kubernetes-patch-strategy: merge, items: {type: string}}
  list: {type: array, x-kubernetes-patch-strategy: replace}
`), []step{
			Apply{By: "one", Object: `{map: [{name: a}], set: [a], list: [a]}`,
				Managed: []string{"one Apply 0 {f:list:{},f:map:{k:{'name':'a'}:{.:{},f:name:{}}},f:set:{v:'a':{}}}"}},
		}},
		{"a custom resource without a schema has atomic lists", custom(t, ""), []step{
			Apply{By: "one", Object: `spec: {free: {deep: {q: 1}, l: [1]}, list: [x]}`,
				Managed: []string{"one Apply 0 {f:spec:{.:{},f:free:{.:{},f:deep:{.:{},f:q:{}},f:l:{}},f:list:{}}}"}},
			Apply{By: "two", Object: `spec: {free: {deep: {q: 5}, l: [2]}, list: [z]}`,
				Err: "Apply failed with 3 conflicts: conflicts with \"one\":\n- .spec.list\n- .spec.free.l\n- .spec.free.deep.q"},
			Patch{By: "two", Merge: `spec: {free: {l: null}}`, Managed: []string{
				"one Apply 0 {f:spec:{.:{},f:free:{.:{},f:deep:{.:{},f:q:{}}},f:list:{}}}"}},
		}},
		{"the schema of a custom resource declares its list and map types", described, []step{
			Apply{By: "one", Object: `spec: {items: [{name: i1, v: 1}], ref: {a: x}, tags: [t1]}`,
				Managed: []string{"one Apply 0 {f:spec:{f:items:{k:{'name':'i1','proto':'TCP'}:{.:{},f:name:{},f:v:{}}},f:ref:{},f:tags:{v:'t1':{}}}}"}},
			Apply{By: "two", Object: `spec: {items: [{name: i1, proto: UDP, v: 2}, {name: i2}], tags: [t2, t1]}`,
				Want: `spec: {items: [{name: i1, v: 1}, {name: i1, proto: UDP, v: 2}, {name: i2}], ref: {a: x}, tags: [t2, t1]}`},
			Apply{By: "two", Object: `spec: {items: [{name: i1, v: 5}], ref: {b: w}}`,
				Err: "Apply failed with 2 conflicts: conflicts with \"one\":\n- .spec.ref\n- .spec.items[name=\"i1\",proto=\"TCP\"].v"},
			Apply{By: "two", Object: `spec: {ref: ["5%", 1]}`,
				Err: "failed to create typed patch object (/a; ex.com/v1, Kind=Foo): .spec.ref: expected map, got &{[5% 1]}"},
		}},
		{"an empty list does not clear the managedFields of a custom resource", described, []step{
			Put{By: "one", Object: `spec: {tags: [t1]}`, Managed: []string{"one Update 0 {f:spec:{.:{},f:tags:{.:{},v:'t1':{}}}}"}},
			Put{By: "one", Object: `{metadata: {managedFields: []}, spec: {tags: [t1]}}`, Managed: []string{"one Update 0 {f:spec:{.:{},f:tags:{.:{},v:'t1':{}}}}"}},
			Put{By: "one", Object: `{metadata: {managedFields: [{}]}, spec: {tags: [t1]}}`},
		}},
	} {
		t.Run(s.name, s.run)
	}
}
