//go:build go1.25

package requests_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/apitest"
)

// slowHooks returns two webhooks, each of which is called for 30 s and then ignored.
func slowHooks() string {
	hook := func(name string) string {
		return `{"name":"` + name + `.example.com","admissionReviewVersions":["v1"],"sideEffects":"None","failurePolicy":"Ignore","timeoutSeconds":30,
			"clientConfig":{"url":"https://hook.example/mutate"},
			"rules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps"]}]}`
	}
	return `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingWebhookConfiguration","metadata":{"name":"hooks"},
		"webhooks":[` + hook("a") + "," + hook("b") + `]}`
}

// What kube-apiserver answers when the time of a request is up.
const (
	allotted  = "Timeout: request did not complete within the allotted timeout"
	requested = "Timeout: request did not complete within requested timeout - context deadline exceeded"
)

// TestRequestTimeout checks when requests time out on the server's clock.
func TestRequestTimeout(t *testing.T) {
	const late = apitest.ConfigMapsPath + "?resourceVersion=99999&resourceVersionMatch=NotOlderThan"
	for _, row := range []struct {
		name, method, path, body string
		code                     int
		message                  string
		took                     time.Duration
	}{
		{"write", "POST", apitest.ConfigMapsPath, `{"metadata":{"name":"a"}}`, 504, requested, 34 * time.Second},
		{"write with a shorter timeout", "POST", apitest.ConfigMapsPath + "?timeout=5s", `{"metadata":{"name":"a"}}`, 504, allotted, 5 * time.Second},
		{"write with a longer timeout", "POST", apitest.ConfigMapsPath + "?timeout=10m", `{"metadata":{"name":"a"}}`, 504, requested, 34 * time.Second},
		{"write without a timeout", "POST", apitest.ConfigMapsPath + "?timeout=0s", `{"metadata":{"name":"a"}}`, 504, requested, 34 * time.Second},
		{"dry run", "POST", apitest.ConfigMapsPath + "?dryRun=All&timeout=5s", `{"metadata":{"name":"a"}}`, 504, allotted, 5 * time.Second},
		{"read", "GET", late + "&timeout=2s", "", 504, allotted, 2 * time.Second},
		{"read that is in time", "GET", late + "&timeout=20s", "", 504, "Timeout: Too large resource version: 99999, current: ", 3 * time.Second},
		{"not a duration", "GET", "/version?timeout=x", "", 400, `invalid timeout specified in the request URL - time: invalid duration "x"`, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(slowHooks()))
				apitest.Inject(t, srv, faults.SlowWebhook("*", time.Hour))
				start := time.Now()
				code, answer := apitest.Do(t, srv, row.method, row.path, row.body)
				assert.Equal(t, row.took, time.Since(start))
				assert.Equal(t, row.code, code)
				assert.Contains(t, answer["message"], row.message)
				_, err := srv.Get("configmaps", "default", "a")
				assert.ErrorIs(t, err, fakeapi.ErrNotFound, "a request that timed out writes nothing")
			})
		})
	}
}

// TestConfiguredTimeout checks that a request cannot ask for more time than the server gives.
func TestConfiguredTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(slowHooks()), fakeapi.WithAPIServer(apiserver.Config{RequestTimeout: 7 * time.Second}))
		apitest.Inject(t, srv, faults.SlowWebhook("*", time.Hour))
		start := time.Now()
		code, answer := apitest.Do(t, srv, "POST", apitest.ConfigMapsPath+"?timeout=20s", `{"metadata":{"name":"a"}}`)
		assert.Equal(t, 7*time.Second, time.Since(start))
		assert.Equal(t, 504, code)
		assert.Equal(t, allotted, answer["message"])
	})
}

// TestTimeoutBody checks that the answer to a request that timed out is that of
// kube-apiserver's outermost handler: JSON that is declared as text.
func TestTimeoutBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemory())
		resp, err := srv.Client().Get(srv.URL + apitest.ConfigMapsPath + "?resourceVersion=99999&timeout=1s&resourceVersionMatch=NotOlderThan")
		require.NoError(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.Equal(t, "text/plain; charset=utf-8", resp.Header.Get("Content-Type"))
		assert.Equal(t, `{"metadata":{},"status":"Failure","message":"`+allotted+`","reason":"Timeout","details":{},"code":504}`+"\n", string(body))
	})
}

