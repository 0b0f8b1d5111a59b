package table_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/table"
)

// now is the time of printing, an hour after the objects were created.
var now = time.Date(2026, 1, 2, 4, 4, 5, 0, time.UTC)

// parse returns an object of the name a, created an hour ago, from YAML.
func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	obj := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &obj))
	object.Set(obj, "a", "metadata", "name")
	object.Set(obj, "2026-01-02T03:04:05Z", "metadata", "creationTimestamp")
	return integers(obj).(map[string]any)
}

func integers(v any) any {
	switch t := v.(type) {
	case float64:
		return int64(t)
	case map[string]any:
		for k, e := range t {
			t[k] = integers(e)
		}
	case []any:
		for i, e := range t {
			t[i] = integers(e)
		}
	}
	return v
}

func TestPod(t *testing.T) {
	const ended = `terminated: {exitCode: `
	for _, tc := range []struct {
		name, pod             string
		ready, word, restarts string
	}{
		{"empty", `{}`, "0/0", "", "0"},
		{"pending", `{spec: {containers: [{}]}, status: {phase: Pending}}`, "0/1", "Pending", "0"},
		{"gated", `{status: {phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: SchedulingGated}]}}`, "0/0", "SchedulingGated", "0"},
		{"evicted", `{status: {phase: Failed, reason: Evicted}}`, "0/0", "Evicted", "0"},
		{"running", `{spec: {containers: [{}, {}]}, status: {phase: Running, containerStatuses: [{ready: true, state: {running: {}}}, {state: {running: {}}}]}}`, "1/2", "Running", "0"},
		{"first waiting container gives the word", `{status: {containerStatuses: [{state: {waiting: {reason: ErrImagePull}}}, {state: {waiting: {reason: CrashLoopBackOff}}}]}}`, "0/0", "ErrImagePull", "0"},
		{"exit code", `{status: {containerStatuses: [{state: {` + ended + `3}}}]}}`, "0/0", "ExitCode:3", "0"},
		{"signal", `{status: {containerStatuses: [{state: {` + ended + `137, signal: 9}}}]}}`, "0/0", "Signal:9", "0"},
		{"one done, one running", `{status: {containerStatuses: [{state: {` + ended + `0, reason: Completed}}}, {ready: true, state: {running: {}}}]}}`, "1/0", "NotReady", "0"},
		{"one done, one running, ready", `{status: {conditions: [{type: Ready, status: "True"}], containerStatuses: [{state: {` + ended + `0, reason: Completed}}}, {ready: true, state: {running: {}}}]}}`, "1/0", "Running", "0"},
		{"one done, one failed", `{status: {containerStatuses: [{state: {` + ended + `0, reason: Completed}}}, {state: {` + ended + `1, reason: Error}}}]}}`, "0/0", "Error", "0"},
		{"restarts", `{status: {containerStatuses: [{restartCount: 2, lastState: {terminated: {finishedAt: "2026-01-02T04:00:00Z"}}}, {restartCount: 1, lastState: {terminated: {finishedAt: "2026-01-02T03:00:00Z"}}}]}}`, "0/0", "", "3 (4m5s ago)"},
		{"restarts at times unknown", `{status: {containerStatuses: [{restartCount: 2}]}}`, "0/0", "", "2"},
		{"init progress", `{spec: {initContainers: [{name: x}, {name: w}]}, status: {phase: Pending, initContainerStatuses: [{name: x, state: {` + ended + `0}}}, {name: w, restartCount: 4, state: {running: {}}}]}}`, "0/0", "Init:1/2", "4"},
		{"init waiting", `{status: {initContainerStatuses: [{state: {waiting: {reason: ErrImagePull}}}]}}`, "0/0", "Init:ErrImagePull", "0"},
		{"init about to start", `{spec: {initContainers: [{}]}, status: {initContainerStatuses: [{state: {waiting: {reason: PodInitializing}}}]}}`, "0/0", "Init:0/1", "0"},
		{"init failed", `{status: {initContainerStatuses: [{state: {` + ended + `1}}}]}}`, "0/0", "Init:ExitCode:1", "0"},
		{"init killed", `{status: {initContainerStatuses: [{state: {` + ended + `1, signal: 9}}}]}}`, "0/0", "Init:Signal:9", "0"},
		{"init error", `{status: {initContainerStatuses: [{state: {` + ended + `1, reason: Error}}}]}}`, "0/0", "Init:Error", "0"},
		{"initialized once", `{status: {phase: Running, conditions: [{type: Initialized, status: "True"}], initContainerStatuses: [{restartCount: 1, state: {running: {}}}], containerStatuses: [{restartCount: 2}]}}`, "0/0", "Init:0/0", "2"},
		{"sidecar", `{spec: {initContainers: [{name: x, restartPolicy: Always}, {name: w}], containers: [{}]}, status: {phase: Running, initContainerStatuses: [{name: x, started: true, ready: true, restartCount: 1, state: {running: {}}}, {name: w, restartCount: 8, state: {` + ended + `0}}}], containerStatuses: [{ready: true, state: {running: {}}}]}}`, "2/2", "Running", "1"},
		{"terminating", `{metadata: {deletionTimestamp: "2026-01-02T04:04:05Z"}, status: {phase: Running}}`, "0/0", "Terminating", "0"},
		{"terminating but done", `{metadata: {deletionTimestamp: "2026-01-02T04:04:05Z"}, status: {phase: Failed}}`, "0/0", "Failed", "0"},
		{"terminating on a lost node", `{metadata: {deletionTimestamp: "2026-01-02T04:04:05Z"}, status: {phase: Running, reason: NodeLost}}`, "0/0", "Unknown", "0"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cells := table.For("", "Pod").Cells(parse(t, tc.pod), now)
			assert.Equal(t, []any{"a", tc.ready, tc.word, tc.restarts, "60m"}, cells[:5])
		})
	}
	wide := parse(t, `{spec: {nodeName: e, readinessGates: [{conditionType: x}, {conditionType: w}]}, status: {podIPs: [{ip: 10.0.0.1}], nominatedNodeName: m, conditions: [{type: x, status: "True"}]}}`)
	assert.Equal(t, []any{"10.0.0.1", "e", "m", "1/2"}, table.For("", "Pod").Cells(wide, now)[5:])
	failed := parse(t, `{status: {phase: Failed}}`)
	assert.Contains(t, string(table.For("", "Pod").AppendRow(nil, failed, now, nil)),
		`],"conditions":[{"type":"Completed","status":"True","reason":"Failed","message":"The pod failed."}],"object":null}`)
}

