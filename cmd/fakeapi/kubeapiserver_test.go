//go:build go1.24

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/httptest"
	"github.com/kubefake/kubefake/internal/admission/plugin"
	"github.com/kubefake/kubefake/internal/release"
)

// runProgram runs the program of an executable until it ends by itself.
func runProgram(t *testing.T, executable string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errOut bytes.Buffer
	code = programOf(executable)(t.Context(), args, strings.NewReader(""), &out, &errOut)
	return code, out.String(), errOut.String()
}

func TestKubeAPIServerCommandLine(t *testing.T) {
	for _, tt := range []struct {
		name   string
		args   string
		code   int
		stdout string // a part of the output; "" if there is none
		stderr string
	}{
		{"version", "--version", 0, "Kubernetes v1.37.2\n", ""},
		{"help", "--help", 0, "\n      --etcd-servers ", ""},
		{"flags without effect", "--help", 0, "\n      --audit-log-batch-max-size\n", ""},
		{"unknown flag", "--foo", 1, "", "Error: unknown flag: --foo\n"},
		{"flag of an old release", "--insecure-port=0", 1, "", "Error: unknown flag: --insecure-port\n"},
		{"value", "--secure-port x", 1, "", "Error: invalid argument \"x\" for \"--secure-port\" flag: strconv.ParseInt: parsing \"x\": invalid syntax\n"},
		{"value of a flag without effect", "--max-requests-inflight=many", 1, "", `Error: invalid argument "many" for "--max-requests-inflight" flag`},
		{"argument", "extra", 1, "", "Error: \"kube-apiserver\" does not take any arguments, got [\"extra\"]\n"},
		{"no etcd", "--allow-privileged", 1, "", "--etcd-servers must be specified"},
		{"several errors", "--enable-admission-plugins=A --disable-admission-plugins=Priority,B", 1, "", `err="[--etcd-servers must be specified, enable-admission-plugins plugin \"A\" is unknown, disable-admission-plugins plugin \"B\" is unknown]"`},
		{"plugin in both lists", "--etcd-servers=http://127.0.0.1:1 --enable-admission-plugins=Priority --disable-admission-plugins=Priority", 1, "", `err="[Priority] in enable-admission-plugins and disable-admission-plugins overlapped"`},
		{"admission-control", "--etcd-servers=http://127.0.0.1:1 --admission-control=A", 1, "", `admission-control plugin \"A\" is unknown`},
		{"audit limits", "--etcd-servers=http://127.0.0.1:1 --audit-log-path=- --audit-log-maxage=-1 --audit-log-maxbackup=-2 --audit-log-maxsize=-3 --audit-log-mode=late", 1, "",
			`err="[invalid audit log mode late, allowed modes are \"batch,blocking,blocking-strict\", --audit-log-maxage -1 can't be a negative number, --audit-log-maxbackup -2 can't be a negative number, --audit-log-maxsize -3 can't be a negative number]"`},
		{"audit format", "--etcd-servers=http://127.0.0.1:1 --audit-log-path=- --audit-log-format=xml", 1, "", `invalid audit log format xml, allowed formats are`},
		{"audit webhook", "--etcd-servers=http://127.0.0.1:1 --audit-webhook-config-file=none --audit-webhook-batch-max-size=0 --audit-webhook-truncate-max-event-size=0 --audit-webhook-version=v1", 1, "",
			`err="[invalid audit batch webhook max batch size 0, must be a positive number, invalid audit truncate webhook max event size 0, must be a positive number, invalid group version, allowed versions are [\"audit.k8s.io/v1\"]]"`},
		{"audit policy", "--etcd-servers=http://127.0.0.1:1 --audit-log-path=- --audit-policy-file=none.yaml", 1, "", `loading audit policy file: failed to read file path`},
		{"unknown gate", "--feature-gates=Foo=true", 1, "", `err="unrecognized feature gate: Foo"`},
		{"locked gate", "--feature-gates=kube:ExecProbeTimeout=false", 1, "", `err="cannot set feature gate ExecProbeTimeout to false, feature is locked to true"`},
		{"gate of another component", "--feature-gates=wardle:A=false", 1, "", `err="component not registered: wardle"`},
		{"value of a gate", "--feature-gates=Foo=x", 1, "", `err="invalid value of Foo=x, err: strconv.ParseBool: parsing \"x\": invalid syntax"`},
		{"gate without value", "--feature-gates=Foo", 1, "", `err="missing bool value for Foo"`},
		{"unknown version", "--etcd-servers=http://127.0.0.1:1 --runtime-config=apps/v9=true", 1, "", `err="group version apps/v9 that has not been registered; did you mean apps/v1?"`},
		{"value of a stage", "--etcd-servers=http://127.0.0.1:1 --runtime-config=api/beta=maybe", 1, "", `err="invalid value api/beta=maybe"`},
		{"everything off", "--etcd-servers=http://127.0.0.1:1 --runtime-config=api/all=false", 1, "", `err="[--runtime-config=api/all=false conflicts with --enable-priority-and-fairness=true, invalid runtime-config with only api/all=false]"`},
		{"unknown mode", "--etcd-servers=http://127.0.0.1:1 --authorization-mode=Magic", 1, "", "is not a valid mode"},
		{"mode ABAC without a file", "--etcd-servers=http://127.0.0.1:1 --authorization-mode=ABAC,RBAC", 1, "", `err="authorization-mode ABAC's authorization policy file not passed"`},
		{"missing file of the mode ABAC", "--etcd-servers=http://127.0.0.1:1 --authorization-mode=ABAC --authorization-policy-file=none.jsonl", 1, "", `none.jsonl: no such file or directory"`},
		{"mode twice", "--etcd-servers=http://127.0.0.1:1 --authorization-mode=RBAC,RBAC", 1, "", `err="authorization-mode [\"RBAC\" \"RBAC\"] has mode specified more than once"`},
		{"mode Webhook without a file", "--etcd-servers=http://127.0.0.1:1 --authorization-mode=Webhook", 1, "", `err="authorization-mode Webhook's authorization config file not passed"`},
		{"webhook without its mode", "--etcd-servers=http://127.0.0.1:1 --authorization-webhook-config-file=a.yaml", 1, "", `err="cannot specify --authorization-webhook-config-file without mode Webhook"`},
		{"missing file of the mode Webhook", "--etcd-servers=http://127.0.0.1:1 --authorization-mode=Webhook --authorization-webhook-config-file=none.yaml", 1, "", `none.yaml: no such file or directory"`},
		{"version of the mode Webhook", "--etcd-servers=http://127.0.0.1:1 --authorization-mode=Webhook --authorization-webhook-config-file=a.yaml --authorization-webhook-version=v2", 1, "", `unsupported webhook authorizer version \"v2\", supported versions are \"v1\", \"v1beta1\"`},
		{"authorization configuration is missing", "--etcd-servers=http://127.0.0.1:1 --authorization-config=none.yaml", 1, "", `none.yaml: no such file or directory"`},
		{"authorization configuration and mode", "--etcd-servers=http://127.0.0.1:1 --authorization-config=none.yaml --authorization-mode=RBAC", 1, "", `--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined`},
		{"OIDC without an audience", "--etcd-servers=http://127.0.0.1:1 --oidc-issuer-url=https://issuer", 1, "", `err="oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set"`},
		{"OIDC without TLS", "--etcd-servers=http://127.0.0.1:1 --oidc-issuer-url=http://issuer --oidc-client-id=a", 1, "", `err="invalid authentication configuration: jwt[0].issuer.url: Invalid value: \"http://issuer\": URL scheme must be https"`},
		{"OIDC with a missing CA", "--etcd-servers=http://127.0.0.1:1 --oidc-issuer-url=https://issuer --oidc-client-id=a --oidc-ca-file=none.crt", 1, "", `none.crt: no such file or directory"`},
		{"OIDC with an unknown algorithm", "--etcd-servers=http://127.0.0.1:1 --oidc-issuer-url=https://issuer --oidc-client-id=a --oidc-signing-algs=HS256", 1, "", `err="oidc: unsupported signing alg: \"HS256\""`},
		{"required claim without value", "--oidc-required-claim=a", 1, "", `Error: invalid argument "a" for "--oidc-required-claim" flag: malformed pair, expect string=string`},
		{"OIDC and a configuration", "--etcd-servers=http://127.0.0.1:1 --oidc-issuer-url=https://issuer --authentication-config=a.yaml", 1, "", `err="authentication-config file and oidc-* flags are mutually exclusive"`},
		{"authentication configuration is missing", "--etcd-servers=http://127.0.0.1:1 --authentication-config=none.yaml", 1, "", `failed to load authentication configuration from file \"none.yaml\": none.yaml: no such file or directory"`},
		{"anonymous in the configuration and in a flag", "--etcd-servers=http://127.0.0.1:1 --authentication-config=testdata/authentication.yaml --anonymous-auth=true", 1, "",
			`err="anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file"`},
		{"token webhook is missing", "--etcd-servers=http://127.0.0.1:1 --authentication-token-webhook-config-file=none.yaml", 1, "", `none.yaml: no such file or directory"`},
		{"policies without the mode ABAC", "--etcd-servers=http://127.0.0.1:1 --authorization-policy-file=a.jsonl --client-ca-file=none.crt", 1, "", `err="cannot specify --authorization-policy-file without mode ABAC"`},
		{"certificate of a name without a key", "--tls-sni-cert-key=a.crt", 1, "", `Error: invalid argument "a.crt" for "--tls-sni-cert-key" flag: expected comma separated certificate and key file paths`},
		{"certificate without names", "--tls-sni-cert-key=a.crt,a.key:", 1, "", `empty names list is not allowed`},
		{"certificate of a name is missing", "--etcd-servers=http://127.0.0.1:1 --tls-sni-cert-key=none.crt,none.key:foo", 1, "", "none.crt"},
		{"shortest time of watches", "--etcd-servers=http://127.0.0.1:1 --cert-dir= --min-request-timeout=-1", 1, "", `err="--min-request-timeout can not be negative value"`},
		{"header for HTTPS", "--etcd-servers=http://127.0.0.1:1 --cert-dir= --strict-transport-security-directives=max-age,preload", 1, "", `err="--strict-transport-security-directives invalid, allowed values: max-age=expireTime, includeSubDomains, preload.`},
		{"empty header for HTTPS", "--etcd-servers=http://127.0.0.1:1 --cert-dir= --strict-transport-security-directives=preload,", 1, "", `err="empty value in strict-transport-security-directives"`},
		{"node ports", "--service-node-port-range=80-x", 1, "", `Error: invalid argument "80-x" for "--service-node-port-range" flag: strconv.Atoi: parsing "x": invalid syntax`},
		{"reversed node ports", "--service-node-port-range=80-70", 1, "", `end port cannot be less than start port: 80-70`},
		{"node ports that are no ports", "--service-node-port-range=60000+6000", 1, "", `the port range cannot be greater than 65535: 60000+6000`},
		{"time of tokens", "--etcd-servers=http://127.0.0.1:1 --cert-dir= --service-account-max-token-expiration=1m", 1, "", `err="the service-account-max-token-expiration must be between 1 hour and 2^32 seconds"`},
		{"keys of tokens", "--etcd-servers=http://127.0.0.1:1 --cert-dir= --service-account-jwks-uri=http://a", 1, "", `err="service-account-jwks-uri requires https scheme, parsed as: http://a"`},
		{"origins", "--etcd-servers=http://127.0.0.1:1 --cert-dir= --cors-allowed-origins=example", 1, "", `err="--cors-allowed-origins has an invalid regular expression: regular expression does not pin to start/end of host in the origin header, help: List of allowed origins`},
		{"address of another family", "--etcd-servers=http://127.0.0.1:1 --cert-dir= --advertise-address=2001:db8::1", 1, "", `err="service IP family \"10.0.0.0/24\" must match public address family \"2001:db8::1\""`},
		{"missing file", "--etcd-servers=http://127.0.0.1:1 --client-ca-file=none.crt", 1, "", "none.crt"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := runProgram(t, "kube-apiserver", strings.Fields(tt.args)...)
			assert.Equal(t, tt.code, code)
			assert.Contains(t, stdout, tt.stdout)
			assert.Contains(t, stderr, tt.stderr)
		})
	}
}

