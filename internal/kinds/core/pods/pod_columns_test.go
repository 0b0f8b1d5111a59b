package pods_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestPodCells(t *testing.T) {
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
			cells := kindtest.TypeOf(t, "pods").Layout.Cells(kindtest.TableRow(t, tc.pod))
			assert.Equal(t, []any{"a", tc.ready, tc.word, tc.restarts, "60m"}, cells[:5])
		})
	}
}

func TestPodCellsInWideOutput(t *testing.T) {
	row := kindtest.TableRow(t, `{spec: {nodeName: e, readinessGates: [{conditionType: x}, {conditionType: w}]}, status: {podIPs: [{ip: 10.0.0.1}], nominatedNodeName: m, conditions: [{type: x, status: "True"}]}}`)
	assert.Equal(t, []any{"10.0.0.1", "e", "m", "1/2"}, kindtest.TypeOf(t, "pods").Layout.Cells(row)[5:])
}

func TestPodRowConditions(t *testing.T) {
	row := kindtest.TableRow(t, `{status: {phase: Failed}}`)
	assert.Contains(t, string(kindtest.TypeOf(t, "pods").Layout.AppendRow(nil, row, nil)),
		`],"conditions":[{"type":"Completed","status":"True","reason":"Failed","message":"The pod failed."}],"object":null}`)
}