func TestCells(t *testing.T) {
	const template = `template: {spec: {containers: [{name: c, image: i}, {name: d, image: j}]}}`
	for _, tc := range []struct {
		name, group, kind, obj string
		cells                  []any
	}{
		{"binary data counts", "", "ConfigMap", `{data: {a: x}, binaryData: {b: eA==}}`, []any{"a", int64(2), "60m"}},
		{"service of node ports", "", "Service", `{spec: {type: NodePort, clusterIPs: [10.0.0.1], ports: [{port: 80, nodePort: 30000, protocol: TCP}, {port: 53, protocol: UDP}], selector: {b: c, a: b}}}`,
			[]any{"a", "NodePort", "10.0.0.1", "<none>", "80:30000/TCP,53/UDP", "60m", "a=b,b=c"}},
		{"service without a load balancer", "", "Service", `{spec: {type: LoadBalancer}}`, []any{"a", "LoadBalancer", "<none>", "<pending>", "<none>", "60m", "<none>"}},
		{"service with load balancers", "", "Service", `{spec: {type: LoadBalancer, externalIPs: [9.9.9.9]}, status: {loadBalancer: {ingress: [{hostname: z}, {ip: 1.1.1.1}]}}}`,
			[]any{"a", "LoadBalancer", "<none>", "1.1.1.1,z,9.9.9.9", "<none>", "60m", "<none>"}},
		{"endpoints", "", "Endpoints", `{subsets: [{addresses: [{ip: 1.1.1.1}, {ip: "::1"}], ports: [{port: 1}, {port: 2}]}]}`, []any{"a", "1.1.1.1:1,[::1]:1,1.1.1.1:2 + 1 more...", "60m"}},
		{"quota", "", "ResourceQuota", `{status: {hard: {pods: "4", limits.cpu: "2", cpu: "1"}, used: {cpu: 500m}}}`, []any{"a", "cpu: 500m/1, pods: 0/4", "limits.cpu: 0/2", "60m"}},
		{"event", "", "Event", `{involvedObject: {kind: Pod, name: p, fieldPath: f}, type: Normal, reason: R, message: " m\n", source: {component: c, host: h}, firstTimestamp: "2026-01-02T03:04:05Z", lastTimestamp: "2026-01-02T04:04:00Z", count: 3}`,
			[]any{"5s", "Normal", "R", "pod/p", "f", "c, h", "m", "60m", int64(3), "a"}},
		{"event of the new group", "events.k8s.io", "Event", `{regarding: {kind: Pod, name: p}, note: m, reportingController: c, reportingInstance: i, eventTime: "2026-01-02T03:04:05.000000Z", series: {count: 7, lastObservedTime: "2026-01-02T04:04:00.000000Z"}}`,
			[]any{"5s", "", "", "pod/p", "", "c, i", "m", "60m", int64(7), "a"}},
		{"event without times", "", "Event", `{}`, []any{"<unknown>", "", "", "", "", "", "", "<unknown>", int64(1), "a"}},
		{"node", "", "Node", `{metadata: {labels: {node-role.kubernetes.io/worker: "", kubernetes.io/role: db}}, spec: {unschedulable: true}, status: {conditions: [{type: Ready, status: "False"}], nodeInfo: {kubeletVersion: v1, kernelVersion: "6", architecture: arm64}, addresses: [{type: InternalIP, address: 10.0.0.1}]}}`,
			[]any{"a", "NotReady,SchedulingDisabled", "db,worker", "60m", "v1", "10.0.0.1", "<none>", "<unknown>", "6 (arm64)", "<unknown>"}},
		{"deployment", "apps", "Deployment", `{spec: {replicas: 3, selector: {matchLabels: {a: b}, matchExpressions: [{key: x, operator: In, values: [z, v]}]}, ` + template + `}, status: {readyReplicas: 1, updatedReplicas: 2}}`,
			[]any{"a", "1/3", int64(2), int64(0), "60m", "c,d", "i,j", "a=b,x in (v,z)"}},
		{"deployment of an invalid selector", "apps", "Deployment", `{spec: {selector: {matchExpressions: [{key: x, operator: Gt}]}}}`, []any{"a", "0/0", int64(0), int64(0), "60m", "", "", "<invalid>"}},
		{"replicas of an invalid selector", "apps", "ReplicaSet", `{spec: {selector: {matchExpressions: [{key: x, operator: Gt}]}}}`, []any{"a", int64(0), int64(0), int64(0), "60m", "", "", "<error>"}},
		{"revision", "apps", "ControllerRevision", `{metadata: {ownerReferences: [{kind: X, name: x}, {apiVersion: apps/v1, kind: DaemonSet, name: d, controller: true}]}, revision: 4}`, []any{"a", "daemonset.apps/d", int64(4), "60m"}},
		{"job that is done", "batch", "Job", `{spec: {completions: 2, ` + template + `}, status: {succeeded: 2, conditions: [{type: Complete, status: "True"}], startTime: "2026-01-02T03:04:05Z", completionTime: "2026-01-02T03:04:15Z"}}`,
			[]any{"a", "Complete", "2/2", "10s", "60m", "c,d", "i,j", "<none>"}},
		{"job of a work queue", "batch", "Job", `{spec: {parallelism: 3}, status: {conditions: [{type: Suspended, status: "True"}]}}`, []any{"a", "Suspended", "0/1 of 3", "", "60m", "", "", "<none>"}},
		{"cron job", "batch", "CronJob", `{spec: {schedule: "* * * * *", suspend: false, jobTemplate: {spec: {` + template + `}}}, status: {active: [{}], lastScheduleTime: "2026-01-02T04:03:05Z"}}`,
			[]any{"a", "* * * * *", "<none>", "False", int64(1), "60s", "60m", "c,d", "i,j", "<none>"}},
		{"autoscaler", "autoscaling", "HorizontalPodAutoscaler", `{spec: {scaleTargetRef: {kind: D, name: d}, maxReplicas: 3, metrics: [{type: Resource, resource: {name: cpu, target: {averageUtilization: 80}}}, {type: External, external: {target: {averageValue: "5"}}}, {type: Pods}]}, status: {currentMetrics: [{type: Resource, resource: {name: cpu, current: {averageUtilization: 42}}}]}}`,
			[]any{"a", "D/d", "cpu: 42%/80%, <unknown>/5 (avg) + 1 more...", "<unset>", int64(3), int64(0), "60m"}},
		{"autoscaler of version 1", "autoscaling", "HorizontalPodAutoscaler", `{apiVersion: autoscaling/v1, metadata: {annotations: {autoscaling.alpha.kubernetes.io/metrics: '[{"type":"Pods","pods":{"metricName":"rps","targetAverageValue":"10"}}]'}}, spec: {minReplicas: 1, targetCPUUtilizationPercentage: 60}, status: {currentCPUUtilizationPercentage: 7}}`,
			[]any{"a", "/", "cpu: 7%/60%, <unknown>/10", "1", int64(0), int64(0), "60m"}},
		{"volume", "", "PersistentVolume", `{spec: {capacity: {storage: 5Gi}, accessModes: [ReadWriteMany, ReadWriteOnce], persistentVolumeReclaimPolicy: Retain, claimRef: {namespace: e, name: c}}, status: {phase: Bound}}`,
			[]any{"a", "5Gi", "RWO,RWX", "Retain", "Bound", "e/c", "", "<unset>", "", "60m", "<unset>"}},
		{"claim that is deleted", "", "PersistentVolumeClaim", `{metadata: {deletionTimestamp: "2026-01-02T04:04:05Z", annotations: {volume.beta.kubernetes.io/storage-class: old}}, spec: {storageClassName: new}, status: {phase: Pending}}`,
			[]any{"a", "Terminating", "", "", "", "old", "<unset>", "60m", "<unset>"}},
		{"default class", "storage.k8s.io", "StorageClass", `{metadata: {annotations: {storageclass.kubernetes.io/is-default-class: "true"}}, provisioner: p}`, []any{"a (default)", "p", "Delete", "Immediate", false, "60m"}},
		{"driver", "storage.k8s.io", "CSIDriver", `{spec: {attachRequired: false, tokenRequests: [{audience: x}, {audience: w}]}}`, []any{"a", false, false, false, "x,w", false, "<none>", "60m"}},
		{"ingress", "networking.k8s.io", "Ingress", `{spec: {tls: [{}], rules: [{host: a}, {}, {host: b}, {host: c}, {host: d}]}}`, []any{"a", "<none>", "a,b,c + 2 more...", "", "80, 443", "60m"}},
		{"slice", "discovery.k8s.io", "EndpointSlice", `{addressType: IPv4, ports: [{port: 1}, {name: e}, {}], endpoints: []}`, []any{"a", "IPv4", "1,e,*", "<unset>", "60m"}},
		{"address", "networking.k8s.io", "IPAddress", `{spec: {parentRef: {group: g, resource: rs, name: e}}}`, []any{"a", "rs.g/e", "60m"}},
		{"budget", "policy", "PodDisruptionBudget", `{spec: {minAvailable: 50%}}`, []any{"a", "50%", "N/A", int64(0), "60m"}},
		{"binding", "rbac.authorization.k8s.io", "RoleBinding", `{roleRef: {kind: Role, name: r}, subjects: [{kind: User, name: u}, {kind: ServiceAccount, name: s, namespace: e}, {kind: User, name: v}]}`,
			[]any{"a", "Role/r", "60m", "u, v", "", "e/s"}},
		{"policy binding", "admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding", `{spec: {policyName: p, paramRef: {selector: {matchLabels: {a: b}, matchExpressions: [{key: k, operator: In, values: [x, w]}]}}}}`,
			[]any{"a", "p", "&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[x w],},},}", "60m"}},
		{"priority level", "flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration", `{spec: {type: Limited, limited: {nominalConcurrencyShares: 0}}}`, []any{"a", "Limited", int64(0), "<none>", "<none>", "<none>", "60m"}},
		{"signing request", "certificates.k8s.io", "CertificateSigningRequest", `{spec: {username: u, signerName: s, expirationSeconds: 3600}, status: {certificate: eA==, conditions: [{type: Approved}, {type: Failed}]}}`,
			[]any{"a", "60m", "s", "u", "60m", "Approved,Failed,Issued"}},
		{"service not found", "apiregistration.k8s.io", "APIService", `{spec: {service: {namespace: e, name: s}}, status: {conditions: [{type: Available, status: "False", reason: ServiceNotFound}]}}`, []any{"a", "e/s", "False (ServiceNotFound)", "60m"}},
		{"claim in use", "resource.k8s.io", "ResourceClaim", `{status: {allocation: {}, reservedFor: [{}]}}`, []any{"a", "allocated,reserved", "60m"}},
		{"pools", "resource.k8s.io", "ResourcePoolStatusRequest", `{spec: {driver: d}, status: {poolCount: 2, pools: [{totalDevices: 4, validationError: x}], conditions: [{type: Complete, status: "True", lastTransitionTime: "2026-01-02T04:04:00Z"}]}}`,
			[]any{"a", "d", "4", "0", "0", "0", "1", int64(2), "Complete (1/2 pools)", "5s"}},
		{"migration", "storagemigration.k8s.io", "StorageVersionMigration", `{spec: {resource: {group: apps, resource: deployments}}, status: {conditions: [{type: Succeeded, status: "True"}]}}`, []any{"a", "deployments.apps", "Succeeded"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.cells, table.For(tc.group, tc.kind).Cells(parse(t, tc.obj), now))
		})
	}
}