// The folder of the executable names the release, which has its own flags.
func TestKubeAPIServerRelease(t *testing.T) {
	old := filepath.Join("k8s", "1.32.0-linux-amd64", "kube-apiserver")
	_, stdout, _ := runProgram(t, old, "--version")
	assert.Equal(t, "Kubernetes v1.32.13\n", stdout)
	code, _, stderr := runProgram(t, old, "--tls-curve-preferences=1", "--version")
	assert.Equal(t, 1, code)
	assert.Equal(t, "Error: unknown flag: --tls-curve-preferences\n", stderr)
	code, _, _ = runProgram(t, "kube-apiserver", "--tls-curve-preferences=1", "--version")
	assert.Equal(t, 0, code)
}

// The plugin ServiceAccount is enabled by default, as in kube-apiserver, whose flags envtest sets to disable it.
func TestKubeAPIServerPlugins(t *testing.T) {
	for _, tt := range []struct {
		name             string
		plugins          plugin.Selection
		admissionControl []string
		want             bool
	}{
		{"default", plugin.Selection{Enable: []string{"AlwaysPullImages"}}, nil, true},
		{"disabled", plugin.Selection{Disable: []string{"ServiceAccount"}}, nil, false},
		{"deprecated flag", plugin.Selection{}, []string{"ServiceAccount"}, true},
		{"deprecated flag without it", plugin.Selection{}, []string{"LimitRanger"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := release.Open("")
			require.NoError(t, err)
			c := kubeAPIServer{serve: &serveCommand{}, served: r, plugins: tt.plugins, admissionControl: tt.admissionControl}
			require.Empty(t, c.setPlugins())
			chain, err := c.plugins.Chain(r, nil)
			require.NoError(t, err)
			assert.Equal(t, tt.want, chain.Enabled("ServiceAccount"))
		})
	}
}

