package access_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/kubelet"
	"github.com/kubefake/kubefake/internal/apitest"
)

// openExec makes an exec request over a WebSocket. The caller closes the connection.
func openExec(t *testing.T, srv *fakeapi.Server, path, protocols string) (net.Conn, *bufio.Reader, *http.Response) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(srv.URL, "http://"))
	require.NoError(t, err)
	fmt.Fprintf(conn, "GET /api/v1/namespaces/default/pods/%s HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: %s\r\n\r\n", path, protocols)
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, nil)
	require.NoError(t, err)
	return conn, r, resp
}

// execute makes an exec request over a WebSocket, sends frames, and returns what each
// channel has until the server closes the connection.
func execute(t *testing.T, srv *fakeapi.Server, path, protocols string, frames ...string) (code int, channels map[byte]string) {
	t.Helper()
	conn, r, resp := openExec(t, srv, path, protocols)
	defer conn.Close()
	if resp.StatusCode != http.StatusSwitchingProtocols {
		return resp.StatusCode, nil
	}
	assert.Equal(t, strings.Split(protocols, ",")[0], resp.Header.Get("Sec-WebSocket-Protocol"))
	for _, f := range frames {
		_, err := conn.Write(append([]byte{f[0], 0x80 | byte(len(f)-1), 0, 0, 0, 0}, f[1:]...)) // the mask changes nothing
		require.NoError(t, err)
	}
	channels = map[byte]string{}
	for {
		var head [2]byte
		_, err := io.ReadFull(r, head[:])
		require.NoError(t, err)
		n := uint64(head[1])
		if n == 126 {
			var long [2]byte
			_, err := io.ReadFull(r, long[:])
			require.NoError(t, err)
			n = uint64(binary.BigEndian.Uint16(long[:]))
		}
		payload := make([]byte, n)
		_, err = io.ReadFull(r, payload)
		require.NoError(t, err)
		if head[0] == 0x88 { // closes
			return resp.StatusCode, channels
		}
		channels[payload[0]] += string(payload[1:])
	}
}

func TestPodExec(t *testing.T) {
	srv := fakeapi.Start(t)
	for _, pod := range []string{
		`{apiVersion: v1, kind: Node, metadata: {name: m}, status: {addresses: [{type: InternalIP, address: 10.0.0.1}]}}`,
		`{apiVersion: v1, kind: Pod, metadata: {name: web, labels: {app: web}}, spec: {nodeName: m, containers: [{name: c, image: i}, {name: d, image: i}]}}`,
		`{apiVersion: v1, kind: Pod, metadata: {name: pending, labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}`,
		`{apiVersion: v1, kind: Pod, metadata: {name: other}, spec: {nodeName: m, containers: [{name: c, image: i}]}}`,
	} {
		_, err := srv.Store(pod)
		require.NoError(t, err)
	}
	require.NoError(t, srv.Kubelet().Pods("app=web").HandleExec(func(_ context.Context, c kubelet.Command) int {
		in, _ := io.ReadAll(c.Stdin)
		fmt.Fprintf(c.Stdout, "%s/%s/%s %s %s", c.Namespace, c.Pod, c.Container, strings.Join(c.Args, " "), in)
		fmt.Fprint(c.Stderr, "warning")
		return 3
	}))
	require.NoError(t, srv.Kubelet().Pods("app=web").Container("d").HandleExec(func(context.Context, kubelet.Command) int { return 0 }))
	require.ErrorIs(t, srv.Kubelet().Pods("=").HandleExec(nil), kubelet.ErrInvalid)

	const success = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}`
	const failure = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"command terminated with non-zero exit code: exit status 3","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"3"}]}}`
	for _, row := range []struct {
		name, path, protocols string
		frames                []string // the first byte is that of the frame, the second the channel
		code                  int
		want                  map[byte]string
	}{
		{"output", "web/exec?container=c&command=ls&command=-l&stdout=1&stderr=1", "v5.channel.k8s.io", nil, 101,
			map[byte]string{1: "default/web/c ls -l ", 2: "warning", 3: failure}},
		{"no output", "web/exec?container=c&command=ls&stderr=true", "v4.channel.k8s.io", nil, 101, map[byte]string{2: "warning", 3: failure}},
		{"input", "web/exec?container=c&command=cat&stdin=1&stdout=1", "v5.channel.k8s.io,v4.channel.k8s.io", []string{"\x02\x00a", "\x80b", "\x82\x00c", "\x82\xff\x00"}, 101,
			map[byte]string{1: "default/web/c cat abc", 3: failure}},
		{"success", "web/exec?container=d&command=ls&stdin=1&stdout=1", "v5.channel.k8s.io", []string{"\x82\x00nobody reads it"}, 101, map[byte]string{1: "", 3: success}},
		{"another protocol", "web/exec?container=d&command=ls&stdout=1", "channel.k8s.io", nil, 403, nil},
		{"no container", "web/exec?command=ls&stdout=1", "v5.channel.k8s.io", nil, 400, nil},
		{"no node", "pending/exec?command=ls&stdout=1", "v5.channel.k8s.io", nil, 400, nil},
		{"no function", "other/exec?command=ls&stdout=1", "v5.channel.k8s.io", nil, 501, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			code, channels := execute(t, srv, row.path, row.protocols, row.frames...)
			assert.Equal(t, row.code, code)
			assert.Equal(t, row.want, channels)
		})
	}
	resp, err := srv.Client().Post(srv.URL+"/api/v1/namespaces/default/pods/web/exec?container=c&command=ls&stdout=1", "", nil)
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, http.StatusNotImplemented, resp.StatusCode, "SPDY")
}

// The connection ends with the function of the test, however that ends.
func TestPodExecWithoutReturn(t *testing.T) {
	srv := fakeapi.Start(t)
	_, err := srv.Store(`{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {nodeName: m, containers: [{name: c, image: i}]}}`)
	require.NoError(t, err)
	for name, run := range map[string]func(context.Context, kubelet.Command) int{
		"panic":   func(context.Context, kubelet.Command) int { panic("of the test") },
		"FailNow": func(context.Context, kubelet.Command) int { runtime.Goexit(); return 0 },
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, srv.Kubelet().Pods("").HandleExec(run))
			conn, r, resp := openExec(t, srv, "web/exec?command=ls&stdin=1&stdout=1", "v5.channel.k8s.io")
			defer conn.Close()
			assert.Equal(t, http.StatusSwitchingProtocols, resp.StatusCode)
			rest, err := io.ReadAll(r)
			assert.NoError(t, err)
			assert.Equal(t, "\x82\x01\x01", string(rest), "only that the connection is established")
		})
	}
}

// A WebSocket opens with a GET, and needs the verb "create" too.
func TestPodExecAuthorization(t *testing.T) {
	role := func(verbs string) string {
		return `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"r","namespace":"default"},"rules":[{"apiGroups":[""],"resources":["pods/exec","pods/attach","pods/portforward"],"verbs":` + verbs + `}]}`
	}
	for _, row := range []struct {
		name, verbs string
		want        int
	}{
		{"get", `["get"]`, 403},
		{"get and create", `["get","create"]`, 404},
	} {
		srv := apitest.StartRBAC(t, role(row.verbs), apitest.ReaderBinding)
		for _, sub := range []string{"exec?command=ls&stdout=1", "attach?stdout=1", "portforward"} {
			code, answer := apitest.DoWithHeaders(t, srv, "GET", "/api/v1/namespaces/default/pods/web/"+sub, "", apitest.AsAlice...)
			assert.Equal(t, row.want, code, "%s with %s: %s", sub, row.name, answer["message"])
		}
	}
}
