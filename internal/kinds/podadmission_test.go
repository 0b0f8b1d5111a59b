package kinds

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

// An admission is what admission makes of a new object: the value at a path, or
// a refusal.
type admission struct {
	name    string
	cluster []string // what there is beside it
	body    string
	path    string
	want    string
	refused string
}

func testAdmission(t *testing.T, name string, rows []admission) {
	typ := typeOf(t, name)
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			w := &resource.Write{Object: decoded(t, typ, r.body), Cluster: clusterOf(t, r.cluster...)}
			err := admitted(typ, w)
			if r.refused != "" {
				assert.EqualError(t, err, r.refused)
				return
			}
			require.NoError(t, err)
			row{path: r.path, want: r.want}.check(t, w.Object)
		})
	}
}

// admitted runs both steps of admission.
func admitted(typ *resource.Type, w *resource.Write) error {
	if typ.Mutate != nil {
		if err := typ.Mutate(w); err != nil {
			return err
		}
	}
	if typ.Admit != nil {
		return typ.Admit(w)
	}
	return nil
}

func priorityClass(name, fields string) string {
	return `{"kind":"PriorityClass","apiVersion":"scheduling.k8s.io/v1","metadata":{"name":"` + name + `"},` + fields + `}`
}

func limitRange(limits string) string {
	return `{"kind":"LimitRange","apiVersion":"v1","metadata":{"name":"l","namespace":"n"},"spec":{"limits":[` + limits + `]}}`
}

// limitedPod is a pod in the namespace of limitRange with a container of the
// resources.
func limitedPod(resources, spec string) string {
	return `{"metadata":{"name":"p","namespace":"n"},"spec":{"containers":[{"name":"c","image":"i","resources":{` + resources + `}}]` + spec + `}}`
}

func TestAdmitPod(t *testing.T) {
	runtime := `{"kind":"RuntimeClass","apiVersion":"node.k8s.io/v1","metadata":{"name":"r"},"handler":"h",` +
		`"overhead":{"podFixed":{"cpu":"100m"}},"scheduling":{"nodeSelector":{"os":"x"},"tolerations":[{"key":"a","operator":"Exists"}]}}`
	node := `{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1","labels":{"topology.kubernetes.io/zone":"z","other":"o"}}}`
	testAdmission(t, "pods", []admission{
		{"priority of a class", []string{priorityClass("high", `"value":7,"preemptionPolicy":"Never"`)}, onePod("", `"priorityClassName":"high"`), "spec.preemptionPolicy", `"Never"`, ""},
		{"priority of the default class", []string{priorityClass("high", `"value":7,"globalDefault":true`), priorityClass("low", `"value":3,"globalDefault":true`)}, onePod("", ""), "spec.priority", `3`, ""},
		{"default class is named", []string{priorityClass("d", `"value":3,"globalDefault":true`)}, onePod("", ""), "spec.priorityClassName", `"d"`, ""},
		{"a class of the system", nil, onePod("", `"priorityClassName":"system-node-critical"`), "spec.priority", "2000001000", ""},
		{"an empty policy", nil, onePod("", `"preemptionPolicy":""`), "", "",
			"the string value of PreemptionPolicy () must not be provided in pod spec; priority admission controller computed PreemptLowerPriority from the given PriorityClass name"},
		{"no such class", nil, onePod("", `"priorityClassName":"none"`), "", "", "no PriorityClass with name none was found"},
		{"priority of its own", nil, onePod("", `"priority":5`), "", "", "the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name"},
		{"policy of its own", nil, onePod("", `"preemptionPolicy":"Never"`), "", "", "the string value of PreemptionPolicy (Never) must not be provided in pod spec; priority admission controller computed PreemptLowerPriority from the given PriorityClass name"},

		{"overhead of the runtime", []string{runtime}, onePod("", `"runtimeClassName":"r"`), "spec.overhead", `{"cpu":"100m"}`, ""},
		{"nodes of the runtime", []string{runtime}, onePod("", `"runtimeClassName":"r","nodeSelector":{"a":"b"}`), "spec.nodeSelector", `{"a":"b","os":"x"}`, ""},
		{"tolerations of the runtime", []string{runtime}, onePod("", `"runtimeClassName":"r","tolerations":[{"key":"a","operator":"Exists","effect":"NoSchedule"},{"operator":"Exists","effect":"NoExecute"}]`), "spec.tolerations", `[{"operator":"Exists","effect":"NoExecute"},{"key":"a","operator":"Exists"}]`, ""},
		{"other nodes than the runtime's", []string{runtime}, onePod("", `"runtimeClassName":"r","nodeSelector":{"os":"y"}`), "", "", "conflict: runtimeClass.scheduling.nodeSelector[os] = x; pod.spec.nodeSelector[os] = y"},
		{"other overhead than the runtime's", []string{runtime}, onePod("", `"runtimeClassName":"r","overhead":{"cpu":"1"}`), "", "", "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"},
		{"overhead without a runtime", nil, onePod("", `"overhead":{"cpu":"1"}`), "", "", "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"},
		{"no such runtime", nil, onePod("", `"runtimeClassName":"r"`), "", "", `pod rejected: RuntimeClass "r" not found`},

		{"labels of its node", []string{node}, onePod("", `"nodeName":"n1"`), "metadata.labels", `{"a":"1","b":"2","topology.kubernetes.io/zone":"z"}`, ""},
		{"no such node", nil, onePod("", `"nodeName":"n1"`), "metadata.labels", `{"a":"1","b":"2"}`, ""},
	})
}