// A controlPlane is a kube-apiserver with the flags that controller-runtime's envtest
// gives it.
type controlPlane struct {
	url  string
	stop func() (stderr string)
}

func startControlPlane(t *testing.T, more ...string) *controlPlane {
	t.Helper()
	dir := t.TempDir()
	ca := filepath.Join(dir, "client-ca.crt")
	require.NoError(t, os.WriteFile(ca, httptest.ClientCA(), 0o600))
	addr := freeAddress(t)
	_, port, _ := net.SplitHostPort(addr)
	args := append([]string{
		"--allow-privileged=true", "--authorization-mode=RBAC", "--bind-address=127.0.0.1", "--secure-port=" + port,
		"--cert-dir=" + dir, "--client-ca-file=" + ca, "--disable-admission-plugins=ServiceAccount",
		"--etcd-servers=http://127.0.0.1:1", "--service-cluster-ip-range=10.0.0.0/24",
		"--service-account-issuer=https://127.0.0.1/",
	}, more...)
	ctx, cancel := context.WithCancel(t.Context())
	logged, log := io.Pipe()
	var stderr bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- programOf("kube-apiserver")(ctx, args, strings.NewReader(""), io.Discard, io.MultiWriter(log, &stderr))
		log.Close()
	}()
	line := make([]byte, 4096)
	n, _ := logged.Read(line)
	go io.Copy(io.Discard, logged)
	require.Contains(t, string(line[:n]), "fakeapi serves https://"+addr+"\n")
	c := &controlPlane{url: "https://" + addr, stop: func() string {
		cancel()
		assert.Equal(t, 0, <-ended)
		ended <- 0
		return stderr.String()
	}}
	t.Cleanup(func() { c.stop() })
	return c
}

