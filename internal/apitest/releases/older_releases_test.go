package releases_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// What older releases answer otherwise.
func TestOlderReleases(t *testing.T) {
	const (
		merge      = "application/merge-patch+json"
		table      = "application/json;as=Table;g=meta.k8s.io;v=v1"
		proto      = "application/vnd.kubernetes.protobuf"
		configMaps = "/api/v1/namespaces/default/configmaps"
		claims     = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
		templates  = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates"
		classes    = "/apis/resource.k8s.io/v1/deviceclasses"
		taints     = "/apis/resource.k8s.io/v1/devicetaintrules"
		levels     = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations"
		accounts   = "/api/v1/namespaces/default/serviceaccounts"
		deployment = "/apis/apps/v1/namespaces/default/deployments/missing"
		streamed   = configMaps + "?watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=a"
		handled    = "only the following media types are accepted: "
		job        = "/apis/batch/v1/namespaces/default/jobs/j"
		cronJobs   = "/apis/batch/v1/namespaces/default/cronjobs"
		cronJob    = `{"metadata":{"name":"a"},"spec":{"schedule":"* * * * *","jobTemplate":{"spec":{"podFailurePolicy":{"rules":[{"action":"Count","onPodConditions":[{"type":"a"}]}]},` +
			`"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}}`
		notFound = `deployments.apps \"missing\" not found`
		scale    = `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"missing"},"spec":{"replicas":1}}`
	)
	const (
		pods        = "/api/v1/namespaces/default/pods"
		slice       = `{"metadata":{"name":"a"},"spec":{"driver":"d.example.com","nodeName":"n","pool":{"generation":1,"name":"a","resourceSliceCount":1}}}`
		constraint  = `{"metadata":{"name":"a"},"spec":{"devices":{"constraints":[{"distinctAttribute":"a.b/c"}]}}}`
		autoscalers = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers"
		autoscaler  = `{"metadata":{"name":"a","annotations":{"autoscaling.alpha.kubernetes.io/behavior":"{\"ScaleUp\":{\"SelectPolicy\":\"Max\",\"Policies\":[{\"Type\":\"Percent\",\"Value\":100,\"PeriodSeconds\":15}]}}"}},` +
			`"spec":{"maxReplicas":1,"scaleTargetRef":{"kind":"Deployment","name":"d"}}}`
	)
	pod := func(spec string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"automountServiceAccountToken":false,` + spec + `}}`
	}
	quantity := func(value, text string) string {
		return fmt.Sprintf(`resource.Quantity{i:resource.int64Amount{value:%s}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:\"%s\", Format:\"DecimalSI\"}: `, value, text)
	}
	servers := map[string]*fakeapi.Server{}
	for _, tt := range []struct {
		name, release                     string
		method, path, accept, media, body string
		code                              int
		want                              string
	}{
		{"a condition in the policy of a CronJob", "1.33", "POST", cronJobs, "", "application/json", cronJob, 422, `onPodConditions[0].status: Required value`},
		{"a condition in the policy of a CronJob", "1.34", "POST", cronJobs, "", "application/json", cronJob, 201, `"onPodConditions":[{"type":"a","status":"True"}]`},
		{"patch of no type without a body", "1.33", "PATCH", configMaps + "/a", "", "text/plain", "", 406, `406: Not Acceptable\n\nAvailable representations: "`},
		{"patch of no type without a body", "1.34", "PATCH", configMaps + "/a", "", "text/plain", "", 415, `"415: Unsupported Media Type"`},
		{"patch of no type", "1.33", "PATCH", configMaps + "/a", "", "text/plain", "x", 415, `"415: Unsupported Media Type"`},
		{"no media type", "1.33", "PATCH", configMaps + "/a", "text/html", merge, "{}", 406, `"406: Not Acceptable\n\nAvailable representations: application/json`},
		{"option and media type", "1.35", "GET", configMaps + "?limit=x", "application/json;as=Nonsense;g=a;v=b", "", "", 400, `strconv.ParseInt`},
		{"option and media type", "1.36", "GET", configMaps + "?limit=x", "application/json;as=Nonsense;g=a;v=b", "", "", 406, handled},
		{"selector and media type", "1.35", "GET", configMaps + "?fieldSelector=x%3Dy", "application/json;as=Nonsense;g=a;v=b", "", "", 406, handled},
		{"streaming list as a Table", "1.32", "GET", streamed, table, "", "", 406, handled},
		{"streaming list as a Table or else", "1.32", "GET", streamed, table + "," + proto, "", "", 200, "k8s.io/initial-events-end"},
		{"streaming list as a Table or else, in the first format", "1.32", "GET", streamed, table + "," + proto, "", "", 200, `{"type":"BOOKMARK"`},
		{"streaming list as a Table", "1.34", "GET", streamed, table, "", "", 200, "k8s.io/initial-events-end"},
		{"blueprint", "1.32", "GET", streamed, "", "", "", 200, "eyJraW5kIjoiQ29uZmlnTWFwTGlzdCIsImFwaVZlcnNpb24iOiJ2MSIsIm1ldGFkYXRhIjp7fSwiaXRlbXMiOm51bGx9Cg=="},
		{"blueprint in protobuf", "1.32", "GET", streamed, proto, "", "", 200, "azhzAAoTCgJ2MRINQ29uZmlnTWFwTGlzdBIICgYKABIAGgAaACIA"},
		{"blueprint of metadata in protobuf", "1.32", "GET", streamed, proto + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1", "", "", 200,
			"azhzAAorCg5tZXRhLms4cy5pby92MRIZUGFydGlhbE9iamVjdE1ldGFkYXRhTGlzdBIICgYKABIAGgAaACIA"},
		{"blueprint of a list of metadata", "1.32", "GET", streamed, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", "", "", 200,
			`no kind is registered for the type v1.ConfigMapList in scheme \"pkg/runtime/scheme.go:100\"`},
		{"blueprint of a list of metadata of a custom resource", "1.32", "GET", strings.Replace(streamed, configMaps, "/apis/ex.io/v1/namespaces/default/foos", 1), "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", "", "", 200,
			`no kind \"FooList\" is registered for version \"ex.io/v1\" in scheme \"pkg/runtime/scheme.go:100\"`},
		{"object with a scale", "1.32", "POST", "/apis/ex.io/v1/namespaces/default/foos", "", "application/json", `{"apiVersion":"ex.io/v1","kind":"Foo","metadata":{"name":"scaled"}}`, 201, "Foo"},
		{"scale of another kind", "1.32", "PATCH", "/apis/ex.io/v1/namespaces/default/foos/scaled/scale", "", merge, `{"apiVersion":"ex.io/v1","kind":"Foo"}`, 422,
			`no kind \"Foo\" is registered for version \"ex.io/v1\" in scheme \"pkg/runtime/scheme.go:100\"`},
		{"deprecated time of an event", "1.33", "POST", "/apis/events.k8s.io/v1/namespaces/default/events", "", "application/json", `{"metadata":{"name":"a"},"deprecatedLastTimestamp":"2024-05-06T07:08:09Z"}`, 422,
			`lastTimestamp: Invalid value: \"\": needs to be unset`},
		{"labels with ephemeral containers", "1.32", "PATCH", pods + "/bound/ephemeralcontainers", "", merge, `{"metadata":{"labels":{"a":"b"}},"spec":{"ephemeralContainers":[{"name":"e","image":"i"}]}}`, 200,
			`Z"},"spec"`},
		{"kind of a binding", "1.32", "POST", "/api/v1/namespaces/default/pods/a/binding", "", "application/json", `{"apiVersion":"meta.k8s.io/v1","kind":"DeleteOptions"}`, 400,
			`in scheme \"pkg/runtime/scheme.go:100\"`},
		{"restart policy of a container", "1.33", "POST", pods, "", "application/json", pod(`"containers":[{"name":"c","image":"i","restartPolicy":"Always"}]`), 422,
			`spec.containers[0].restartPolicy: Forbidden: may not be set for non-init containers`},
		{"restart policy of an init container", "1.33", "POST", pods, "", "application/json",
			pod(`"containers":[{"name":"c","image":"i"}],"initContainers":[{"name":"d","image":"i","restartPolicy":"OnFailure"}]`), 422,
			`Unsupported value: \"OnFailure\": supported values: \"Always\""`},
		{"restart policy of a container behind a gate", "1.34", "POST", pods + "?dryRun=All", "", "application/json", pod(`"containers":[{"name":"c","image":"i","restartPolicy":"Always"}]`), 201,
			`{"name":"c","image":"i","resources":{},`},
		{"network with set bits", "1.35", "POST", "/apis/networking.k8s.io/v1/servicecidrs?dryRun=All", "", "application/json", `{"metadata":{"name":"a"},"spec":{"cidrs":["10.1.0.1/24"]}}`, 422,
			`spec.cidrs[0]: Invalid value: \"10.1.0.1/24\": must not have bits set beyond the prefix length`},
		{"network with zeros", "1.35", "POST", "/apis/networking.k8s.io/v1/servicecidrs?dryRun=All", "", "application/json", `{"metadata":{"name":"a"},"spec":{"cidrs":["010.1.0.0/24"]}}`, 422,
			`must not have leading 0s in IP or prefix length`},
		{"endpoint with zeros", "1.32", "POST", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?dryRun=All", "", "application/json", `{"metadata":{"name":"a"},"addressType":"IPv4","endpoints":[{"addresses":["010.1.0.1"]}]}`, 201, `["010.1.0.1"]`},
		{"endpoint in upper case", "1.32", "POST", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?dryRun=All", "", "application/json", `{"metadata":{"name":"a"},"addressType":"IPv6","endpoints":[{"addresses":["FD00::1","10.1.0.1"]}]}`, 422,
			`\"a\" is invalid: endpoints[0].addresses[1]: Invalid value: \"10.1.0.1\": must be a valid IPv6 address"`},
		{"status of a new ServiceCIDR", "1.34", "POST", "/apis/networking.k8s.io/v1/servicecidrs?dryRun=All", "", "application/json",
			`{"metadata":{"name":"a"},"spec":{"cidrs":["10.1.0.0/24"]},"status":{"conditions":[{"type":"Ready","status":"True","reason":"R","message":"m","lastTransitionTime":"2026-01-02T03:04:05Z"}]}}`, 201, `"reason":"R"`},
		{"status of a new ServiceCIDR", "1.36", "POST", "/apis/networking.k8s.io/v1/servicecidrs?dryRun=All", "", "application/json",
			`{"metadata":{"name":"a"},"spec":{"cidrs":["10.1.0.0/24"]},"status":{"conditions":[{"type":"Ready","status":"True","reason":"R","message":"m","lastTransitionTime":"2026-01-02T03:04:05Z"}]}}`, 201, `"status":{}`},
		{"resource of a resize policy", "1.33", "POST", pods, "", "application/json",
			pod(`"containers":[{"name":"c","image":"i","resizePolicy":[{"resourceName":"b","restartPolicy":"NotRequired"}]}]`), 422, `Unsupported value: b: supported values: \"cpu\", \"memory\"`},
		{"action of a restart rule", "1.35", "POST", pods, "", "application/json",
			pod(`"containers":[{"name":"c","image":"i","restartPolicy":"Never","restartPolicyRules":[{"action":"A","exitCodes":{"operator":"In","values":[1]}}]}]`), 422,
			`Unsupported value: \"A\": supported values: \"Restart\"","field"`},
		{"action of a restart rule", "1.36", "POST", pods, "", "application/json",
			pod(`"containers":[{"name":"c","image":"i","restartPolicy":"Never","restartPolicyRules":[{"action":"A","exitCodes":{"operator":"In","values":[1]}}]}]`), 422,
			`Unsupported value: \"A\": supported values: \"Restart\", \"RestartAllContainers\"","field"`},
		{"restart of all containers", "1.35", "POST", pods, "", "application/json",
			pod(`"containers":[{"name":"c","image":"i","restartPolicy":"Never","restartPolicyRules":[{"action":"RestartAllContainers","exitCodes":{"operator":"In","values":[1]}}]}]`), 422,
			`Unsupported value: \"RestartAllContainers\": supported values: \"Restart\"","field"`},
		{"restart rules of a sidecar", "1.35", "POST", pods, "", "application/json",
			pod(`"containers":[{"name":"c","image":"i"}],"initContainers":[{"name":"s","image":"i","restartPolicy":"Always","restartPolicyRules":[{"action":"A"}]}]`), 422,
			`"message":"Pod \"a\" is invalid: spec.initContainers[0].restartPolicyRules: Forbidden: restartPolicyRules are not allowed for init containers with restart policy Always"`},
		{"restart rules of a sidecar", "1.36", "POST", pods, "", "application/json",
			pod(`"containers":[{"name":"c","image":"i"}],"initContainers":[{"name":"s","image":"i","restartPolicy":"Always","restartPolicyRules":[{"action":"A"}]}]`), 422,
			`initContainers[0].restartPolicyRules[0].action`},
		{"workload of a Pod", "1.35", "POST", pods + "?dryRun=All&fieldValidation=Strict", "", "application/json",
			pod(`"workloadRef":{"name":"w","podGroup":"g"},"containers":[{"name":"c","image":"i"}]`), 201, `"f:workloadRef":{".":{},"f:name":{},"f:podGroup":{}}`},
		{"workload of a Pod", "1.34", "POST", pods + "?fieldValidation=Strict", "", "application/json",
			pod(`"workloadRef":{"name":"w","podGroup":"g"},"containers":[{"name":"c","image":"i"}]`), 400, `unknown field \"spec.workloadRef\"`},
		{"workload of a Pod", "1.36", "POST", pods + "?fieldValidation=Strict", "", "application/json",
			pod(`"workloadRef":{"name":"w","podGroup":"g"},"containers":[{"name":"c","image":"i"}]`), 400, `unknown field \"spec.workloadRef\"`},
		{"image volume", "1.34", "POST", pods + "?dryRun=All", "", "application/json",
			pod(`"volumes":[{"name":"v","image":{"reference":"r"}},{"name":"w"}],"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"v","mountPath":"/v"},{"name":"w","mountPath":"/w"}]}]`), 201,
			`"volumeMounts":[{"name":"w","mountPath":"/w"}]`},
		{"only volume is an image", "1.34", "POST", pods + "?dryRun=All", "", "application/json",
			pod(`"volumes":[{"name":"v","image":{"reference":"r"}}],"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"v","mountPath":"/v"}]}]`), 201,
			`"spec":{"containers":[{"name":"c","image":"i","resources":{},"terminationMessagePath"`},
		{"image volume", "1.35", "POST", pods + "?dryRun=All", "", "application/json",
			pod(`"volumes":[{"name":"v","image":{"reference":"r"}}],"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"v","mountPath":"/v"}]}]`), 201,
			`"volumes":[{"name":"v","image":{"reference":"r","pullPolicy":"Always"}}]`},
		{"restart policy of an init container", "1.34", "POST", pods + "?dryRun=All", "", "application/json",
			pod(`"initContainers":[{"name":"i","image":"i","restartPolicy":"Never"},{"name":"s","image":"i","restartPolicy":"Always"}],"containers":[{"name":"c","image":"i"}]`), 201,
			`"spec":{"initContainers":[{"name":"i","image":"i","resources":{},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"Always"},{"name":"s","image":"i","resources":{},"restartPolicy":"Always"`},
		{"restart policy of an init container", "1.33", "POST", pods + "?dryRun=All", "", "application/json",
			pod(`"initContainers":[{"name":"i","image":"i","restartPolicy":"Never"}],"containers":[{"name":"c","image":"i"}]`), 422,
			`restartPolicy: Unsupported value: \"Never\": supported values: \"Always\"`},
		{"health of devices", "1.35", "PATCH", pods + "/bound/status?dryRun=All", "", merge,
			`{"status":{"containerStatuses":[{"name":"c","image":"i","imageID":"","ready":true,"restartCount":0,"allocatedResourcesStatus":[{"name":"a.b/c"}]}]}}`, 200, `"image":"i","imageID":""}]`},
		{"health of devices", "1.36", "PATCH", pods + "/bound/status?dryRun=All", "", merge,
			`{"status":{"containerStatuses":[{"name":"c","image":"i","imageID":"","ready":true,"restartCount":0,"allocatedResourcesStatus":[{"name":"a.b/c"}]}]}}`, 422,
			`containerStatuses[0].allocatedResourcesStatus[0].name: Invalid value`},
		{"generation in the status of a Pod", "1.33", "PATCH", pods + "/bound/status?dryRun=All", "", merge,
			`{"status":{"observedGeneration":3,"conditions":[{"type":"A","status":"True","observedGeneration":2}]}}`, 200, `"status":{"phase":"Pending","conditions":[{"type":"A","status":"True"`},
		{"claim for extended resources", "1.35", "PATCH", pods + "/bound/status?dryRun=All", "", merge,
			`{"status":{"extendedResourceClaimStatus":{"resourceClaimName":"A_"}}}`, 200, `"status":{"phase":"Pending"`},
		{"resources in the status of a Pod", "1.35", "PATCH", pods + "/bound/status?dryRun=All", "", merge,
			`{"status":{"resources":{"limits":{"cpu":"1"}}}}`, 200, `"status":{"phase":"Pending","qosClass":"BestEffort"}`},
		{"claims in the status of a Pod", "1.33", "PATCH", pods + "/bound/status?dryRun=All", "", merge,
			`{"status":{"resourceClaimStatuses":[{"name":"a"}]}}`, 200, `"status":{"phase":"Pending"`},
		{"user of a container", "1.32", "PATCH", pods + "/bound/status?dryRun=All", "", merge,
			`{"status":{"containerStatuses":[{"name":"c","image":"i","imageID":"","ready":true,"restartCount":0,"user":{"linux":{"uid":1,"gid":1}},"resources":{}}]}}`, 200, `"resources":{},"user":{"linux":{"uid":1,"gid":1}}}]`},
		{"user of a container that cannot be", "1.32", "PATCH", pods + "/bound/status?dryRun=All", "", merge,
			`{"status":{"containerStatuses":[{"name":"c","image":"i","imageID":"","ready":true,"restartCount":0,"user":{"linux":{"uid":-1,"gid":1}}}]}}`, 422, `status.containerStatuses[0].linux.uid: Invalid value: -1`},
		{"terminating replicas", "1.34", "PATCH", "/apis/apps/v1/namespaces/default/replicasets/r/status?dryRun=All", "", merge, `{"status":{"terminatingReplicas":-1}}`, 200, `"status":{"replicas":0}`},
		{"terminating replicas", "1.35", "PATCH", "/apis/apps/v1/namespaces/default/replicasets/r/status?dryRun=All", "", merge, `{"status":{"terminatingReplicas":-1}}`, 422,
			`status.terminatingReplicas: Invalid value: -1`},
		{"features that a Node declares", "1.35", "POST", "/api/v1/nodes?dryRun=All", "", "application/json", `{"metadata":{"name":"n"},"status":{"declaredFeatures":["b","a"]}}`, 201, `"nodeInfo"`},
		{"features that a Node declares", "1.36", "POST", "/api/v1/nodes?dryRun=All", "", "application/json", `{"metadata":{"name":"n"},"status":{"declaredFeatures":["b","a"]}}`, 422,
			`status.declaredFeatures[1]: Invalid value: \"a\": list must be sorted alphabetically`},
		{"hints for Nodes", "1.33", "POST", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?dryRun=All", "", "application/json",
			`{"metadata":{"name":"a"},"addressType":"IPv4","endpoints":[{"addresses":["10.0.0.1"],"hints":{"forNodes":[{"name":"n"}]}}]}`, 201, `"hints":{}`},
		{"only volume of a template, of an image", "1.34", "POST", "/apis/apps/v1/namespaces/default/replicasets?dryRun=All", "", "application/json",
			`{"metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{` +
				`"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"v","mountPath":"/v"}]}],"volumes":[{"name":"v","image":{"reference":"i"}}]}}}}`,
			201, `"spec":{"containers":[{"name":"c","image":"i","resources":{},"terminationMessagePath"`},
		{"labels of topology spread", "1.33", "POST", pods + "?dryRun=All", "", "application/json",
			`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"a":"1"}},"spec":{"containers":[{"name":"c","image":"i"}],"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"b":"c"}},"matchLabelKeys":["a"]}]}}`,
			201, `"labelSelector":{"matchLabels":{"b":"c"}},"matchLabelKeys":["a"]`},
		{"labels of topology spread", "1.34", "POST", pods + "?dryRun=All", "", "application/json",
			`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"a":"1"}},"spec":{"containers":[{"name":"c","image":"i"}],"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"b":"c"}},"matchLabelKeys":["a"]}]}}`,
			201, `"matchExpressions":[{"key":"a","operator":"In","values":["1"]}]`},
		{"label of topology spread that is selected", "1.33", "POST", pods, "", "application/json",
			pod(`"containers":[{"name":"c","image":"i"}],"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"b":"c"}},"matchLabelKeys":["b"]}]`),
			422, `topologySpreadConstraints[0].matchLabelKeys[0]: Invalid value: \"b\": exists in both matchLabelKeys and labelSelector`},
		{"label of topology spread that is selected", "1.34", "POST", pods + "?dryRun=All", "", "application/json",
			pod(`"containers":[{"name":"c","image":"i"}],"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"b":"c"}},"matchLabelKeys":["b"]}]`),
			201, `"matchLabelKeys":["b"]`},
		{"labels of topology spread without a selector", "1.33", "POST", pods, "", "application/json",
			pod(`"containers":[{"name":"c","image":"i"}],"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule","matchLabelKeys":["b"]}]`), 422,
			`topologySpreadConstraints[0].matchLabelKeys: Forbidden: must not be specified when labelSelector is not set`},
		{"AppArmor profile of a Pod", "1.33", "POST", pods + "?dryRun=All", "", "application/json",
			pod(`"securityContext":{"appArmorProfile":{"type":"RuntimeDefault"}},"containers":[{"name":"c","image":"i"}]`), 201,
			`"annotations":{"container.apparmor.security.beta.kubernetes.io/c":"runtime/default"}`},
		{"AppArmor profile of a container", "1.33", "POST", pods + "?dryRun=All", "", "application/json",
			pod(`"securityContext":{"appArmorProfile":{"type":"RuntimeDefault"}},"containers":[{"name":"c","image":"i","securityContext":{"appArmorProfile":{"type":"Localhost","localhostProfile":"p"}}}]`), 201,
			`"annotations":{"container.apparmor.security.beta.kubernetes.io/c":"localhost/p"}`},
		{"AppArmor profile of a Pod", "1.34", "POST", pods + "?dryRun=All", "", "application/json",
			pod(`"securityContext":{"appArmorProfile":{"type":"RuntimeDefault"}},"containers":[{"name":"c","image":"i"}]`), 201,
			`"fieldsV1":{"f:spec":`},
		{"nominated Node of a bound Pod", "1.34", "PATCH", pods + "/bound/status?dryRun=All", "", merge, `{"status":{"nominatedNodeName":"x"}}`, 200, `"nominatedNodeName":"x"`},
		{"nominated Node of a bound Pod", "1.35", "PATCH", pods + "/bound/status?dryRun=All", "", merge, `{"status":{"nominatedNodeName":"x"}}`, 422,
			`status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node`},
		{"too many restart rules", "1.35", "POST", pods, "", "application/json",
			pod(`"containers":[{"name":"c","image":"i","restartPolicy":"Never","restartPolicyRules":[` + strings.Repeat(`{"action":"Restart"},`, 20) + `{"action":"Restart"}]}]`), 422,
			`restartPolicyRules: Too long: may not be more than 20 bytes`},
		{"too many restart rules", "1.36", "POST", pods, "", "application/json",
			pod(`"containers":[{"name":"c","image":"i","restartPolicy":"Never","restartPolicyRules":[` + strings.Repeat(`{"action":"Restart"},`, 20) + `{"action":"Restart"}]}]`), 422,
			`restartPolicyRules: Too many: 21: must have at most 20 items`},
		{"restart of an init container on a resize", "1.35", "POST", pods + "?dryRun=All", "", "application/json",
			`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"},"spec":{"containers":[{"name":"c","image":"i"}],"initContainers":[{"name":"d","image":"i","resizePolicy":[{"resourceName":"cpu","restartPolicy":"RestartContainer"}]}]}}`, 201,
			`"resizePolicy":[{"resourceName":"cpu","restartPolicy":"RestartContainer"}]`},
		{"restart of an init container on a resize", "1.36", "POST", pods + "?dryRun=All", "", "application/json",
			`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"},"spec":{"containers":[{"name":"c","image":"i"}],"initContainers":[{"name":"d","image":"i","resizePolicy":[{"resourceName":"cpu","restartPolicy":"RestartContainer"}]}]}}`, 422,
			`must not be set to 'RestartContainer' for non-sidecar initContainers`},
		{"name of a claim in the status of a Pod", "1.35", "PATCH", pods + "/bound/status?dryRun=All", "", merge,
			`{"status":{"resourceClaimStatuses":[{"name":"x","resourceClaimName":"A_"}]}}`, 422, `resourceClaimStatuses[0].name: Invalid value: \"A_\"`},
		{"name of a claim in the status of a Pod", "1.36", "PATCH", pods + "/bound/status?dryRun=All", "", merge,
			`{"status":{"resourceClaimStatuses":[{"name":"x","resourceClaimName":"A_"}]}}`, 422, `resourceClaimStatuses[0].resourceClaimName: Invalid value: \"A_\"`},
		{"no name of an operating system", "1.33", "POST", pods, "", "application/json", pod(`"os":{},"containers":[{"name":"c","image":"i"}]`), 422, `spec.os.name: Required value: cannot be empty`},
		{"search path with an underscore", "1.32", "POST", pods, "", "application/json", pod(`"dnsConfig":{"searches":["a_b"]},"containers":[{"name":"c","image":"i"}]`), 422,
			`spec.dnsConfig.searches[0]: Invalid value: \"a_b\": a lowercase RFC 1123 subdomain`},
		{"search path with an underscore", "1.33", "POST", pods + "?dryRun=All", "", "application/json", pod(`"dnsConfig":{"searches":["a_b","."]},"containers":[{"name":"c","image":"i"}]`), 201, `"searches":["a_b","."]`},
		{"root domain as a search path", "1.32", "POST", pods, "", "application/json", pod(`"dnsConfig":{"searches":["."]},"containers":[{"name":"c","image":"i"}]`), 422,
			`spec.dnsConfig.searches[0]: Invalid value: \"\": a lowercase RFC 1123 subdomain`},
		{"quota for volume attributes", "1.32", "POST", "/api/v1/namespaces/default/resourcequotas", "", "application/json", `{"metadata":{"name":"q"},"spec":{"hard":{"pods":"1"},"scopes":["VolumeAttributesClass"]}}`, 422,
			`}: unsupported scope","reason":"Invalid"`},
		{"quota for volume attributes", "1.33", "POST", "/api/v1/namespaces/default/resourcequotas", "", "application/json", `{"metadata":{"name":"q"},"spec":{"hard":{"pods":"1"},"scopes":["VolumeAttributesClass"]}}`, 422,
			`}: unsupported scope applied to resource","reason":"Invalid"`},
		{"metadata of claims in an update of their template", "1.34", "PATCH", templates + "/t", "", merge, `{"spec":{"metadata":{"name":"x"}}}`, 422,
			`"field":"spec"},{"reason":"FieldValueForbidden","message":"Forbidden: cannot be set","field":"spec.metadata.name"}]`},
		{"conflicting scopes of a quota", "1.33", "POST", "/api/v1/namespaces/default/resourcequotas", "", "application/json",
			`{"metadata":{"name":"q"},"spec":{"scopeSelector":{"matchExpressions":[{"operator":"Exists","scopeName":"NotBestEffort"},{"operator":"Exists","scopeName":"BestEffort"}]}}}`, 422,
			`spec.scopeSelector.matchExpressions: Invalid value: []core.ResourceQuotaScope(nil): conflicting scopes`},
		{"search path", "1.33", "POST", pods, "", "application/json", pod(`"dnsConfig":{"searches":["a_."]},"containers":[{"name":"c","image":"i"}]`), 422,
			`regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`},
		{"search path", "1.34", "POST", pods, "", "application/json", pod(`"dnsConfig":{"searches":["a_."]},"containers":[{"name":"c","image":"i"}]`), 422,
			`regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?`},
		{"operator of a toleration", "1.34", "POST", pods, "", "application/json", pod(`"tolerations":[{"key":"a","operator":"Lt","value":"1"}],"containers":[{"name":"c","image":"i"}]`), 422,
			`Unsupported value: \"Lt\": supported values: \"Equal\", \"Exists\"","field"`},
		{"end of a Job before its start", "1.33", "PATCH", job + "/status", "", merge,
			`{"status":{"completionTime":"2026-01-01T00:00:00Z","conditions":[{"type":"SuccessCriteriaMet","status":"True"},{"type":"Complete","status":"True"}],"uncountedTerminatedPods":{"failed":["a"]}}}`, 422,
			`[status.completionTime: Invalid value: 2026-01-01 00:00:00 +0000 UTC: completionTime cannot be set before startTime, status.uncountedTerminatedPods: Invalid value: ` +
				`batch.UncountedTerminatedPods{Succeeded:[]types.UID(nil), Failed:[]types.UID{\"a\"}}: uncountedTerminatedPods needs to be empty for finished job]`},
		{"start of a Job", "1.35", "PATCH", job + "/status", "", merge, `{"status":{"startTime":"2026-01-03T00:00:00Z"}}`, 422, `status.startTime: Required value: startTime cannot be removed for unsuspended job`},
		{"start of a Job", "1.36", "PATCH", job + "/status", "", merge, `{"status":{"startTime":"2026-01-03T00:00:00Z"}}`, 422,
			`status.startTime: Invalid value: \"2026-01-03T00:00:00Z\": field is immutable for unsuspended job once set`},
		{"exempt priority level", "1.33", "POST", "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations", "", "application/json",
			`{"metadata":{"name":"a"},"spec":{"type":"Exempt"}}`, 422, `type must be 'Exempt' if and only if name is 'exempt'`},
		{"condition of a FlowSchema", "1.33", "PATCH", "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/catch-all/status", "", merge,
			`{"status":{"conditions":[{"status":"True"}]}}`, 422, `conditions[0].type: Required value: must not be empty`},
		{"selectable fields without a schema", "1.33", "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "", "application/json",
			`{"metadata":{"name":"a"},"spec":{"versions":[{"name":"v1","selectableFields":[{"jsonPath":".a"}]},{"name":"v2"}]}}`, 422,
			`selectableFields may only be set when version.schema.openAPIV3Schema is not included`},
		{"two kinds of a device request", "1.34", "POST", claims, "", "application/json",
			`{"metadata":{"name":"c"},"spec":{"devices":{"requests":[{"name":"a","exactly":{},"firstAvailable":[{"name":"b","deviceClassName":"A_"}]}]}}}`, 422,
			`requests[0].exactly.deviceClassName: Required value, spec.devices.requests[0]: Invalid value: null: exactly one of`},
		{"two kinds of a device request", "1.35", "POST", claims, "", "application/json",
			`{"metadata":{"name":"c"},"spec":{"devices":{"requests":[{"name":"a","exactly":{},"firstAvailable":[{"name":"b","deviceClassName":"A_"}]}]}}}`, 422,
			`is invalid: spec.devices.requests[0]: Invalid value: null: exactly one of`},
		{"too many selectors of devices", "1.34", "POST", "/apis/resource.k8s.io/v1/deviceclasses", "", "application/json",
			`{"metadata":{"name":"c"},"spec":{"selectors":[` + strings.Repeat("{},", 32) + `{}]}}`, 422, `selectors[32].cel: Required value, spec.selectors: Too many: 33`},
		{"too many selectors of devices", "1.35", "POST", "/apis/resource.k8s.io/v1/deviceclasses", "", "application/json",
			`{"metadata":{"name":"c"},"spec":{"selectors":[` + strings.Repeat("{},", 32) + `{}]}}`, 422, `is invalid: spec.selectors: Too many: 33`},
		{"names of attributes", "1.34", "POST", claims, "", "application/json",
			`{"metadata":{"name":"c"},"spec":{"devices":{"constraints":[{"matchAttribute":""},{"matchAttribute":"x"},{"matchAttribute":"/x"}]}}}`, 422,
			`[spec.devices.constraints[0].matchAttribute: Required value: name required, spec.devices.constraints[1].matchAttribute: Invalid value: \"x\": must include a domain, ` +
				`spec.devices.constraints[2].matchAttribute: Required value: the domain must not be empty]`},
		{"domain of an attribute", "1.36", "POST", claims, "", "application/json",
			`{"metadata":{"name":"c"},"spec":{"devices":{"constraints":[{"matchAttribute":"a b/x"},{"matchAttribute":"/x"},{"matchAttribute":"A.b/"}]}}}`, 422,
			`[spec.devices.constraints[0].matchAttribute: Invalid value: \"a b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'), ` +
				`spec.devices.constraints[1].matchAttribute: Invalid value: \"\": the domain must not be empty, spec.devices.constraints[2].matchAttribute: Invalid value: \"\": the name must not be empty]`},
		{"domain of an attribute", "1.37", "POST", claims, "", "application/json",
			`{"metadata":{"name":"c"},"spec":{"devices":{"constraints":[{"matchAttribute":"a b/x"},{"matchAttribute":"/x"},{"matchAttribute":"a.b/"}]}}}`, 422,
			`[spec.devices.constraints[0].matchAttribute: Invalid value: \"a b\": prefix: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'), ` +
				`spec.devices.constraints[1].matchAttribute: Invalid value: \"\": prefix must not be empty, spec.devices.constraints[2].matchAttribute: Invalid value: \"\": name must not be empty]`},
		{"name of a ReplicationController", "1.36", "POST", "/api/v1/namespaces/default/replicationcontrollers", "", "application/json",
			`{"metadata":{"name":"A_"},"spec":{"replicas":-1}}`, 422, `is invalid: [metadata.name: Invalid value: \"A_\": a lowercase RFC 1123 subdomain`},
		{"name of a ReplicationController", "1.37", "POST", "/api/v1/namespaces/default/replicationcontrollers", "", "application/json",
			`{"metadata":{"name":"A_"},"spec":{"replicas":-1}}`, 422, `is invalid: [spec.selector: Required value, spec.template: Required value, metadata.name: Invalid value: \"A_\": a lowercase RFC 1123 subdomain`},
		{"name of an attribute of a device", "1.35", "POST", "/apis/resource.k8s.io/v1/resourceslices", "", "application/json",
			`{"metadata":{"name":"a"},"spec":{"driver":"d.e","nodeName":"n","pool":{"name":"p","resourceSliceCount":1},"devices":[{"name":"d","attributes":{"/a":{"int":1}}}]}}`, 422,
			`spec.devices[0].attributes[/a]: Invalid value: \"\": the domain must not be empty`},
		{"name of an attribute of a device", "1.36", "POST", "/apis/resource.k8s.io/v1/resourceslices", "", "application/json",
			`{"metadata":{"name":"a"},"spec":{"driver":"d.e","nodeName":"n","pool":{"name":"p","resourceSliceCount":1},"devices":[{"name":"d","attributes":{"/a":{"int":1}}}]}}`, 422,
			`spec.devices[0].attributes: Invalid value: \"\": the domain must not be empty`},
		{"update of a claim", "1.34", "PATCH", claims + "/c", "", merge, `{"spec":{"devices":{"requests":[{"name":"A_"}]}}}`, 422,
			`"field":"spec"},{"reason":"FieldValueInvalid","message":"Invalid value: \"A_\"`},
		{"repeated address of a Pod", "1.32", "PATCH", pods + "/bound/status", "", merge, `{"status":{"podIPs":[{"ip":"1.2.3.4"},{"ip":"1.2.3.4"}]}}`, 422,
			`status.podIPs[1]: Duplicate value: core.PodIP{IP:\"1.2.3.4\"}]`},
		{"repeated address of a Pod", "1.33", "PATCH", pods + "/bound/status", "", merge, `{"status":{"podIPs":[{"ip":"1.2.3.4"},{"ip":"1.2.3.4"}]}}`, 422,
			`may specify no more than one IP for each IP family","reason"`},
		{"repeated address of a host", "1.32", "PATCH", pods + "/bound/status", "", merge, `{"status":{"hostIP":"1.2.3.4","hostIPs":[{"ip":"1.2.3.4"},{"ip":"1.2.3.4"}]}}`, 422,
			`[status.hostIPs[1]: Duplicate value: core.HostIP{IP:\"1.2.3.4\"}, status.hostIPs: Invalid value`},
		{"repeated addresses of a Node", "1.32", "POST", "/api/v1/nodes", "", "application/json", `{"metadata":{"name":"n"},"spec":{"podCIDRs":["10.1.0.0/24","10.1.0.0/24"]}}`, 422,
			`spec.podCIDRs[1]: Duplicate value: \"10.1.0.0/24\"`},
		{"type of a condition", "1.32", "PATCH", pods + "/bound/status", "", merge, `{"status":{"conditions":[{"type":"A b","status":"True"}]}}`, 422, `: metadata.conditions[0].Type: Invalid value`},
		{"type of a condition", "1.33", "PATCH", pods + "/bound/status", "", merge, `{"status":{"conditions":[{"type":"A b","status":"True"}]}}`, 422, `: status.conditions[0].Type: Invalid value`},
		{"port of the kubelet", "1.32", "POST", "/api/v1/namespaces/default/services", "", "application/json", `{"metadata":{"name":"a"},"spec":{"type":"LoadBalancer","ports":[{"port":10250}]}}`, 422,
			`spec.ports[0]: Invalid value: 10250: may not expose port 10250 externally since it is used by kubelet`},
		{"port of the kubelet", "1.33", "POST", "/api/v1/namespaces/default/services?dryRun=All", "", "application/json", `{"metadata":{"name":"a"},"spec":{"type":"LoadBalancer","ports":[{"port":10250}]}}`, 201,
			`"port":10250`},
		{"status of a resize", "1.33", "PATCH", "/api/v1/namespaces/default/persistentvolumeclaims/v/status", "", merge, `{"status":{"allocatedResourceStatuses":{"storage":"x"}}}`, 422,
			`status.allocatedResourceStatus: Unsupported value: storage: supported values: `},
		{"status of a resize", "1.34", "PATCH", "/api/v1/namespaces/default/persistentvolumeclaims/v/status", "", merge, `{"status":{"allocatedResourceStatuses":{"storage":"x"}}}`, 422,
			`status.allocatedResourceStatuses: Unsupported value: \"storage\": supported values: `},
		{"metadata of a review", "1.33", "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "", "application/json",
			`{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","metadata":{"name":"a"},"spec":{"nonResourceAttributes":{"path":"/","verb":"get"}}}`, 422,
			`metadata: Invalid value: v1.ObjectMeta{Name:\"a\", GenerateName:\"\", Namespace:\"\", SelfLink:\"\", UID:\"\", ResourceVersion:\"\", Generation:0, ` +
				`CreationTimestamp:time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC), DeletionTimestamp:\u003cnil\u003e, `},
		{"Scale of a missing object", "1.32", "GET", deployment + "/scale", "", "", "", 404, `deployments/scale.apps \"missing\" not found`},
		{"Scale of a missing object", "1.33", "GET", deployment + "/scale", "", "", "", 404, notFound},
		{"revision history of a StatefulSet", "1.32", "PATCH", "/apis/apps/v1/namespaces/default/statefulsets/s?dryRun=All", "", merge, `{"spec":{"revisionHistoryLimit":3}}`, 422,
			`spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy' and`},
		{"revision history of a StatefulSet", "1.33", "PATCH", "/apis/apps/v1/namespaces/default/statefulsets/s?dryRun=All", "", merge, `{"spec":{"revisionHistoryLimit":3}}`, 200, `"revisionHistoryLimit":3`},
		{"Scale of a missing StatefulSet", "1.32", "GET", "/apis/apps/v1/namespaces/default/statefulsets/missing/scale", "", "", "", 404, `statefulsets.apps \"missing\" not found`},
		{"Scale of a missing ReplicationController", "1.32", "GET", "/api/v1/namespaces/default/replicationcontrollers/missing/scale", "", "", "", 404,
			`replicationcontrollers/scale.autoscaling \"missing\" not found`},
		{"Scale of no version", "1.32", "GET", deployment + "/scale?resourceVersion=x", "", "", "", 404, `deployments/scale.apps \"missing\" not found`},
		{"Scale of no version", "1.33", "GET", deployment + "/scale?resourceVersion=x", "", "", "", 500, `resourceVersion: Invalid value: \"x\"`},
		{"Scale of no name", "1.32", "GET", deployment + "%25/scale", "", "", "", 404, `deployments/scale.apps \"missing%\" not found`},
		{"Scale of no name", "1.33", "GET", deployment + "%25/scale", "", "", "", 400, `may not contain '%'`},
		{"write of the Scale of a missing object", "1.32", "PUT", deployment + "/scale", "", "application/json", scale, 404, notFound},
		{"quantity as it was sent", "1.33", "POST", "/api/v1/namespaces/default/resourcequotas", "", "application/json",
			`{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"a"},"spec":{"hard":{"x.y/configmaps":"1","count/a.b":"0.1"}}}`, 422, quantity("1, scale:-1", "")},
		{"quantity as it was sent, as a number", "1.33", "POST", "/api/v1/namespaces/default/resourcequotas", "", "application/yaml",
			`{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"a"},"spec":{"hard":{"pods":1.5}}}`, 422, quantity("15, scale:-1", "")},
		{"canonical quantity", "1.33", "POST", "/api/v1/namespaces/default/resourcequotas", "", "application/json",
			`{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"a"},"spec":{"hard":{"pods":"1500m"}}}`, 422, quantity("1500, scale:-3", "1500m")},
		{"quantity that the error names", "1.33", "POST", "/api/v1/namespaces/default/limitranges", "", "application/json",
			`{"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"l"},"spec":{"limits":[{"maxLimitRequestRatio":{"cpu":"0.1"},"type":"Pod"}]}}`, 422, quantity("1, scale:-1", "100m")},
		{"quantity that is null", "1.33", "POST", "/api/v1/namespaces/default/limitranges", "", "application/json",
			`{"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"l"},"spec":{"limits":[{"max":{"cpu":null},"default":{"cpu":"1"},"type":"Container"}]}}`, 422,
			`default[cpu]: Invalid value: ` + strings.Replace(quantity("0, scale:0", "0"), "DecimalSI", "", 1) + "default value 1 is greater"},
		{"slice without devices", "1.34", "POST", "/apis/resource.k8s.io/v1/resourceslices?dryRun=All", "", "application/json", slice, 201, `"devices":null`},
		{"slice without devices", "1.35", "POST", "/apis/resource.k8s.io/v1/resourceslices?dryRun=All", "", "application/json", slice, 201, `"resourceSliceCount":1},"nodeName":"n"}}`},
		{"attribute of a constraint", "1.34", "POST", claims + "?dryRun=All", "", "application/json", constraint, 201, `"distinctAttribute":"a.b/c"`},
		{"attribute of a constraint", "1.35", "POST", claims + "?dryRun=All", "", "application/json", constraint, 422, `constraints[0].matchAttribute`},
		{"behavior of an autoscaler in version v1", "1.32", "POST", autoscalers, "", "application/json", autoscaler, 201, `\"PeriodSeconds\":15}]},\"ScaleDown\":`},
		{"behavior of an autoscaler in version v1", "1.33", "POST", autoscalers, "", "application/json", autoscaler, 201, `\"PeriodSeconds\":15}],\"Tolerance\":null},\"ScaleDown\":`},
		{"quantity that differs from a limit", "1.33", "POST", "/api/v1/namespaces/default/limitranges", "", "application/json",
			`{"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"l"},"spec":{"limits":[{"default":{"a.b/c":"2"},"defaultRequest":{"a.b/c":"1"},"type":"Container"}]}}`, 422,
			`defaultRequest[a.b/c]: Invalid value: ` + quantity("1, scale:0", "1") + "default value 2 must equal"},
		{"features of a new Node", "1.32", "POST", "/api/v1/nodes", "", "application/json", `{"metadata":{"name":"features"},"status":{"features":{}}}`, 201, `"architecture":""}}}`},
		{"features of a Node", "1.32", "PUT", "/api/v1/nodes/features/status", "", "application/json", `{"metadata":{"name":"features"},"status":{"features":{}}}`, 200, `"features":{}`},
		{"quantity of another list", "1.33", "POST", pods + "?dryRun=All", "", "application/json",
			pod(`"containers":[{"name":"c","image":"i","resources":{"limits":{"x.y/z":"0.1"}}}]`), 422, `requests[x.y/z]: Invalid value: ` + quantity("1, scale:-1", "")},
		{"quantity that was rounded", "1.33", "POST", "/api/v1/namespaces/default/resourcequotas", "", "application/json",
			`{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"a"},"spec":{"hard":{"pods":"0.0001"}}}`, 422, "must be an integer"},
		{"requests above limits", "1.34", "POST", "/api/v1/namespaces/default/resourcequotas?dryRun=All", "", "application/json",
			`{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"a"},"spec":{"hard":{"limits.memory":"2","memory":"1Gi"}}}`, 201, ""},
		{"resources of a Pod behind a gate", "1.33", "POST", "/api/v1/namespaces/default/pods?dryRun=All", "", "application/json",
			`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}],"resources":{"limits":{"cpu":"1"}}}}`, 201, `"f:resources":{".":{},"f:limits":{".":{},"f:cpu":{}}},`},
		{"sleep of no time", "1.32", "POST", pods + "?dryRun=All", "", "application/json",
			pod(`"containers":[{"name":"c","image":"i","lifecycle":{"preStop":{"sleep":{"seconds":0}}}}]`), 422,
			"Invalid value: 0: must be greater than 0 and less than terminationGracePeriodSeconds (30). Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep."},
		{"sleep of no time", "1.33", "POST", pods + "?dryRun=All", "", "application/json",
			pod(`"containers":[{"name":"c","image":"i","lifecycle":{"preStop":{"sleep":{"seconds":0}}}}]`), 201, `"sleep":{"seconds":0}`},
		{"sleep that is too long", "1.32", "POST", pods + "?dryRun=All", "", "application/json",
			pod(`"containers":[{"name":"c","image":"i","lifecycle":{"preStop":{"sleep":{"seconds":31}}}}]`), 422, "must be greater than 0 and less than"},
		{"type of the mount of /proc", "1.32", "POST", pods + "?dryRun=All", "", "application/json",
			pod(`"containers":[{"name":"c","image":"i","securityContext":{"procMount":"Unmasked"}}]`), 201, `"procMount":"Default"`},
		{"resize policy", "1.32", "POST", pods + "?dryRun=All", "", "application/json",
			pod(`"containers":[{"name":"c","image":"i","resizePolicy":[{"resourceName":"x","restartPolicy":"y"}]}]`), 201, `"resources":{},"terminationMessagePath"`},
		{"managed fields of a review", "1.32", "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews?fieldManager=m", "", "application/json",
			`{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","metadata":{"labels":{"a":"b"}},"spec":{"nonResourceAttributes":{"path":"/","verb":"get"}}}`, 422,
			`FieldsV1:(*v1.FieldsV1)(`},
		{"change of SELinux labels", "1.32", "POST", pods + "?dryRun=All", "", "application/json",
			pod(`"securityContext":{"seLinuxChangePolicy":"Never"},"containers":[{"name":"c","image":"i"}]`), 201, `"securityContext":{},`},
		{"warning of a version", "1.32", "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "", "application/json",
			`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"a"},"spec":{"versions":[{"name":"v1","deprecated":true,"deprecationWarning":""}]}}`, 422,
			`Invalid value: \"\": must not be an empty string`},
		{"empty parameters of a StorageClass", "1.35", "PATCH", "/apis/storage.k8s.io/v1/storageclasses/c", "", merge, `{"parameters":{}}`, 422, `parameters: Forbidden: updates to parameters are forbidden.`},
		{"empty parameters of a StorageClass", "1.36", "PATCH", "/apis/storage.k8s.io/v1/storageclasses/c", "", merge, `{"parameters":{}}`, 200, `"provisioner":"example.com/p"`},
		{"driver of a CSINode", "1.32", "PATCH", "/apis/storage.k8s.io/v1/csinodes/n", "", merge, `{"spec":{"drivers":[{"name":"d","nodeID":"m","topologyKeys":["zone"]}]}}`, 422,
			`is invalid: CSINodeDriver: Invalid value: storage.CSINodeDriver{Name:\"d\"`},
		{"driver of a CSINode", "1.33", "PATCH", "/apis/storage.k8s.io/v1/csinodes/n", "", merge, `{"spec":{"drivers":[{"name":"d","nodeID":"m","topologyKeys":["zone"]}]}}`, 422,
			`is invalid: spec.drivers: Invalid value: storage.CSINodeDriver{Name:\"d\"`},
		{"endpoints that an update keeps", "1.32", "PATCH", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/s", "", merge, `{"addressType":"IPv6"}`, 422,
			`endpoints[0].addresses[0]: Invalid value: \"10.1.2.3\": must be a valid IPv6 address, addressType: Invalid value: \"IPv6\": field is immutable`},
		{"endpoints that an update keeps", "1.33", "PATCH", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/s", "", merge, `{"addressType":"IPv6"}`, 422,
			`is invalid: addressType: Invalid value: \"IPv6\": field is immutable`},
		{"future version", "1.33", "GET", configMaps + "?resourceVersion=99999&resourceVersionMatch=Exact", "", "", "", 500, `"message":"etcdserver: mvcc: required revision is a future revision","code":500}`},
		{"future version of a page", "1.33", "GET", "/api/v1/events?resourceVersion=99999&limit=1", "", "", "", 500, `etcdserver: mvcc: required revision is a future revision`},
		{"future version", "1.34", "GET", "/api/v1/events?resourceVersion=99999&resourceVersionMatch=Exact", "", "", "", 504, `Too large resource version: 99999`},
		{"UID of a missing object", "1.33", "PUT", configMaps + "/missing", "", "application/json", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"missing","uid":"u"}}`, 409,
			`Precondition failed: UID in precondition: u, UID in object meta: `},
		{"UID of a missing object", "1.34", "PUT", configMaps + "/missing", "", "application/json", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"missing","uid":"u"}}`, 404,
			`configmaps \"missing\" not found`},
		{"exempt beside an unknown type", "1.36", "POST", levels, "", "application/json", `{"metadata":{"name":"a"},"spec":{"type":"x","exempt":{},"limited":{}}}`, 422,
			`is invalid: spec.type: Unsupported value: \"x\": supported values: \"Exempt\", \"Limited\""`},
		{"exempt beside an unknown type", "1.37", "POST", levels, "", "application/json", `{"metadata":{"name":"a"},"spec":{"type":"x","exempt":{},"limited":{}}}`, 422,
			`supported values: \"Exempt\", \"Limited\", spec.exempt: Forbidden, spec.limited: Forbidden, spec.limited.limitResponse.type: Required value]`},
		{"name of an extended resource", "1.36", "POST", classes, "", "application/json", `{"metadata":{"name":"a"},"spec":{"extendedResourceName":"b"}}`, 422,
			`must be a valid extended resource name`},
		{"name of an extended resource", "1.37", "POST", classes, "", "application/json", `{"metadata":{"name":"a"},"spec":{"extendedResourceName":"b"}}`, 422,
			`a name must be a domain-prefixed path, such as 'example.com/my-prop'`},
		{"node name of a binding", "1.36", "POST", "/api/v1/namespaces/default/bindings", "", "application/json", `{"metadata":{"name":"a"},"target":{"name":"A"}}`, 404, `pods \"a\" not found`},
		{"node name of a binding", "1.37", "POST", "/api/v1/namespaces/default/bindings", "", "application/json", `{"metadata":{"name":"a"},"target":{"name":"A"}}`, 500,
			`target.name: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of`},
		{"rows of no definitions", "1.37", "GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?labelSelector=a", table, "", "", 200, `"rows":null`},
		{"change of a ResourceClaimTemplate", "1.37", "PATCH", templates + "/t", "", merge, `{"spec":{"metadata":{"labels":{"a":"b"}}}}`, 422,
			`spec: Invalid value: {\"labels\":{\"a\":\"b\"},\"Spec\":`},
		{"managed fields of items without a key", "1.36", "PATCH", accounts + "/a", "", merge, `{"secrets":[{"uid":"u"}]}`, 200, `"labels":{"a":"b"}},"secrets":[{}]`},
		{"managed fields of items without a key", "1.37", "PATCH", accounts + "/a", "", merge, `{"secrets":[{"uid":"u"}]}`, 200, `}}}}]},"secrets":[{}]`},
		{"unconditional update of a taint rule", "1.37", "PUT", taints + "/a", "", "application/json", `{"metadata":{"name":"a"},"spec":{"taint":{"key":"b","effect":"NoExecute"}}}`, 422,
			`metadata.resourceVersion: Invalid value: 0: must be specified for an update`},
		{"deleted taint rule", "1.37", "DELETE", taints + "/a", "", "", "", 200, `"status":"Success"`},
	} {
		t.Run(tt.release+" "+tt.name, func(t *testing.T) {
			if servers[tt.release] == nil {
				srv, err := fakeapi.New(fakeapi.WithRelease(tt.release), fakeapi.WithObjects(apitest.ScaledDefinition,
					`{"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"c"},"provisioner":"example.com/p"}`,
					`{"apiVersion":"storage.k8s.io/v1","kind":"CSINode","metadata":{"name":"n"},"spec":{"drivers":[{"name":"d","nodeID":"n","topologyKeys":["zone"]}]}}`,
					`{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"name":"s","namespace":"default"},"addressType":"IPv4","endpoints":[{"addresses":["10.1.2.3"]}]}`,
					`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"bound","namespace":"default"},"spec":{"nodeName":"n","resourceClaims":[{"name":"x","resourceClaimName":"y"}],"containers":[{"name":"c","image":"i"}]},"status":{"phase":"Pending","qosClass":"BestEffort"}}`,
					`{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"r","namespace":"default"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`,
					`{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"s","namespace":"default"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`,
					`{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"v","namespace":"default"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1"}}}}`,
					`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j","namespace":"default"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}},"status":{"startTime":"2026-01-02T00:00:00Z"}}`))
				require.NoError(t, err)
				if tt.release > "1.33" {
					_, err := srv.Store(`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"c","namespace":"default"},"spec":{"devices":{"requests":[{"name":"a","exactly":{"deviceClassName":"d"}}]}}}`)
					require.NoError(t, err)
					_, err = srv.Store(`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaimTemplate","metadata":{"name":"t","namespace":"default"},"spec":{"spec":{}}}`)
					require.NoError(t, err)
				}
				if tt.release == "1.37" {
					_, err := srv.Store(`{"apiVersion":"resource.k8s.io/v1","kind":"DeviceTaintRule","metadata":{"name":"a"},"spec":{"taint":{"key":"a","effect":"NoExecute"}}}`)
					require.NoError(t, err)
				}
				if tt.release > "1.35" {
					resp, err := srv.Client().Post(srv.URL+accounts, "application/json", strings.NewReader(`{"metadata":{"name":"a","labels":{"a":"b"}}}`))
					require.NoError(t, err)
					resp.Body.Close()
				}
				servers[tt.release] = srv
			}
			srv := servers[tt.release]
			req, err := http.NewRequest(tt.method, srv.URL+tt.path, strings.NewReader(tt.body))
			require.NoError(t, err)
			if tt.media != "" {
				req.Header.Set("Content-Type", tt.media)
			}
			if tt.accept != "" {
				req.Header.Set("Accept", tt.accept)
			}
			resp, err := srv.Client().Do(req)
			require.NoError(t, err)
			defer resp.Body.Close()
			text, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			assert.Equal(t, tt.code, resp.StatusCode, "%s", text)
			assert.Contains(t, string(text), tt.want)
		})
	}
	for _, srv := range servers {
		srv.Close()
	}
}
