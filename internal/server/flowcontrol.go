package server

import (
	"bytes"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"text/tabwriter"

	"github.com/kubefake/kubefake/internal/object"
)

// priorityLevels returns the PriorityLevelConfigurations in the order of their names.
func (r *request) priorityLevels() iter.Seq[map[string]any] {
	return func(yield func(map[string]any) bool) {
		t := r.surface.Lookup("flowcontrol.apiserver.k8s.io", "v1", "prioritylevelconfigurations")
		if t == nil {
			return
		}
		for o := range r.server.cluster.Store().All(t.Prefix) {
			if !yield(o.Decode(t)) {
				return
			}
		}
	}
}

// dumpPriorityLevels serves the state of each priority level.
//
// Differs from kube-apiserver: priority and fairness: requests belong to no priority level and do
// not wait, and answers have no X-Kubernetes-PF headers. The dumps show each level and its queues
// without requests. Request: GET /debug/api_priority_and_fairness/dump_priority_levels.
func (r *request) dumpPriorityLevels() error {
	rows := [][]string{{
		"PriorityLevelName", "ActiveQueues", "IsIdle", "IsQuiescing", "WaitingRequests",
		"ExecutingRequests", "DispatchedRequests", "RejectedRequests", "TimedoutRequests", "CancelledRequests",
	}}
	for level := range r.priorityLevels() {
		rows = append(rows, []string{object.String(level, "metadata", "name"), "0", "true", "false", "0", "0", "0", "0", "0", "0"})
	}
	return r.answerRows(rows)
}

// dumpQueues serves the state of each queue.
func (r *request) dumpQueues() error {
	const seconds = "0.00000000ss" // of seats
	rows := [][]string{{
		"PriorityLevelName", "Index", "PendingRequests", "ExecutingRequests", "SeatsInUse",
		"NextDispatchR", "InitialSeatsSum", "MaxSeatsSum", "TotalWorkSum",
	}}
	for level := range r.priorityLevels() {
		queues, _ := object.Int(level, "spec", "limited", "limitResponse", "queuing", "queues")
		for i := range queues {
			rows = append(rows, []string{object.String(level, "metadata", "name"), fmt.Sprint(i), "0", "0", "0", seconds, "0", "0", seconds})
		}
	}
	return r.answerRows(rows)
}

// dumpRequests serves the requests that are executed or wait.
func (r *request) dumpRequests() error {
	header := []string{
		"PriorityLevelName", "FlowSchemaName", "QueueIndex", "RequestIndexInQueue", "FlowDistingsher",
		"ArriveTime", "InitialSeats", "FinalSeats", "AdditionalLatency", "StartTime",
	}
	if r.http.URL.Query().Get("includeRequestDetails") != "" {
		header = append(header, "UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource")
	}
	return r.answerRows([][]string{header})
}

// answerRows answers with a table in which commas and spaces follow the cells.
func (r *request) answerRows(rows [][]string) error {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 8, 0, 1, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, ",\t"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	r.write(http.StatusOK, "text/plain; charset=utf-8", b.Bytes())
	return nil
}