// freeAddress returns an address on which nothing listens.
func freeAddress(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().String()
}

// get sends a GET with a client certificate of a user, or without one for "".
func (c *controlPlane) get(t *testing.T, path, user string, groups ...string) (int, map[string]any) {
	t.Helper()
	return c.send(t, http.MethodGet, path, "", user, groups...)
}

// send sends a request as get does.
func (c *controlPlane) send(t *testing.T, method, path, body, user string, groups ...string) (int, map[string]any) {
	t.Helper()
	code, text := c.sendText(t, method, path, body, user, groups...)
	var out map[string]any
	_ = json.Unmarshal(text, &out) // out stays nil for other bodies
	return code, out
}

// sendText sends a request as send does, and returns any body.
func (c *controlPlane) sendText(t *testing.T, method, path, body, user string, groups ...string) (int, []byte) {
	t.Helper()
	config := &tls.Config{InsecureSkipVerify: true}
	if user != "" {
		certPEM, keyPEM, err := httptest.IssueClient(user, groups)
		require.NoError(t, err)
		pair, err := tls.X509KeyPair(certPEM, keyPEM)
		require.NoError(t, err)
		config.Certificates = []tls.Certificate{pair}
	}
	transport := &http.Transport{TLSClientConfig: config}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequest(method, c.url+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Client{Transport: transport}).Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, text
}