func TestLimitPods(t *testing.T) {
	defaults := limitRange(`{"type":"Container","default":{"cpu":"2","memory":"1Gi"},"defaultRequest":{"cpu":"500m"}}`)
	bounds := limitRange(`{"type":"Container","min":{"cpu":"100m"},"max":{"cpu":"1"},"maxLimitRequestRatio":{"cpu":"2"}}`)
	whole := limitRange(`{"type":"Pod","max":{"cpu":"3"}}`)
	sidecar := `,"initContainers":[{"name":"s","image":"i","restartPolicy":"Always","resources":{"limits":{"cpu":"1500m"}}}]`
	testAdmission(t, "pods", []admission{
		{"defaults", []string{defaults}, limitedPod(`"limits":{"cpu":"3"}`, ""), "spec.containers.0.resources", `{"limits":{"cpu":"3","memory":"1Gi"},"requests":{"cpu":"3"}}`, ""},
		{"default request", []string{defaults}, limitedPod("", ""), "spec.containers.0.resources.requests", `{"cpu":"500m"}`, ""},
		{"defaults are noted", []string{defaults}, limitedPod("", ""), `metadata.annotations`, `{"kubernetes.io/limit-ranger":"LimitRanger plugin set: cpu request for container c; cpu, memory limit for container c"}`, ""},
		{"other namespace", []string{defaults}, strings.Replace(limitedPod("", ""), `"n"`, `"other"`, 1), "metadata.annotations", "", ""},
		{"within bounds", []string{bounds}, limitedPod(`"limits":{"cpu":"1"},"requests":{"cpu":"500m"}`, ""), "metadata.annotations", "", ""},
		{"below", []string{bounds}, limitedPod(`"limits":{"cpu":"100m"},"requests":{"cpu":"50m"}`, ""), "", "", "minimum cpu usage per Container is 100m, but request is 50m"},
		{"above", []string{bounds}, limitedPod(`"limits":{"cpu":"1500m"},"requests":{"cpu":"1"}`, ""), "", "", "maximum cpu usage per Container is 1, but limit is 1500m"},
		{"ratio", []string{bounds}, limitedPod(`"limits":{"cpu":"1"},"requests":{"cpu":"400m"}`, ""), "", "", "cpu max limit to request ratio per Container is 2, but provided ratio is 2.500000"},
		{"nothing said", []string{bounds}, limitedPod("", ""), "", "", "[minimum cpu usage per Container is 100m.  No request is specified, maximum cpu usage per Container is 1.  No limit is specified, cpu max limit to request ratio per Container is 2, but no request is specified or request is 0]"},
		{"sum of the pod", []string{whole}, limitedPod(`"limits":{"cpu":"2"}`, sidecar), "", "", "maximum cpu usage per Pod is 3, but limit is 3500m"},
		{"said for the pod", []string{whole}, limitedPod(`"limits":{"cpu":"2"}`, sidecar+`,"resources":{"limits":{"cpu":"3"},"requests":{"cpu":"3"}}`), "metadata.annotations", "", ""},
	})
}

