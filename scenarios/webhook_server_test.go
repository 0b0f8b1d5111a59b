package scenarios

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestServeWebhook(t *testing.T) {
	for _, row := range []struct {
		path, request string
		code          int
		response      string
	}{
		{"/mutate", `{"uid":"1","object":{"metadata":{}}}`, 200, `{"uid":"1","allowed":true,"patchType":"JSONPatch","patch":"W3sib3AiOiJhZGQiLCJwYXRoIjoiL21ldGFkYXRhL2xhYmVscyIsInZhbHVlIjp7fX0seyJvcCI6ImFkZCIsInBhdGgiOiIvbWV0YWRhdGEvbGFiZWxzL211dGF0ZWQiLCJ2YWx1ZSI6InRydWUifV0="}`},
		{"/validate", `{"uid":"1","object":{"metadata":{"labels":{"warn":"true"}}}}`, 200, `{"uid":"1","allowed":true,"warnings":["the label warn says careful"]}`},
		{"/validate", `{"uid":"1","object":{"metadata":{"labels":{"deny":"true"}}}}`, 200, `{"uid":"1","allowed":false,"status":{"code":403,"reason":"Forbidden","message":"the label deny says no"}}`},
		{"/echo", `{"uid":"1","operation":"UPDATE","resource":{"resource":"pods"},"subResource":"status","dryRun":false,"userInfo":{"username":"a"}}`, 200, `{"uid":"1","allowed":true,"warnings":["UPDATE pods status dryRun=false user=a"]}`},
		{"/convert", `{"uid":"1","desiredAPIVersion":"g/v1","objects":[{"hostPort":"h:1"}]}`, 200, `{"uid":"1","result":{"status":"Success"},"convertedObjects":[{"apiVersion":"g/v1","host":"h","port":"1"}]}`},
		{"/convert", `{"uid":"1","desiredAPIVersion":"g/v1beta1","objects":[{"spec":{"host":"h","port":"1"}}]}`, 200, `{"uid":"1","result":{"status":"Success"},"convertedObjects":[{"apiVersion":"g/v1beta1","spec":{"hostPort":"h:1"}}]}`},
		{"/convert-fail", `{"uid":"1"}`, 200, `{"uid":"1","result":{"status":"Failed","message":"hostPort could not be parsed into a separate host and port"}}`},
		{"/convert-rename", `{"uid":"1","desiredAPIVersion":"g/v1","objects":[{"metadata":{"name":"a"}}]}`, 200, `{"uid":"1","result":{"status":"Success"},"convertedObjects":[{"apiVersion":"g/v1","metadata":{"name":"renamed"}}]}`},
		{"/error", `{}`, 500, ""},
		{"/validate", `nonsense`, 400, ""},
	} {
		t.Run(row.path, func(t *testing.T) {
			w := httptest.NewRecorder()
			serveWebhook(w, httptest.NewRequest(http.MethodPost, row.path, strings.NewReader(`{"request":`+row.request+`}`)))
			require.Equal(t, row.code, w.Code)
			if row.response == "" {
				return
			}
			var review struct{ Response json.RawMessage }
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &review))
			assert.JSONEq(t, row.response, string(review.Response))
		})
	}
}