func TestKubeAPIServer(t *testing.T) {
	c := startControlPlane(t)
	code, _ := c.get(t, "/healthz", "")
	assert.Equal(t, http.StatusOK, code, "anonymous clients may ask for the health")
	code, _ = c.get(t, "/api/v1/namespaces", "")
	assert.Equal(t, http.StatusForbidden, code)
	code, _ = c.get(t, "/api/v1/namespaces", "jane", "dev")
	assert.Equal(t, http.StatusForbidden, code)
	code, list := c.get(t, "/api/v1/namespaces", "envtest", "system:masters")
	assert.Equal(t, http.StatusOK, code)
	assert.Equal(t, "NamespaceList", list["kind"])
	_, openID := c.get(t, "/.well-known/openid-configuration", "envtest", "system:masters")
	assert.Equal(t, "https://127.0.0.1/", openID["issuer"])
}

// The flags of kube-apiserver that change its answers change those of the drop-in, and the log names
// the others.
func TestKubeAPIServerSettings(t *testing.T) {
	c := startControlPlane(t, "--service-node-port-range=80-90", "--default-not-ready-toleration-seconds=7", "--default-unreachable-toleration-seconds=0",
		"--advertise-address=203.0.113.9", "--allow-privileged=false", "--service-account-jwks-uri=https://keys.example/jwks", "--disabled-metrics=a", "--v=2")
	create := func(path, body string) map[string]any {
		code, answer := c.send(t, "POST", path, body, "envtest", "system:masters")
		require.Equal(t, http.StatusCreated, code, answer)
		return answer
	}
	create("/api/v1/namespaces/default/services", `{"metadata":{"name":"a"},"spec":{"type":"NodePort","ports":[{"port":80,"nodePort":80}]}}`)
	pod := create("/api/v1/namespaces/default/pods", `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"a","image":"a"}]}}`)
	assert.Equal(t, []any{
		map[string]any{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 7.0},
		map[string]any{"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0.0},
	}, pod["spec"].(map[string]any)["tolerations"])
	_, endpoints := c.get(t, "/api/v1/namespaces/default/endpoints/kubernetes", "envtest", "system:masters")
	assert.Equal(t, []any{map[string]any{"ip": "203.0.113.9"}}, endpoints["subsets"].([]any)[0].(map[string]any)["addresses"])
	_, openID := c.get(t, "/.well-known/openid-configuration", "envtest", "system:masters")
	assert.Equal(t, "https://keys.example/jwks", openID["jwks_uri"])
	code, refused := c.send(t, "POST", "/api/v1/namespaces/default/pods", `{"metadata":{"name":"b"},"spec":{"containers":[{"name":"b","image":"b","securityContext":{"privileged":true}}]}}`, "envtest", "system:masters")
	assert.Equal(t, http.StatusUnprocessableEntity, code)
	assert.Equal(t, `Pod "b" is invalid: spec.containers[0].securityContext.privileged: Forbidden: disallowed by cluster policy`, refused["message"])
	assert.Contains(t, c.stop(), " kube-apiserver: flags without effect: --disabled-metrics, --v\n")
}

// A client needs a version and a cipher suite of the flags.
func TestKubeAPIServerTLS(t *testing.T) {
	c := startControlPlane(t, "--tls-min-version=VersionTLS12", "--tls-cipher-suites=TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305")
	for suite, want := range map[uint16]string{
		tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256:       "",
		tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: "",
		tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384:       "handshake failure",
	} {
		conn, err := tls.Dial("tcp", strings.TrimPrefix(c.url, "https://"), &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{suite}})
		if want != "" {
			assert.ErrorContains(t, err, want)
			continue
		}
		require.NoError(t, err, tls.CipherSuiteName(suite))
		conn.Close()
	}
}

