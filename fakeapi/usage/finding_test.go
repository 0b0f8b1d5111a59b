//go:build go1.25

package usage_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi/usage"
)

// times repeats a request.
func times(n int, request string) string { return strings.Repeat(request+"\n", n) }

// numbered repeats a request with a number for N.
func numbered(n int, request string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(request, "N", fmt.Sprint(i)) + "\n")
	}
	return b.String()
}

// Each rule finds a client that does it, and is silent about one that does it well. The requests are
// those of the manager, and of another client after "other: "; "409: " expects that status, and
// "watch: " begins a watch that stays open, and "compact" removes the history.
func TestFindings(t *testing.T) {
	const (
		a        = "/api/v1/namespaces/shop/configmaps/a"
		services = "/api/v1/namespaces/shop/services"
		web      = "/apis/shop.example.com/v1/namespaces/shop/widgets/web"
		makeA    = "POST /api/v1/namespaces/shop/configmaps {metadata: {name: a}, data: {color: red}}\n"
		fixture  = "other: " + makeA
	)
	for _, tt := range []struct {
		rule       string
		does, well string
		text       string // of the finding
	}{
		{"stale-write",
			fixture + "GET " + a + "\nother: PATCH " + a + ` {"data": {"color": "green"}}` + "\nPATCH " + a + ` {"data": {"color": "blue"}}`,
			fixture + "other: PATCH " + a + ` {"data": {"color": "green"}}` + "\nGET " + a + "\nPATCH " + a + ` {"data": {"color": "blue"}}`,
			"patch of configmaps shop/a replaced data.color, which other had written in rN and it had not seen"},
		{"stale-write",
			fixture + "other: PATCH " + a + ` {"data": {"color": "green"}}` + "\nPUT " + a + " {metadata: {name: a}, data: {color: red}}",
			fixture + "other: PATCH " + a + ` {"data": {"color": "green"}}` + "\nPATCH " + a + ` {"data": {"shape": "round"}}`, // another field
			"update of configmaps shop/a replaced data.color, which other had written in rN and it had not seen"},
		{"owner-reference",
			watchWidgets + "POST /api/v1/namespaces/shop/configmaps {metadata: {name: b, ownerReferences: [{apiVersion: shop.example.com/v1, kind: Widget, name: web, uid: guessed}]}}",
			watchWidgets + "POST /api/v1/namespaces/shop/configmaps {metadata: {name: b, ownerReferences: [{apiVersion: shop.example.com/v1, kind: Widget, name: web, uid: UID}]}}",
			"configmaps shop/b has the owner Widget web, but no object has its UID"},
		{"owner-reference",
			watchWidgets + "POST /api/v1/namespaces/stage/configmaps {metadata: {name: b, ownerReferences: [{apiVersion: shop.example.com/v1, kind: Widget, name: web, uid: UID}]}}",
			watchWidgets + "POST /api/v1/namespaces/stage/configmaps {metadata: {name: b}}",
			"configmaps stage/b has the owner Widget web, but that one is in namespace shop"},
		{"status-ignored",
			watchWidgets + "GET " + web + "\nPUT " + web + ` {apiVersion: shop.example.com/v1, kind: Widget, metadata: {name: web, resourceVersion: "RV"}, status: {ready: true}}`,
			watchWidgets + "GET " + web + "\nPUT " + web + ` {apiVersion: shop.example.com/v1, kind: Widget, metadata: {name: web, resourceVersion: "RV"}, status: {ready: false, pods: [], count: 0, cpu: "0", wait: 0s}}`, // a typed object
			"update of widgets.shop.example.com shop/web has another status, which the server ignored"},
		{"status-ignored",
			"PATCH " + web + ` {"status": {"ready": true}}`,
			"POST " + services + " {metadata: {name: web}, spec: {type: LoadBalancer, ports: [{port: 80}]}}\nPATCH " + services + `/web/status {"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}}` +
				"\nPUT " + services + "/web {metadata: {name: web}, spec: {type: LoadBalancer, ports: [{port: 80}]}}", // from an older object
			"patch of widgets.shop.example.com shop/web has another status, which the server ignored"},
		{"expired-watch",
			"compact\n" + times(2, "GET /api/v1/pods?watch=true&resourceVersion=1"),
			"compact\nGET /api/v1/pods?watch=true&resourceVersion=1\nGET /api/v1/pods\nGET /api/v1/pods?watch=true&resourceVersion=RV&timeoutSeconds=-1",
			"watched pods again after 410, without a list"},
		{"expired-watch",
			"compact\nGET /api/v1/pods?watch=true&resourceVersion=1\n" + times(10, "GET /api/v1/namespaces/shop/secrets"),
			"compact\nGET /api/v1/pods?watch=true&resourceVersion=1\nGET /api/v1/pods?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=-1\n" + times(10, "GET /api/v1/namespaces/shop/secrets"),
			"has not watched pods again after 410, and made 10 other requests"},
		{"finalizer-late",
			fixture + "POST /api/v1/namespaces/stage/secrets {metadata: {name: a-password}}\nPATCH " + a + ` {"metadata": {"finalizers": ["shop.example.com/release"]}}`,
			fixture + "PATCH " + a + ` {"metadata": {"finalizers": ["shop.example.com/release"]}}` + "\nPOST /api/v1/namespaces/stage/secrets {metadata: {name: a-password}}",
			"has added the finalizer shop.example.com/release to configmaps shop/a after it created secrets stage/a-password"},
		{"finalizer-late", // what was there before the object is not for it
			fixture + "POST /api/v1/namespaces/stage/secrets {metadata: {name: a-password}}\nPATCH " + a + ` {"metadata": {"finalizers": ["shop.example.com/release"]}}`,
			"POST /api/v1/namespaces/stage/secrets {metadata: {name: a-password}}\n" + fixture + "PATCH " + a + ` {"metadata": {"finalizers": ["shop.example.com/release"]}}`,
			"has added the finalizer shop.example.com/release to configmaps shop/a after it created secrets stage/a-password"},
		{"finalizer-left",
			fixture + "PATCH " + a + ` {"metadata": {"finalizers": ["shop.example.com/release"]}}` + "\nother: DELETE " + a + "\n" + times(10, "GET /api/v1/namespaces/shop/secrets"),
			fixture + "PATCH " + a + ` {"metadata": {"finalizers": ["shop.example.com/release"]}}` + "\nother: DELETE " + a + "\n" + "PATCH " + a + ` {"metadata": {"finalizers": null}}` + "\n" + times(10, "GET /api/v1/namespaces/shop/secrets"),
			"has added the finalizer shop.example.com/release to configmaps shop/a, which is being deleted, and 10 other requests later it is still there"},
		{"finalizer-left", // the garbage collector removes that of a propagation policy
			"POST /api/v1/namespaces/shop/configmaps {metadata: {name: a, finalizers: [shop.example.com/release]}}\nDELETE " + a + "?propagationPolicy=Foreground\n" + times(10, "GET /api/v1/namespaces/shop/secrets"),
			makeA + "DELETE " + a + "?propagationPolicy=Foreground\n" + times(10, "GET /api/v1/namespaces/shop/secrets"),
			"has added the finalizer shop.example.com/release to configmaps shop/a, which is being deleted, and 10 other requests later it is still there"},
		{"finalizer-left", // that of another client
			"POST /api/v1/namespaces/shop/configmaps {metadata: {name: a, finalizers: [shop.example.com/release]}}\nDELETE " + a + "\n" + times(10, "GET /api/v1/namespaces/shop/secrets"),
			"other: POST /api/v1/namespaces/shop/configmaps {metadata: {name: a, finalizers: [shop.example.com/release]}}\nDELETE " + a + "\n" + times(10, "GET /api/v1/namespaces/shop/secrets"),
			"has added the finalizer shop.example.com/release to configmaps shop/a, which is being deleted, and 10 other requests later it is still there"},
		{"conflict-not-retried",
			makeA + "409: PUT " + a + ` {metadata: {name: a, resourceVersion: "1"}}` + "\n" + times(10, "GET /api/v1/namespaces/shop/secrets"),
			makeA + "409: PUT " + a + ` {metadata: {name: a, resourceVersion: "1"}}` + "\nGET " + a + "\nPUT " + a + ` {metadata: {name: a, resourceVersion: "RV"}}` + "\n" + times(10, "GET /api/v1/namespaces/shop/secrets"),
			"409 for configmaps shop/a, and 10 other requests later no further write of it"},
		{"conflict-not-retried", // the watch shows the newer version
			"GET /api/v1/namespaces/shop/configmaps?watch=true&timeoutSeconds=-1\n" + makeA + "409: PUT " + a + ` {metadata: {name: a, resourceVersion: "1"}}` + "\n" + times(10, "GET /api/v1/namespaces/shop/secrets"),
			"watch: /api/v1/namespaces/shop/configmaps\n" + makeA + "409: PUT " + a + ` {metadata: {name: a, resourceVersion: "1"}}` + "\n" + times(10, "GET /api/v1/namespaces/shop/secrets"),
			"409 for configmaps shop/a, and 10 other requests later no further write of it"},
		{"loop",
			makeA + times(6, "PATCH "+a+` {"data": {"color": "red"}}`+"\nother: PATCH "+a+` {"data": {"color": "green"}}`+"\nGET "+a),
			makeA + numbered(5, "PATCH "+a+` {"data": {"color": "N"}}`),
			"wrote configmaps shop/a 5 times: data.color green → red, against other, which writes data.color red → green"},
		{"unpaged-list",
			"other: " + strings.ReplaceAll(numbered(501, "POST /api/v1/namespaces/shop/configmaps {metadata: {name: cN}}"), "\nP", "\nother: P") + "GET /api/v1/namespaces/shop/configmaps",
			"GET /api/v1/namespaces/shop/configmaps?limit=500\nGET /api/v1/namespaces/shop/secrets",
			"listed configmaps without limit, of which there are 501"},
		{"polling-list",
			times(10, "GET /api/v1/namespaces/shop/pods?labelSelector=a%3Db"),
			times(10, "GET /api/v1/namespaces/shop/pods?resourceVersion=0\nGET /api/v1/namespaces/shop/pods?watch=true&allowWatchBookmarks=true&timeoutSeconds=-1"),
			"listed pods 10 times"},
		{"list-beside-watch",
			"watch: /api/v1/namespaces/shop/configmaps\n" + times(10, "GET /api/v1/namespaces/shop/configmaps"),
			"watch: /api/v1/namespaces/shop/configmaps\n" + times(9, "GET /api/v1/namespaces/shop/configmaps") + times(10, "GET /api/v1/namespaces/shop/configmaps?resourceVersion=0"),
			"listed configmaps 10 times at the newest version, and watches them"},
		{"list-beside-watch", // an informer lists after 410
			times(10, "GET /api/v1/pods\nGET /api/v1/pods?watch=true&resourceVersion=RV&timeoutSeconds=-1"),
			"compact\n" + times(10, "GET /api/v1/pods?watch=true&resourceVersion=1\nGET /api/v1/pods"),
			"listed pods 10 times at the newest version, and watches them"},
		{"polling-get",
			makeA + times(10, "GET "+a),
			makeA + numbered(10, "GET "+a+"\nPATCH "+a+` {"data": {"color": "N"}}`),
			"read configmaps shop/a 10 times without a write in between"},
		{"asks-at-rest",
			makeA + numbered(20, "GET /api/v1/namespaces/shop/pods?labelSelector=a%3DN"),
			numbered(20, "GET /api/v1/namespaces/shop/pods?labelSelector=a%3DN") + makeA,
			"read 20 times or more after the last change"},
		{"requests-per-change",
			"watch: /api/v1/namespaces/shop/configmaps\n" + numbered(5, "other: POST /api/v1/namespaces/shop/configmaps {metadata: {name: cN}}\n"+times(20, "GET /api/v1/namespaces/shop/pods")),
			"watch: /api/v1/namespaces/shop/configmaps\n" + numbered(100, "POST /api/v1/namespaces/shop/configmaps {metadata: {name: cN}}"),
			"made 100 requests for 5 changes of what it watches"},
		{"idle-write",
			makeA + times(3, "PATCH "+a+` {"data": {"color": "red"}}`),
			makeA + numbered(3, "PATCH "+a+` {"data": {"color": "N"}}`),
			"wrote configmaps shop/a 3 times and changed nothing"},
		{"events-flood",
			numbered(10, "POST /api/v1/namespaces/shop/events {metadata: {name: web.N}, reason: Failed, involvedObject: {kind: Widget, namespace: shop, name: web}}"),
			numbered(10, "POST /api/v1/namespaces/shop/events {metadata: {name: web.N}, reason: Failed, involvedObject: {kind: Widget, namespace: shop, name: webN}}"),
			"created 10 Events Failed for Widget shop/web"},
		{"all-namespaces",
			"other: POST /apis/shop.example.com/v1/namespaces/stage/widgets {apiVersion: shop.example.com/v1, kind: Widget, metadata: {name: far}}\n" + watchWidgets + "GET /apis/shop.example.com/v1/namespaces/shop/widgets/web",
			watchWidgets + "GET /apis/shop.example.com/v1/namespaces/shop/widgets/web",
			"reads widgets.shop.example.com of all namespaces, and asks for those of shop only; there are 1 in others"},
		{"watch-without-bookmarks",
			"GET /api/v1/pods?watch=true&timeoutSeconds=-1",
			"GET /api/v1/pods?watch=true&allowWatchBookmarks=true&timeoutSeconds=-1",
			"watched pods"},
		{"deprecated-version",
			"GET /api/v1/namespaces/shop/endpoints", "GET /apis/discovery.k8s.io/v1/namespaces/shop/endpointslices",
			"v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			for _, side := range []struct{ requests, want string }{{tt.does, tt.text}, {tt.well, ""}} {
				srv := start(t)
				manager, other := newClient(t, srv), newClient(t, srv)
				other.agent = "other/v1"
				web, err := srv.Get("widgets", "shop", "web")
				require.NoError(t, err)
				uid := web["metadata"].(map[string]any)["uid"].(string)
				version := ""
				for request := range strings.SplitSeq(strings.ReplaceAll(side.requests, "UID", uid), "\n") {
					if request = strings.ReplaceAll(strings.TrimSpace(request), "RV", version); request == "" {
						continue
					}
					want, c := 2, manager
					if rest, ok := strings.CutPrefix(request, "other: "); ok {
						request, c = rest, other
					} else if rest, ok := strings.CutPrefix(request, "409: "); ok {
						request, want = rest, 4
					} else if uri, ok := strings.CutPrefix(request, "watch: "); ok {
						c.watch(uri)
						continue
					} else if request == "compact" {
						require.NoError(t, srv.Compact(srv.Revision()))
						continue
					}
					code, body := c.do(request)
					require.Equal(t, want, code/100, "%s: %s", request, body)
					if m := versionPattern.FindStringSubmatch(body); m != nil {
						version = m[1]
					}
				}
				found := ""
				for _, f := range usage.Of(srv).Of(usage.Client{UserAgent: "manager/*"}).Findings {
					if f.Rule == tt.rule {
						found = revisionPattern.ReplaceAllString(f.Text, "rN")
					}
				}
				assert.Equal(t, side.want, found, side.requests[:min(len(side.requests), 300)])
			}
		})
	}
}

// docs/usage.md lists the rules.
func TestRulesInDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/usage.md")
	require.NoError(t, err)
	for _, r := range usage.Rules() {
		assert.Contains(t, string(page), fmt.Sprintf("| `%s` | %s | %s |\n", r.Name, r.Finds, r.Fix))
	}
}

// A file has the moments of findings, and a sum of servers does not.
func TestOrder(t *testing.T) {
	srv := start(t)
	newClient(t, srv).all(times(10, "GET /api/v1/namespaces/shop/configmaps"))
	u := usage.Of(srv)
	require.Len(t, u.Findings, 1)
	require.NotZero(t, u.Findings[0].Order)
	var file bytes.Buffer
	require.NoError(t, u.Write(&file))
	read, err := usage.Read(&file)
	require.NoError(t, err)
	assert.Equal(t, u.Findings, read.Findings)
	read.Add(u)
	assert.Zero(t, read.Findings[0].Order)
	assert.EqualValues(t, 2, read.Findings[0].Count)
}
