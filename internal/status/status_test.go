package status_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
)

func TestTexts(t *testing.T) {
	deployments := status.GroupResource{Group: "apps", Resource: "deployments"}
	pods := status.GroupResource{Resource: "pods"}
	spec := validation.NewPath("spec")
	for _, row := range []struct {
		name string
		got  *status.Status
		want string
	}{
		{"not found", status.NotFound(deployments, "d"),
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"deployments.apps \"d\" not found","reason":"NotFound","details":{"name":"d","group":"apps","kind":"deployments"},"code":404}`},
		{"no resource", status.NoResource(),
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"the server could not find the requested resource","reason":"NotFound","details":{},"code":404}`},
		{"already exists", status.AlreadyExists(pods, "a"),
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"pods \"a\" already exists","reason":"AlreadyExists","details":{"name":"a","kind":"pods"},"code":409}`},
		{"conflict", status.Conflict(pods, "a", "why"),
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Operation cannot be fulfilled on pods \"a\": why","reason":"Conflict","details":{"name":"a","kind":"pods"},"code":409}`},
		{"forbidden object", status.Forbidden(pods, "a", "why"),
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"pods \"a\" is forbidden: why","reason":"Forbidden","details":{"name":"a","kind":"pods"},"code":403}`},
		{"forbidden collection", status.Forbidden(deployments, "", "why"),
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"deployments.apps is forbidden: why","reason":"Forbidden","details":{"group":"apps","kind":"deployments"},"code":403}`},
		{"forbidden path", status.Forbidden(status.GroupResource{}, "", "why"),
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"forbidden: why","reason":"Forbidden","details":{},"code":403}`},
		{"invalid, one cause", status.Invalid(status.GroupKind{Kind: "Pod"}, "a", validation.List{validation.Required(spec, "")}),
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Pod \"a\" is invalid: spec: Required value","reason":"Invalid","details":{"name":"a","kind":"Pod","causes":[{"reason":"FieldValueRequired","message":"Required value","field":"spec"}]},"code":422}`},
		{"invalid, a cause twice", status.Invalid(status.GroupKind{Group: "apps", Kind: "Deployment"}, "d", validation.List{validation.Forbidden(spec, "no"), validation.Forbidden(spec, "no")}),
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Deployment.apps \"d\" is invalid: spec: Forbidden: no","reason":"Invalid","details":{"name":"d","group":"apps","kind":"Deployment","causes":[{"reason":"FieldValueForbidden","message":"Forbidden: no","field":"spec"},{"reason":"FieldValueForbidden","message":"Forbidden: no","field":"spec"}]},"code":422}`},
		{"method", status.MethodNotSupported(pods, "watch"),
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"watch is not supported on resources of kind \"pods\"","reason":"MethodNotAllowed","details":{"kind":"pods"},"code":405}`},
		{"timeout", status.Timeout("slow", 1, status.Cause{Reason: "R", Message: "m"}),
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Timeout: slow","reason":"Timeout","details":{"causes":[{"reason":"R","message":"m"}],"retryAfterSeconds":1},"code":504}`},
		{"too many requests", status.TooManyRequests("wait", 10, status.Cause{Reason: "R", Message: "m"}),
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"wait","reason":"TooManyRequests","details":{"causes":[{"reason":"R","message":"m"}],"retryAfterSeconds":10},"code":429}`},
		{"success", status.Success(&status.Details{Name: "a", Kind: "pods", UID: "u"}),
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":"a","kind":"pods","uid":"u"}}`},
		{"unclassified", status.Unclassified("odd"),
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"odd","code":500}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want+"\n", string(row.got.JSON()))
			assert.Equal(t, row.got.Message, row.got.Error())
		})
	}
}