// A signal ends watches and refuses connections, and requests in flight are answered.
func TestKubeAPIServerFinishesRequests(t *testing.T) {
	c := startControlPlane(t)
	certPEM, keyPEM, err := httptest.IssueClient("envtest", []string{"system:masters"})
	require.NoError(t, err)
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	require.NoError(t, err)
	config := &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{pair}}
	transport := &http.Transport{TLSClientConfig: config, ExpectContinueTimeout: time.Minute}
	defer transport.CloseIdleConnections()
	watch, err := (&http.Client{Transport: transport}).Get(c.url + "/api/v1/namespaces?watch=true&resourceVersion=0")
	require.NoError(t, err)
	defer watch.Body.Close()

	body, rest := io.Pipe()
	req, err := http.NewRequest(http.MethodPost, c.url+"/api/v1/namespaces", body)
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Expect", "100-continue")
	codes := make(chan int)
	go func() {
		resp, err := (&http.Client{Transport: transport}).Do(req)
		if !assert.NoError(t, err) {
			close(codes)
			return
		}
		resp.Body.Close()
		codes <- resp.StatusCode
	}()
	_, err = rest.Write([]byte(`{"metadata":`)) // returns when the server reads the body
	require.NoError(t, err)

	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.stop()
	}()
	_, err = io.Copy(io.Discard, watch.Body)
	assert.NoError(t, err)
	for {
		conn, err := net.Dial("tcp", strings.TrimPrefix(c.url, "https://"))
		if err != nil {
			break
		}
		conn.Close()
	}
	_, err = rest.Write([]byte(`{"name":"a"}}`))
	require.NoError(t, err)
	rest.Close()
	assert.Equal(t, http.StatusCreated, <-codes)
	<-ended
}

// The two writes of a DELETE of a Pod are as far apart as those of kube-apiserver.
func TestKubeAPIServerPace(t *testing.T) {
	for _, row := range []struct {
		name, flags string
		atLeast     time.Duration
	}{
		{"default", "", defaultPace},
		{"longer", "--pace 50ms", 50 * time.Millisecond},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Setenv(flagsVariable, row.flags)
			c := startControlPlane(t)
			const pods = "/api/v1/namespaces/default/pods"
			code, _ := c.send(t, "POST", pods, `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}}`, "envtest", "system:masters")
			require.Equal(t, http.StatusCreated, code)
			began := time.Now()
			code, _ = c.send(t, "DELETE", pods+"/a", "", "envtest", "system:masters")
			assert.Equal(t, http.StatusOK, code)
			assert.GreaterOrEqual(t, time.Since(began), row.atLeast)
		})
	}
}

func TestKubeAPIServerFlagsOfEnvironment(t *testing.T) {
	stories := filepath.Join(t.TempDir(), "stories")
	t.Setenv(storyVariable, stories)
	t.Setenv(flagsVariable, `--release v1.33 --manual-clock '2030-01-01T00:00:00Z'`)
	c := startControlPlane(t)
	_, version := c.get(t, "/version", "")
	assert.Equal(t, "v1.33.13", version["gitVersion"])
	c.stop()
	pages, err := filepath.Glob(filepath.Join(stories, "story-*.html"))
	require.NoError(t, err)
	require.Len(t, pages, 1)
	page, err := os.ReadFile(pages[0])
	require.NoError(t, err)
	assert.Contains(t, string(page), "<html")
}