// TestSlowBody sends bodies that do not end.
func TestSlowBody(t *testing.T) {
	for _, row := range []struct {
		name, query string
		delay, want time.Duration
	}{
		{"no timeout", "", 0, time.Minute},
		{"timeout", "?timeout=5s", 0, 5 * time.Second},
		{"a fault delays the request first", "", 20 * time.Second, time.Minute},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := fakeapi.Start(t, fakeapi.WithInMemory())
				apitest.Inject(t, srv, faults.Fault{Delay: max(row.delay, 1)})
				body, client := io.Pipe()
				defer client.Close()
				start := time.Now()
				resp, err := srv.Client().Post(srv.URL+apitest.ConfigMapsPath+row.query, "application/json", body)
				require.NoError(t, err)
				assert.Equal(t, allotted, apitest.Answer(t, resp)["message"])
				assert.Equal(t, row.want, time.Since(start))
			})
		})
	}
}

// TestSlowBodyOverTCP does so over TCP. net/http cancels the context of a request whose
// body it cannot read.
func TestSlowBodyOverTCP(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithManualClock(apitest.Epoch))
	conn, err := net.Dial("tcp", strings.TrimPrefix(srv.URL, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n", apitest.ConfigMapsPath)
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusContinue, resp.StatusCode, "the server reads the body")
	require.NoError(t, srv.Clock().Advance(time.Minute))
	resp, err = http.ReadResponse(r, nil)
	require.NoError(t, err)
	defer resp.Body.Close()
	assert.Equal(t, http.StatusGatewayTimeout, resp.StatusCode)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Contains(t, string(body), allotted)
}

// TestSlowReader reads a long list too late: the connection is broken when the time
// of the request is up.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemory())
		for i := range 5 {
			apitest.Put(t, srv, apitest.ConfigMap(fmt.Sprintf("a-%d", i), strings.Repeat("x", 100_000)))
		}
		resp, err := srv.Client().Get(srv.URL + apitest.ConfigMapsPath)
		require.NoError(t, err)
		defer resp.Body.Close()
		time.Sleep(59 * time.Second) // of the bubble's time
		_, err = io.CopyN(io.Discard, resp.Body, 1000)
		require.NoError(t, err)
		time.Sleep(2 * time.Second)
		n, err := io.Copy(io.Discard, resp.Body)
		assert.Error(t, err)
		assert.Less(t, n, int64(200_000))
	})
}

// TestSlowReaderOfBuffer reads too late a list that the server has buffered to compress it.
func TestSlowReaderOfBuffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemory())
		apitest.Put(t, srv, apitest.ConfigMap("a", strings.Repeat("x", 120_000)))
		req, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL+apitest.ConfigMapsPath, nil)
		require.NoError(t, err)
		req.Header.Set("Accept-Encoding", "gzip")
		resp, err := srv.Client().Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		time.Sleep(61 * time.Second) // of the bubble's time
		n, err := io.Copy(io.Discard, resp.Body)
		assert.Error(t, err)
		assert.Less(t, n, int64(120_000))
	})
}

// evaluating reports whether a goroutine evaluates an expression.
func evaluating() bool {
	b := make([]byte, 1<<20)
	return strings.Contains(string(b[:runtime.Stack(b, true)]), "internal/cel.(*program).eval(")
}

// TestCloseDuringEvaluation closes a server that evaluates rules which take seconds.
func TestCloseDuringEvaluation(t *testing.T) {
	const rule = `{"rule":"self.all(x, x >= 0 && x < 100000)"},`
	definition := apitest.Widgets("v1", `"list":{"type":"array","maxItems":100000,"items":{"type":"integer"},"x-kubernetes-validations":[`+strings.TrimSuffix(strings.Repeat(rule, 14), ",")+`]}`)
	var list strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&list, "%d,", i)
	}
	srv, err := fakeapi.New(fakeapi.WithInMemory())
	require.NoError(t, err)
	_, err = srv.Store(definition)
	require.NoError(t, err)
	answered := make(chan int, 1)
	go func() {
		resp, err := srv.Client().Post(srv.URL+apitest.WidgetsPath, "application/json", strings.NewReader(
			`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"list":[`+strings.TrimSuffix(list.String(), ",")+`]}}`))
		if err != nil {
			answered <- 0
			return
		}
		resp.Body.Close()
		answered <- resp.StatusCode
	}()
	apitest.Eventually(func() bool { return evaluating() || len(answered) > 0 })
	srv.Close()
	assert.False(t, evaluating(), "Close waits for the evaluation to stop")
	assert.NotEqual(t, http.StatusCreated, <-answered)
}
