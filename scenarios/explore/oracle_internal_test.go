package explore

import (
	"testing"

	"github.com/stretchr/testify/assert"

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