func TestKubeAPIServerInvalidEnvironment(t *testing.T) {
	for _, tt := range []struct{ flags, err string }{
		{"--fault x", "unknown flag: --fault"},
		{"--seed '1", "unclosed quote"},
		{"now", `unexpected argument "now"`},
	} {
		t.Setenv(flagsVariable, tt.flags)
		code, _, stderr := runProgram(t, "kube-apiserver", "--etcd-servers=http://127.0.0.1:1")
		assert.Equal(t, 1, code)
		assert.Contains(t, stderr, "FAKEAPI_FLAGS: ")
		assert.Contains(t, strings.ReplaceAll(stderr, `\"`, `"`), tt.err)
	}
}

// The error is on the standard error of a test that starts the program without one, as envtest does.
func TestKubeAPIServerFailureWithoutStderr(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	program := filepath.Join(t.TempDir(), "kube-apiserver")
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, program))
	for _, redirection := range []string{"2>/dev/null", ""} {
		test := exec.CommandContext(t.Context(), shell, "-c", `(exec "$0" --etcd-servers=http://127.0.0.1:1 >/dev/null `+redirection+`); true`, program)
		test.Env = append(os.Environ(), asCommand+"=1", flagsVariable+"=--fault x")
		var stderr strings.Builder
		test.Stderr = &stderr
		require.NoError(t, test.Run())
		assert.Equal(t, 1, strings.Count(stderr.String(), "FAKEAPI_FLAGS: unknown flag: --fault"), stderr.String())
	}
}

func TestSplitWords(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string // nil for an error
	}{
		{"", []string{}},
		{"  a  b\tc\n", []string{"a", "b", "c"}},
		{`'a b' "c d"e`, []string{"a b", "c de"}},
		{`a\ b '' "x\"y" 'x\y'`, []string{"a b", "", `x"y`, `x\y`}},
		{`'a`, nil},
		{`a\`, nil},
	} {
		t.Run(tt.text, func(t *testing.T) {
			got, err := splitWords(tt.text)
			if tt.want == nil {
				assert.Error(t, err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, append([]string{}, got...))
		})
	}
}

func TestEtcd(t *testing.T) {
	addr := freeAddress(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int)
	go func() {
		ended <- programOf("etcd")(ctx, []string{
			"--listen-client-urls=http://" + addr, "--advertise-client-urls=http://" + addr, "--listen-peer-urls=http://127.0.0.1:0",
			"--data-dir=" + t.TempDir(), "--unsafe-no-fsync=true",
		}, nil, io.Discard, io.Discard)
	}()
	for path, want := range map[string]string{"/health": `"health":"true"`, "/version": `"etcdserver":"3.`, "/readyz": "ok"} {
		assert.Contains(t, getRetry(t, "http://"+addr+path), want)
	}
	cancel()
	assert.Equal(t, 0, <-ended)
}

// getRetry returns the body at a URL of a server that may still be starting.
func getRetry(t *testing.T, url string) string {
	t.Helper()
	for {
		resp, err := http.Get(url)
		if err != nil {
			require.NoError(t, t.Context().Err(), err)
			continue
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return string(body)
	}
}

func TestEtcdCommandLine(t *testing.T) {
	code, stdout, _ := runProgram(t, "etcd", "--version")
	assert.Equal(t, 0, code)
	assert.Contains(t, stdout, "etcd Version: 3.")
	code, _, stderr := runProgram(t, "etcd", "--help")
	assert.Equal(t, 0, code)
	assert.Regexp(t, `(?m)^\s*--unsafe-no-fsync\b`, stderr)
	code, _, stderr = runProgram(t, "etcd", "--foo")
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "flag provided but not defined: -foo")
}