func TestFor(t *testing.T) {
	assert.Same(t, table.Default, table.For("rbac.authorization.k8s.io", "Role"))
	assert.Same(t, table.Default, table.For("example.com", "Pod"), "a Pod of another group has the default layout")
	assert.Same(t, table.For("", "Pod"), table.For("", "Pod"))
}

func TestDuration(t *testing.T) {
	const day = 24 * time.Hour
	for _, tc := range []struct {
		d    time.Duration
		want string
	}{
		{-2 * time.Second, "<invalid>"},
		{-1999 * time.Millisecond, "0s"},
		{0, "0s"},
		{119 * time.Second, "119s"},
		{2 * time.Minute, "2m"},
		{9*time.Minute + 59*time.Second, "9m59s"},
		{10*time.Minute + 59*time.Second, "10m"},
		{179 * time.Minute, "179m"},
		{3 * time.Hour, "3h"},
		{7*time.Hour + 5*time.Minute, "7h5m"},
		{47 * time.Hour, "47h"},
		{2 * day, "2d"},
		{3*day + 4*time.Hour, "3d4h"},
		{8*day + 4*time.Hour, "8d"},
		{729 * day, "729d"},
		{730 * day, "2y"},
		{731 * day, "2y1d"},
		{8 * 365 * day, "8y"},
	} {
		t.Run(tc.want, func(t *testing.T) { assert.Equal(t, tc.want, table.Duration(tc.d)) })
	}
}
