package manifests

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/discovery"
	httpheader "github.com/kubefake/kubefake/internal/header"
	"github.com/kubefake/kubefake/internal/route"
)

// historyBytes is the memory for old versions of objects: nobody reads them.
const historyBytes = 1 << 20

// A target is the server of a release that validates.
type target struct {
	config *Config
	srv    *fakeapi.Server
	first  *target // of an upgrade, whose store srv has; nil for itself

	base      *target            // with the state that srv updates; nil without one
	redefined map[[2]string]bool // groups and kinds whose definitions the input changes

	freshOnce sync.Once
	fresh     *target // of freshTarget
	freshErr  error

	catalog *catalog

	gatesOnce sync.Once
	gates     map[string]bool // that the release has

	mu         sync.Mutex // guards the fields below
	versions   map[string]map[string]discovery.Kind
	missing    map[string]error         // that lookup has returned, by API version and kind
	defined    map[string][]kindVersion // by the catalog, by group and kind
	namespaces map[string]bool          // that exist, or cannot be created
	assumed    map[string]bool          // namespaces that no document has
}

// newTarget starts the server of a release, "" for that of the options.
func newTarget(c *Config, release string, schemas *catalog) (*target, error) {
	options := []fakeapi.Option{fakeapi.WithInMemory(), fakeapi.WithHistory(fakeapi.History{Bytes: historyBytes}), fakeapi.WithoutControl()}
	if len(c.WebhookServices) == 0 {
		options = append(options, fakeapi.WithAPIServer(apiserver.Config{
			DisableAdmissionPlugins: []string{"MutatingAdmissionWebhook", "ValidatingAdmissionWebhook"},
		}))
	}
	for service, addr := range c.WebhookServices {
		namespace, name, ok := strings.Cut(service, "/")
		if !ok || namespace == "" || name == "" {
			return nil, fmt.Errorf("%w: the Service %q of a webhook is not namespace/name", fakeapi.ErrInvalidOption, service)
		}
		options = append(options, fakeapi.WithWebhookService(namespace, name, addr))
	}
	if c.User != nil {
		options = append(options, fakeapi.WithRBAC())
	}
	options = append(options, c.Options...)
	if release != "" {
		options = append(options, fakeapi.WithRelease(release))
	}
	srv, err := fakeapi.New(options...)
	if err != nil {
		return nil, err
	}
	t := (&target{config: c, catalog: schemas}).of(srv)
	return t, t.createDefaultAccounts()
}

// of returns a target like t with another server.
func (t *target) of(srv *fakeapi.Server) *target {
	return &target{
		config: t.config, srv: srv, catalog: t.catalog, defined: maps.Clone(t.defined),
		versions: map[string]map[string]discovery.Kind{}, missing: map[string]error{}, namespaces: map[string]bool{}, assumed: map[string]bool{}, redefined: map[[2]string]bool{},
	}
}

// createDefaultAccounts gives the namespaces of the server their ServiceAccounts.
func (t *target) createDefaultAccounts() error {
	namespaces, err := t.srv.List("namespaces.", "")
	if err != nil {
		return err
	}
	for _, n := range namespaces {
		if err := t.createDefaultAccount(n.Name()); err != nil {
			return err
		}
	}
	return nil
}

// createDefaultAccount creates the ServiceAccount that kube-controller-manager creates in every
// namespace.
func (t *target) createDefaultAccount(namespace string) error {
	if _, err := t.srv.Get("serviceaccounts.", namespace, "default"); err == nil {
		return nil
	}
	_, err := t.srv.Store(fakeapi.Object{
		"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"namespace": namespace, "name": "default"},
	})
	return err
}

// createNamespace creates a namespace unless it exists. If the name is invalid, the server answers
// that the namespace does not exist.
func (t *target) createNamespace(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.namespaces[name] {
		return
	}
	t.namespaces[name] = true
	if _, err := t.srv.Get("namespaces.", "", name); err == nil {
		return
	}
	_, err := t.srv.Store(fakeapi.Object{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}})
	if err == nil {
		t.assumed[name] = true
		_ = t.createDefaultAccount(name) // the namespace exists
	}
}

// lookup returns the resource of a kind, which the catalog may define. It fails if there is none.
func (t *target) lookup(ctx context.Context, apiVersion, kind string) (discovery.Kind, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r, ok := t.lookupLocked(ctx, apiVersion, kind)
	if ok {
		return r, nil
	}
	defined, err := t.defineOnce(ctx, apiVersion, kind)
	if err != nil {
		return r, fmt.Errorf("%w; %w", t.noMatch(ctx, apiVersion, kind), err)
	}
	if defined {
		if r, ok = t.lookupLocked(ctx, apiVersion, kind); ok {
			return r, nil
		}
	}
	return r, t.noMatch(ctx, apiVersion, kind)
}