func TestEnvtestFolders(t *testing.T) {
	dir := t.TempDir()
	fakeapi := func(args ...string) (int, string, string) {
		return runProgram(t, "fakeapi", append([]string{"envtest"}, args...)...)
	}
	code, stdout, stderr := fakeapi("env", "--dir", dir, "--version", "1.34.1")
	require.Equal(t, 0, code, stderr)
	folder := strings.TrimSuffix(strings.TrimPrefix(stdout, "export KUBEBUILDER_ASSETS='"), "'\n")
	assert.Regexp(t, `k8s/1\.34\.1-\w+-\w+$`, filepath.ToSlash(folder))
	for _, name := range []string{"kube-apiserver", "etcd", "kubectl"} {
		info, err := os.Stat(filepath.Join(folder, name))
		require.NoError(t, err)
		assert.NotZero(t, info.Mode()&0o111, "executable")
	}
	code, again, _ := fakeapi("install", "--dir", dir, "--version", "v1.34.1")
	assert.Equal(t, 0, code)
	assert.Equal(t, stdout, again)

	foreign := filepath.Join(dir, "k8s", "1.33.0-"+filepath.Base(folder)[len("1.34.1-"):])
	require.NoError(t, os.MkdirAll(foreign, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(foreign, "etcd"), nil, 0o755))
	code, _, stderr = fakeapi("install", "--dir", dir, "--version", "1.33.0")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "has binaries that fakeapi did not install")

	_, stdout, _ = fakeapi("list", "--dir", dir)
	assert.Equal(t, "setup-envtest  "+foreign+"\nfakeapi        "+folder+"\n", stdout)
	_, stdout, _ = fakeapi("cleanup", "--dir", dir)
	assert.Equal(t, "removed "+folder+"\n", stdout)
	assert.NoDirExists(t, folder)
	assert.DirExists(t, foreign)

	for version, want := range map[string]string{"<1.36": "is not a version, such as 1.36.3, nor a selector", "1.2.3": "unknown release"} {
		code, _, stderr = fakeapi("install", "--dir", dir, "--version", version)
		assert.Equal(t, 2, code)
		assert.Contains(t, stderr, want)
	}
}

func TestFolderVersion(t *testing.T) {
	newest, served := strings.TrimPrefix(release.Newest, "v"), "1.36.3"
	for _, row := range []struct{ name, selector, want string }{
		{"patch release", "1.36.1", "1.36.1"},
		{"newer patch release", "v1.36.99", "1.36.99"},
		{"minor release", "1.36", served},
		{"minor release with v", "v1.36", served},
		{"x", "1.36.x", served},
		{"asterisk", "1.36.*", served},
		{"latest download", "1.36.x!", served},
		{"tilde", "~1.36.1", served},
		{"tilde of a minor release", "~1.36", served},
		{"tilde of a newer patch release", "~1.36.99", "1.36.99"},
		{"latest", "latest", newest},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := folderVersion(row.selector)
			require.NoError(t, err)
			assert.Equal(t, row.want, got)
		})
	}
	for _, row := range []struct{ name, selector, want string }{
		{"older", "<1.36", `"<1.36" is not a version, such as 1.36.3, nor a selector, such as 1.36.x, ~1.36.1 or latest`},
		{"major release", "1", `"1" is not a version`},
		{"unknown release", "1.2.x", `unknown release "v1.2"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := folderVersion(row.selector)
			assert.ErrorContains(t, err, row.want)
		})
	}
}

func TestKubectlIsNotThisExecutable(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, linkOrCopy(self, filepath.Join(dir, "kubectl")))
	t.Setenv("PATH", dir)
	code, _, stderr := runProgram(t, "kubectl", "version")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "fakeapi has no kubectl of its own")

	other := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(other, "kubectl"), []byte("#!/bin/sh\necho \"$@\"; exit 3\n"), 0o755))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+other+string(os.PathListSeparator)+"/bin")
	code, stdout, _ := runProgram(t, "kubectl", "get", "pods")
	assert.Equal(t, 3, code)
	assert.Equal(t, "get pods\n", stdout)
}
