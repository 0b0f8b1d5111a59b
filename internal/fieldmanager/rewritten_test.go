package fieldmanager

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/object"
)

// The body of an update is read as text only for lists of quantities or times that a manager can own.
// It takes longer than the rest of the update.
func TestSentTextsAreReadIfTheyMatter(t *testing.T) {
	for _, test := range []struct {
		name         string
		kind         *kind
		before, body string
		read         bool
	}{
		{"managedFields", builtin(t, "", "v1", "Pod"),
			`metadata: {labels: {a: b}, managedFields: [{manager: m, operation: Update, apiVersion: v1, time: "2026-01-01T00:00:00Z", fieldsV1: {"f:a": {}}}]}`,
			`metadata: {labels: {a: c}, managedFields: [{manager: m, operation: Update, apiVersion: v1, time: "2026-01-01T00:00:00Z", fieldsV1: {"f:a": {}}}]}`, false},
		{"quantities", builtin(t, "", "v1", "LimitRange"),
			`spec: {limits: [{type: Pod, max: {cpu: "1"}}]}`,
			`spec: {limits: [{type: Pod, max: {cpu: "1"}}]}`, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			read := false
			test.kind.Update(object.ViewOf(parse(t, test.before)), parse(t, test.body), Options{Manager: "m", Sent: func() any {
				read = true
				return parse(t, test.body)
			}})
			assert.Equal(t, test.read, read)
		})
	}
}