// defineOnce is define for a target of an upgrade too: the first one defines.
func (t *target) defineOnce(ctx context.Context, apiVersion, kind string) (bool, error) {
	if t.first == nil {
		return t.define(ctx, apiVersion, kind)
	}
	if t.catalog == nil || !t.first.has(ctx, apiVersion, kind) {
		return false, nil
	}
	delete(t.versions, apiVersion)
	return true, nil
}

// has reports whether lookup finds a kind.
func (t *target) has(ctx context.Context, apiVersion, kind string) bool {
	_, err := t.lookup(ctx, apiVersion, kind)
	return err == nil
}

func (t *target) lookupLocked(ctx context.Context, apiVersion, kind string) (discovery.Kind, bool) {
	kinds, ok := t.versions[apiVersion]
	if !ok {
		kinds = t.discover(ctx, apiVersion)
		t.versions[apiVersion] = kinds
	}
	r, ok := kinds[kind]
	return r, ok
}

// forget makes the target discover the resources of definitions again.
func (t *target) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.versions)
	clear(t.missing)
}

// discover returns the kinds of a group and version.
func (t *target) discover(ctx context.Context, apiVersion string) map[string]discovery.Kind {
	r := t.send(ctx, &request{method: http.MethodGet, path: route.VersionPath(apiVersion)})
	if r.code != http.StatusOK {
		return nil
	}
	return discovery.ParseKinds(r.body.Bytes())
}

// A request is one to a server.
type request struct {
	method, path string
	query        url.Values
	contentType  string
	body         []byte
	user         *fakeapi.User // to impersonate; nil for an administrator
}

// A response is an answer of a server.
type response struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

var _ http.ResponseWriter = (*response)(nil)

func (r *response) Header() http.Header         { return r.header }
func (r *response) WriteHeader(code int)        { r.code = code }
func (r *response) Write(b []byte) (int, error) { return r.body.Write(b) }

// send serves a request in the process.
func (t *target) send(ctx context.Context, r *request) *response { return serve(ctx, t.srv, r) }

// serve has a server serve a request.
func serve(ctx context.Context, srv *fakeapi.Server, r *request) *response {
	u := &url.URL{Path: r.path, RawQuery: r.query.Encode()}
	hr := &http.Request{
		Method: r.method, URL: u, RequestURI: u.RequestURI(), Host: "localhost", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Accept": {"application/json"}, "User-Agent": {"kubectl/" + srv.Release()}},
		Body:   http.NoBody,
	}
	if r.body != nil {
		hr.Header["Content-Type"] = []string{r.contentType}
		hr.Body, hr.ContentLength = io.NopCloser(bytes.NewReader(r.body)), int64(len(r.body))
	}
	impersonate(hr.Header, r.user)
	w := &response{header: http.Header{}, code: http.StatusOK}
	srv.ServeHTTP(w, hr.WithContext(ctx))
	return w
}

// impersonate sets the headers by which a request is that of a user.
func impersonate(h http.Header, u *fakeapi.User) {
	if u == nil {
		return
	}
	h.Set("Impersonate-User", u.Name)
	if u.UID != "" {
		h.Set("Impersonate-Uid", u.UID)
	}
	h["Impersonate-Group"] = slices.Clone(u.Groups)
	for key, values := range u.Extra {
		h["Impersonate-Extra-"+url.PathEscape(key)] = values
	}
}

// A write says how an object is written.
type write struct {
	dryRun     bool
	create     bool // instead of an apply
	user       *fakeapi.User
	validation string // of fields; "" for that of the configuration
	force      bool

	keepConversion bool // of a definition, whose webhooks are not called
}

// A reply is what a server answers to an object.
type reply struct {
	Answer
	missing bool // there is no definition of the kind
	causes  []cause
	key     objectKey // zero if the object has no name yet
	path    string    // of the object in URLs, if it has a name
	text    []byte    // the stored object in JSON, with a base and in an upgrade
}

// An objectKey identifies an object in a server.
type objectKey struct{ group, kind, namespace, name string }

// A cause is one of a Status.
type cause struct {
	Reason, Message, Field string
}

// write writes an object.
func (t *target) write(ctx context.Context, o *object, w write) *reply {
	res, err := t.lookup(ctx, o.apiVersion, o.kind)
	if err != nil {
		return t.missingKind(err)
	}
	namespace := ""
	if res.Namespaced {
		namespace = t.namespaceOf(o)
		if !t.config.RequireNamespaces {
			t.createNamespace(namespace)
		}
	}
	r, err := t.requestFor(o, res, namespace, w)
	if err != nil {
		return t.refusal("BadRequest", err.Error())
	}
	out := t.replyOf(t.send(ctx, r))
	if o.name != "" {
		out.key = objectKey{o.group(), o.kind, namespace, o.name}
	}
	if r.method == http.MethodPatch {
		out.path = r.path
	}
	if out.Code < 300 && !w.dryRun {
		t.stored(ctx, o, w)
	}
	return out
}