func TestAdmitClaim(t *testing.T) {
	class := func(name, created, fields string) string {
		return `{"kind":"StorageClass","apiVersion":"storage.k8s.io/v1","metadata":{"name":"` + name + `","creationTimestamp":"` + created + `","annotations":{"storageclass.kubernetes.io/is-default-class":"true"}}` + fields + `}`
	}
	classes := []string{class("a", "2024-01-01T00:00:00Z", ""), class("b", "2024-01-02T00:00:00Z", `,"allowVolumeExpansion":true`), class("c", "2024-01-02T00:00:00Z", "")}
	claim := func(spec string) string {
		return `{"metadata":{"name":"c","namespace":"n"},"spec":{"resources":{"requests":{"storage":"1Gi"}}` + spec + `}}`
	}
	limits := limitRange(`{"type":"PersistentVolumeClaim","min":{"storage":"2Gi"},"max":{"storage":"500Mi"}}`)
	testAdmission(t, "persistentvolumeclaims", []admission{
		{"newest default class", classes, claim(""), "spec.storageClassName", `"b"`, ""},
		{"class of its own", classes, claim(`,"storageClassName":""`), "spec.storageClassName", `""`, ""},
		{"no class", nil, claim(""), "spec.storageClassName", "", ""},
		{"limits", []string{limits}, claim(""), "", "", "[minimum storage usage per PersistentVolumeClaim is 2Gi, but request is 1Gi, maximum storage usage per PersistentVolumeClaim is 500Mi, but request is 1Gi]"},
	})

	typ := typeOf(t, "persistentvolumeclaims")
	for _, r := range []struct{ name, class, phase, refused string }{
		{"resize", "b", "Bound", ""},
		{"unbound", "b", "Pending", "Only bound persistent volume claims can be expanded"},
		{"class that does not expand", "c", "Bound", "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"},
		{"no class", "", "Bound", "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"},
	} {
		t.Run(r.name, func(t *testing.T) {
			old := decoded(t, typ, claim(`,"storageClassName":"`+r.class+`"`))
			object.Set(old, r.phase, "status", "phase")
			obj := object.Copy(old)
			object.Set(obj, "2Gi", "spec", "resources", "requests", "storage")
			err := admitted(typ, &resource.Write{Object: obj, Old: old, Cluster: clusterOf(t, classes...)})
			if r.refused == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, r.refused)
			}
		})
	}
}

func TestAdmitClasses(t *testing.T) {
	testAdmission(t, "ingresses.networking.k8s.io", []admission{
		{"default class", []string{`{"kind":"IngressClass","apiVersion":"networking.k8s.io/v1","metadata":{"name":"i","annotations":{"ingressclass.kubernetes.io/is-default-class":"true"}}}`},
			`{"metadata":{"name":"a"}}`, "spec.ingressClassName", `"i"`, ""},
		{"no default class", []string{`{"kind":"IngressClass","apiVersion":"networking.k8s.io/v1","metadata":{"name":"i"}}`}, `{"metadata":{"name":"a"}}`, "spec.ingressClassName", "", ""},
	})
	testAdmission(t, "priorityclasses.scheduling.k8s.io", []admission{
		{"second default", []string{priorityClass("d", `"value":1,"globalDefault":true`)}, `{"metadata":{"name":"e"},"value":2,"globalDefault":true}`, "", "", "PriorityClass d is already marked as default. Only one default can exist"},
		{"first default", nil, `{"metadata":{"name":"e"},"value":2,"globalDefault":true}`, "globalDefault", `true`, ""},
	})
}
