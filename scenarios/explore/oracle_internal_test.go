package explore

import (
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/route"
	"github.com/kubefake/kubefake/internal/scrub"
)

// An exception for a member of a map covers the member if the other run has no map, too.
func TestExceptedMember(t *testing.T) {
	s := &System{Ignore: []Exception{
		{Oracle: EndState, Resource: "pods", Field: "metadata.annotations.at", Reason: "it is the time"},
	}}
	annotated := func(annotations map[string]any) map[string]any {
		return map[string]any{"metadata": map[string]any{"annotations": annotations}}
	}
	bare := map[string]any{"metadata": map[string]any{}}
	at := annotated(map[string]any{"at": "12:00"})
	for name, row := range map[string]struct {
		key      objectKey
		run, ref map[string]any
		want     []string
	}{
		"another value":              {objectKey{resource: "pods"}, at, annotated(map[string]any{"at": "13:00"}), nil},
		"no map in the reference":    {objectKey{resource: "pods"}, at, bare, nil},
		"no map in the run":          {objectKey{resource: "pods"}, bare, at, nil},
		"another member beside it":   {objectKey{resource: "pods"}, annotated(map[string]any{"at": "12:00", "by": "me"}), bare, []string{`metadata.annotations.by is "me", in the reference run absent`}},
		"another resource":           {objectKey{resource: "nodes"}, at, bare, []string{`metadata.annotations is {"at":"12:00"}, in the reference run absent`}},
		"a map without exceptions":   {objectKey{resource: "pods"}, map[string]any{"data": map[string]any{"at": "x"}}, map[string]any{}, []string{`data is {"at":"x"}, in the reference run absent`}},
		"a scalar in place of a map": {objectKey{resource: "pods"}, at, map[string]any{"metadata": map[string]any{"annotations": "x"}}, []string{`metadata.annotations is {"at":"12:00"}, in the reference run "x"`}},
	} {
		t.Run(name, func(t *testing.T) {
			j := &judgement{system: s, scrubber: scrub.ForReaders()}
			var got []string
			j.diff(EndState, row.key, "", row.run, row.ref, &got)
			assert.Equal(t, row.want, got)
		})
	}
}

// A client repeats a write that conflicts until its view is new; one without a back-off repeats it too often.
func TestConflictsOfWriteBudget(t *testing.T) {
	requests := func(code, n int) []*request {
		q := &request{route: route.Route{IsResource: true, Verb: "update", Resource: "configmaps", Namespace: "default", Name: "a"}, code: code}
		return slices.Repeat([]*request{q}, n)
	}
	for name, row := range map[string]struct {
		requests []*request
		want     int
	}{
		"writes within the budget":   {requests(http.StatusOK, 32), 0},
		"more writes":                {requests(http.StatusOK, 33), 1},
		"conflicts beside them":      {append(requests(http.StatusOK, 32), requests(http.StatusConflict, 200)...), 0},
		"more conflicts":             {append(requests(http.StatusOK, 32), requests(http.StatusConflict, 201)...), 1},
		"conflicts without a write":  {requests(http.StatusConflict, 232), 0},
		"a loop of nothing but them": {requests(http.StatusConflict, 233), 1},
	} {
		t.Run(name, func(t *testing.T) {
			run, ref := &outcome{requests: row.requests}, &outcome{requests: requests(http.StatusOK, 1)}
			run.countRequests(newNormalizer(nil), Pace{})
			ref.countRequests(newNormalizer(nil), Pace{})
			j := &judgement{system: &System{}, run: run, ref: ref, scrubber: scrub.ForReaders()}
			j.writeBudget()
			assert.Len(t, j.violations, row.want)
		})
	}
}