// stored does what others do after an object is stored: a namespace gets its ServiceAccount. Without
// webhooks, the versions of a custom resource are converted without theirs.
func (t *target) stored(ctx context.Context, o *object, w write) {
	switch {
	case o.kind == "Namespace":
		_ = t.createDefaultAccount(o.name) // the namespace exists
	case t.dropsConversion(o) && !w.keepConversion:
		t.dropConversion(ctx, o)
	}
}

// dropsConversion reports whether an object is a definition whose webhook for conversions is not
// called.
func (t *target) dropsConversion(o *object) bool {
	return o.kind == "CustomResourceDefinition" && len(t.config.WebhookServices) == 0 && bytes.Contains(o.body, []byte(`"conversion"`))
}

// dropConversion makes the server convert the versions of a definition without a webhook.
func (t *target) dropConversion(ctx context.Context, o *object) {
	t.send(ctx, &request{
		method: http.MethodPatch, path: route.VersionPath(o.apiVersion) + "/customresourcedefinitions/" + o.name,
		contentType: "application/merge-patch+json", body: []byte(`{"spec": {"conversion": {"strategy": "None", "webhook": null}}}`),
	})
}

func (t *target) namespaceOf(o *object) string {
	if o.namespace != "" {
		return o.namespace
	}
	return t.config.namespace()
}

// missingKind is the reply to an object of a kind that the server does not have.
func (t *target) missingKind(err error) *reply {
	return &reply{missing: true, Answer: Answer{Release: t.srv.Release(), Message: err.Error()}}
}

// refusal is the reply to an object that cannot be sent.
func (t *target) refusal(reason, message string) *reply {
	return &reply{Answer: Answer{Release: t.srv.Release(), Code: http.StatusBadRequest, Reason: reason, Message: message}}
}

// requestFor returns the request that writes an object. It fails, as kubectl does, for one without
// a name.
func (t *target) requestFor(o *object, res discovery.Kind, namespace string, w write) (*request, error) {
	r := &request{path: resourcePath(o, res, namespace), body: o.body, user: w.user, query: url.Values{
		"fieldManager": {"kubectl"}, "fieldValidation": {cmp.Or(w.validation, t.config.fieldValidation())},
	}}
	if w.dryRun {
		r.query.Set("dryRun", "All")
	}
	if w.create || t.config.Create || o.name == "" && o.generateName != "" {
		r.method, r.contentType = http.MethodPost, "application/json"
		return r, nil
	}
	if o.name == "" {
		return nil, fmt.Errorf("resource name may not be empty")
	}
	if problem := pathProblem(o.name); problem != "" {
		return nil, fmt.Errorf("invalid resource name %q: [%s]", o.name, problem)
	}
	r.method, r.contentType = http.MethodPatch, "application/apply-patch+yaml"
	r.path += "/" + o.name
	r.query.Set("force", strconv.FormatBool(w.force))
	return r, nil
}

// resourcePath returns the path of the objects of a resource.
func resourcePath(o *object, res discovery.Kind, namespace string) string {
	path := route.VersionPath(o.apiVersion)
	if namespace != "" {
		path += "/namespaces/" + namespace
	}
	return path + "/" + res.Resource
}

// objectPath returns the path of an object.
func objectPath(o *object, res discovery.Kind, namespace string) string {
	return resourcePath(o, res, namespace) + "/" + o.name
}

// pathProblem returns why a name cannot be part of a URL, as client-go does.
func pathProblem(name string) string {
	switch {
	case name == "." || name == "..":
		return fmt.Sprintf("may not be '%s'", name)
	case strings.Contains(name, "/"):
		return "may not contain '/'"
	case strings.Contains(name, "%"):
		return "may not contain '%'"
	}
	return ""
}

// replyOf reads an answer.
func (t *target) replyOf(w *response) *reply {
	out := &reply{Answer: Answer{Release: t.srv.Release(), Code: w.code, Warnings: warningsOf(w.header)}}
	if w.code < 300 {
		if t.config.Base != "" || t.config.From != "" {
			out.text = w.body.Bytes()
		}
		if t.config.Objects {
			_ = json.Unmarshal(w.body.Bytes(), &out.Object) // the server has encoded it
		}
		return out
	}
	var st struct {
		Reason, Message string
		Details         struct{ Causes []cause }
	}
	if json.Unmarshal(w.body.Bytes(), &st) != nil {
		st.Message = strings.TrimSpace(w.body.String())
	}
	out.Reason, out.Message, out.causes = st.Reason, st.Message, st.Details.Causes
	return out
}

// warningsOf returns the texts of the Warning headers.
func warningsOf(h http.Header) (out []string) {
	for _, v := range h["Warning"] {
		out = append(out, httpheader.Warning(v))
	}
	return out
}
