package server

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/audit"
	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authn/impersonation"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/control"
	"github.com/kubefake/kubefake/internal/crossorigin"
	"github.com/kubefake/kubefake/internal/csp"
	"github.com/kubefake/kubefake/internal/fault"
	"github.com/kubefake/kubefake/internal/header"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/route"
	"github.com/kubefake/kubefake/internal/selector"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
)

// ServeHTTP serves one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	if s.ctx.Err() != nil {
		http.Error(w, "server closed", http.StatusServiceUnavailable)
		return
	}
	wall := time.Now()
	r := &request{
		Route: route.Parse(hr.Method, hr.URL), server: s, http: hr, userAgent: header.Get(hr.Header, "User-Agent"),
		sent:    response{ResponseWriter: w},
		surface: s.replica.Surface(), start: s.config.Clock.NowAt(wall), order: s.cluster.Journal().Order(),
	}
	r.w = &r.sent
	r.remote = s.aggregator.Lookup(r.Path)
	if !r.isLongRunning() {
		s.activity.Begin(&r.call, hr, wall)
	}
	defer func() {
		wall := time.Now()
		s.activity.End(&r.call, wall, r.activityAnswer())
		ended := s.config.Clock.NowAt(wall)
		r.log(ended)
		r.count(ended)
		r.endUsage()
		r.endAudit(ended)
	}()
	defer func() {
		switch p := recover(); p {
		case nil:
		case http.ErrAbortHandler:
			panic(p)
		default:
			r.panicked(p)
		}
	}()
	r.setHeaders()
	if r.Malformed {
		r.failMalformed()
		return
	}
	if err := crossorigin.Check(hr, s.config.Hosts, s.config.Origins); err != nil {
		r.fail(crossorigin.Forbidden(err))
		return
	}
	defer r.webSocket()()
	if r.meetsFaults() {
		s.faults.Serve(r.w, &fault.Request{HTTP: r.http, Route: r.Route}, backend{r})
		return
	}
	r.respond()
}

// respond answers the request as if there were no faults.
func (r *request) respond() {
	defer r.deadline.release()
	switch err := r.serve(); {
	case err == nil:
	case r.timedOut():
		r.failTimeout()
	default:
		r.fail(err)
	}
}

func (r *request) serve() (err error) {
	if err = r.setDeadline(); err == nil {
		if r.admitPage() {
			r.w.WriteHeader(http.StatusNoContent)
			return nil
		}
		r.user, err = r.authenticate()
	}
	if err != nil {
		_ = r.beginAudit(nil)
		return err
	}
	if err := r.beginAudit(r.user); err != nil {
		return err
	}
	if err := r.impersonate(); err != nil {
		return r.withNoSniff(err)
	}
	r.classify()
	leave, err := r.enter()
	if err != nil {
		return err
	}
	defer leave()
	if err := r.authorize(); err != nil {
		return r.withNoSniff(err)
	}
	if r.isControl() {
		return r.serveControl()
	}
	if r.remote != nil {
		return r.forward()
	}
	if !r.IsResource {
		return r.serveNonResource()
	}
	if err := r.resolve(); err != nil {
		return err
	}
	if err := r.negotiate(); err != nil {
		return err
	}
	return r.serveResource()
}

// admitPage lets a web page of an allowed origin read the answer. It reports whether the answer has
// nothing else: the request asks what the page may do.
func (r *request) admitPage() (preflight bool) {
	if !r.server.config.Origins.Allows(r.http) {
		return false
	}
	crossorigin.SetHeaders(r.w.Header(), r.http)
	return r.http.Method == http.MethodOptions
}

// authenticate returns the user of the request's credentials.
func (r *request) authenticate() (*authn.User, error) {
	return r.server.cluster.Authenticator().Authenticate(r.ctx(), r.http, r)
}

// authorize fails with 403 if the user may not make the request.
func (r *request) authorize() error {
	r.recordUsage()
	a := r.server.cluster.Authorizer()
	if a.AllowsAll(r.user) {
		r.auditDecision(authz.Decision{Allowed: true})
		return nil
	}
	at := r.attributes()
	d := a.Authorize(r.ctx(), r.user, &at)
	r.auditDecision(d)
	switch {
	case d.Allowed:
		return nil
	case d.Err != nil:
		return &internalError{r.http.URL.RequestURI(), d.Err}
	}
	return authz.Forbidden(r.user, at, d.Reason)
}

// unnamedUser returns the error of an impersonation without a user name.
func (r *request) unnamedUser(err *impersonation.UnnamedError) error {
	p := r.surface.Release()
	switch {
	case p.Enabled("ConstrainedImpersonation"):
		return status.BadRequest(err.Error())
	case !p.Has(behavior.ImpersonationBadRequests):
		return &internalError{r.http.URL.RequestURI(), errors.New(err.Unconstrained())}
	}
	return status.BadRequest(err.Unconstrained())
}

// impersonate replaces the request's user by the one that the Impersonate-*
// headers name. It fails if they name one that the user may not impersonate.
func (r *request) impersonate() error {
	requested, err := impersonation.Requested(r.http.Header)
	switch {
	case err != nil:
		var unnamed *impersonation.UnnamedError
		if errors.As(err, &unnamed) {
			return r.unnamedUser(unnamed)
		}
		return err
	case requested == nil:
		return nil
	}
	r.recordImpersonation(requested)
	user, constraint, err := r.server.impersonations.Load().Authorize(r.ctx(), r.server.cluster.Authorizer(), requested, r.user, r.attributes())
	if err != nil {
		return err
	}
	r.user, r.impersonator = user, r.user
	if r.event != nil {
		as := audit.UserOf(user)
		r.event.ImpersonatedUser = &as
		if constraint != "" {
			r.event.AuthenticationMetadata = &audit.AuthenticationMetadata{ImpersonationConstraint: constraint}
		}
	}
	return nil
}

// attributes returns the attributes that authorize the request. A list or watch
// with a field selector on metadata.name has that name.
func (r *request) attributes() authz.Attributes {
	if !r.IsResource {
		return authz.Attributes{Verb: r.Verb, Path: r.Path}
	}
	at := authz.Attributes{
		Verb: r.Verb, IsResource: true, Path: r.Path,
		Group: r.Group, Version: r.Version, Resource: r.Resource, Subresource: r.Subresource, Namespace: r.Namespace, Name: r.Name,
	}
	if !r.LegacyWatch && (r.Verb == "list" || r.Verb == "watch" || r.Verb == "deletecollection") {
		query := r.query()
		at.FieldSelector.Raw, at.LabelSelector.Raw = query.Get("fieldSelector"), query.Get("labelSelector")
	}
	if at.Name == "" && (r.Verb == "list" || r.Verb == "watch") {
		if fields, err := selector.ParseFields(r.query().Get("fieldSelector")); err == nil {
			if name, ok := fields.RequiresExactMatch("metadata.name"); ok && len(validation.PathSegmentName(name, false)) == 0 {
				at.Name = name
			}
		}
	}
	return at
}

// resolve finds the type and the subresource that the path names, and checks that
// the method is routed there.
func (r *request) resolve() error {
	typ := r.surface.Builtin().Lookup(r.Group, r.Version, r.Resource)
	switch {
	case typ == nil && r.isDynamic():
		return r.resolveDynamic()
	case typ == nil && r.Group != "" && !r.surface.ServesGroup(r.Group):
		return errNoPage
	case typ == nil && !r.surface.ServesVersion(resource.GroupVersion{Group: r.Group, Version: r.Version}):
		return status.NoResource()
	case r.Group == "" && strings.HasPrefix(r.Path, "/apis/"):
		return errNoPage
	}
	r.typ = typ
	if r.typ == nil || !r.inScope() || r.Verb == "proxy" || r.LegacyWatch && r.Subresource != "" || r.Rest != "" && r.Subresource != "proxy" {
		return status.NoResource()
	}
	head := r.http.Method == http.MethodHead
	connects := r.Subresource == "proxy" && (head || r.http.Method == http.MethodOptions)
	if r.typ.Virtual() && r.Name != "" && r.Subresource == "" && !r.typ.Allows("get") {
		return status.NoResource() // virtual types have no names
	}
	if r.Subresource != "" {
		if r.sub = r.typ.Subresource(r.Subresource); r.sub == nil {
			return status.NoResource()
		}
		verb := r.Verb
		if v, ok := nameless[verb]; ok && r.Name == "" {
			verb = v
		}
		if !connects && (head || !slices.Contains(r.sub.Verbs, verb)) {
			return status.MethodNotAllowed()
		}
		return r.checkNamespace()
	}
	if head {
		return status.MethodNotAllowed()
	}
	if r.LegacyWatch && !r.typ.Allows("watch") {
		return status.NoResource()
	}
	listed := r.Verb == "watch" && !r.typ.Allows("watch") && r.typ.Allows("list") // by the route of lists
	if !r.routed() && !listed {
		return status.MethodNotAllowed()
	}
	return r.checkNamespace()
}

// nameless has the verbs of paths without a name, with those of the routes that serve the subresources
// at such paths.
var nameless = map[string]string{"list": "get", "watch": "get", "deletecollection": "delete"}

// checkNamespace fails for an object, or a deletion of a collection, in an empty namespace.
func (r *request) checkNamespace() error {
	if r.inEmptyNamespace() && (r.Name != "" || r.Verb == "deletecollection") {
		return resource.NamespaceRequired()
	}
	return nil
}

// inEmptyNamespace reports whether the path is that of a namespace without a name. Its lists
// are those of all namespaces.
func (r *request) inEmptyNamespace() bool {
	return r.typ.Namespaced && r.InNamespace && r.Namespace == ""
}

// isDynamic reports whether the path, at which the release has no type, is served by
// definitions.
func (r *request) isDynamic() bool {
	own := r.surface.Builtin()
	if !own.ServesGroup(r.Group) {
		return r.surface.ServesGroup(r.Group)
	}
	gv := resource.GroupVersion{Group: r.Group, Version: r.Version}
	return !own.ServesVersion(gv) && r.surface.ServesVersion(gv) || r.surface.Lookup(r.Group, r.Version, r.Resource) != nil
}

// resolveDynamic does what resolve does for custom resources.
func (r *request) resolveDynamic() error {
	r.byDefinition = true
	r.typ = r.surface.Lookup(r.Group, r.Version, r.Resource)
	if r.typ == nil {
		return errNoPage
	}
	across := r.Namespace == "" && r.Verb != "list" && r.Verb != "watch"
	if !r.typ.Namespaced && r.Namespace != "" || r.typ.Namespaced && across {
		return errNoPage
	}
	r.warn(r.typ.Warnings...)
	if r.Subresource == "" {
		if !slices.Contains(dynamicVerbs, r.Verb) {
			return status.MethodNotSupported(r.groupResource(), r.Verb)
		}
		return nil
	}
	if r.sub = r.typ.Subresource(r.Subresource); r.sub == nil {
		return status.NotFound(r.groupResource(), r.Name)
	}
	if !slices.Contains(r.sub.Verbs, r.Verb) {
		return status.MethodNotSupported(r.groupResource(), r.Verb)
	}
	return nil
}

// dynamicVerbs are the verbs of every custom resource.
var dynamicVerbs = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}

// inScope reports whether the path fits the scope of the type. A path without a
// namespace lists and watches a namespaced type across namespaces.
func (r *request) inScope() bool {
	if r.typ.Namespaced {
		return r.Namespace != "" || r.Name == "" && (r.Verb != "create" || !r.typ.Virtual()) || r.InNamespace && !r.LegacyWatch
	}
	return !r.InNamespace
}

// routed reports whether the path, which names no subresource, takes the method.
func (r *request) routed() bool {
	if !r.typ.Allows(r.Verb) || r.LegacyWatch && r.http.Method != http.MethodGet {
		return false
	}
	across := r.typ.Namespaced && r.Namespace == ""
	switch r.Verb {
	case "list", "watch":
		return true
	case "create":
		return r.Name == "" && !across
	case "deletecollection":
		return r.Name == "" && (!across || r.InNamespace)
	}
	return r.Name != ""
}

// offer returns the media types that the request's resource supports.
func (r *request) offer() codec.Offer {
	o := codec.Offer{CBOR: r.surface.Release().Enabled("CBORServingAndStorage")}
	if r.typ != nil {
		o.Custom = r.byDefinition
		o.List = r.Verb == "list" || r.Verb == "watch"
		o.Text = r.Subresource == "log"
		o.NoTables = !r.showsTables()
	}
	return o
}

// showsTables reports whether the storage that kube-apiserver has for the resource and
// subresource implements rest.TableConvertor.
func (r *request) showsTables() bool {
	switch r.Subresource {
	case "":
		return !r.typ.Virtual() || r.typ.Allows("list")
	case "scale":
		return true
	case "status":
		switch r.typ.Group + "/" + r.typ.Name {
		case "apiextensions.k8s.io/customresourcedefinitions", "apiregistration.k8s.io/apiservices",
			"resource.k8s.io/devicetaintrules", "resource.k8s.io/resourceclaims", "resource.k8s.io/resourcepoolstatusrequests",
			"scheduling.k8s.io/compositepodgroups", "scheduling.k8s.io/podgroups":
			return false
		}
		return true
	}
	return false
}

// negotiate sets the media type of the answer and the representation of its
// objects. A connection answers in any media type. Requests that the route refuses get
// no warning.
func (r *request) negotiate() (err error) {
	if r.connection() == nil || r.Subresource == "log" {
		if r.Verb == "patch" {
			if err := r.checkPatchType(); err != nil {
				return err
			}
		}
		r.out, err = r.offer().Negotiate(r.http)
		if refused, ok := err.(*codec.NotAcceptableError); ok && refused.Route {
			return r.unrouted(refused)
		}
		if r.sub == nil && (r.Verb == "list" || r.Verb == "watch") {
			r.out, err = r.negotiateCollection(r.out, err)
		}
	}
	r.warnDeprecated()
	r.noteDeprecation()
	if err == nil && r.sub != nil && r.Name == "" && !r.byDefinition {
		return status.BadRequest("name must be provided")
	}
	return err
}

// unrouted is the error for an Accept header that no route of the method fits.
func (r *request) unrouted(refused *codec.NotAcceptableError) error {
	switch r.http.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch:
		refused.NoBody = !r.surface.Release().Has(behavior.StrictRoutes) && header.Get(r.http.Header, "Content-Length") == ""
	}
	return refused
}

// negotiateCollection corrects out and err, the result of the negotiation for a list or watch, for
// older releases, which check the options before.
func (r *request) negotiateCollection(out codec.Response, err error) (codec.Response, error) {
	p := r.surface.Release()
	if p.Has(behavior.NegotiatesBeforeOptions) || err == nil && (out.View != codec.Table || p.Has(behavior.StreamsTables)) {
		return out, err
	}
	o, optionsErr := r.readListOptions()
	switch {
	case optionsErr != nil:
		return out, optionsErr
	case p.Has(behavior.StreamsTables) || !p.Enabled("WatchList") || !o.streamsList() || !o.bookmarks:
		return out, err
	}
	offer := r.offer()
	offer.NoTables = true
	objects, refused := offer.Negotiate(r.http)
	if refused == nil && err == nil {
		objects.Format, objects.Pretty = out.Format, out.Pretty // of the stream
	}
	return objects, refused
}

// bodyFormat returns the format of the body.
func (r *request) bodyFormat() (codec.Format, error) {
	return r.offer().Body(header.Get(r.http.Header, "Content-Type"))
}

// serveResource dispatches by verb.
func (r *request) serveResource() error {
	switch {
	case r.Group == "" && r.Resource == "componentstatuses":
		return r.componentStatuses()
	case r.Verb == "watch" && !r.typ.Allows("watch"):
		return status.MethodNotSupported(r.groupResource(), "watch")
	case !r.typ.Virtual() && r.typ.Stored != r.typ.GroupVersion && r.typ.Versions == nil:
		return status.NotImplemented(fmt.Sprintf("conversion of %s between %s and %s", r.Resource, r.typ.Stored, r.typ.GroupVersion))
	}
	if connect := r.connection(); connect != nil {
		if err := r.admitConnection(); err != nil {
			return err
		}
		return connect(r)
	}
	switch r.Verb {
	case "get":
		return r.get()
	case "list":
		return r.list()
	case "watch":
		return r.watch()
	case "create":
		return r.create()
	case "update":
		return r.update()
	case "patch":
		return r.patch()
	case "delete":
		return r.delete()
	case "deletecollection":
		return r.deleteCollection()
	}
	return status.MethodNotAllowed()
}

// warnDeprecated warns a client that the version it asks for is deprecated. For
// custom resources resolveDynamic has done so.
func (r *request) warnDeprecated() {
	if !r.byDefinition && r.deprecated() {
		r.warn(r.typ.Warnings...)
	}
}

// serveControl serves the control endpoint. authorize has checked the user, as for
// every path that is no resource. Without RBAC it permits everything, but a request
// without credentials still fails where there are users.
func (r *request) serveControl() error {
	if r.user.Name == authn.AnonymousUser {
		return authz.Forbidden(r.user, r.attributes(), "the control endpoint needs the token of a user")
	}
	body, err := r.readBody()
	if err != nil {
		return err
	}
	answer, err := r.server.control.Serve(control.Request{
		Context: r.http.Context(), Method: r.http.Method, Path: r.Path, Host: r.http.Host, BaseURL: r.baseURL(), Query: r.query(), Accept: header.Get(r.http.Header, "Accept"),
		ContentType: header.Get(r.http.Header, "Content-Type"), LastEventID: header.Get(r.http.Header, "Last-Event-Id"), Body: body,
	})
	if err != nil {
		return err
	}
	if answer.Policy != "" {
		csp.SetHeaders(r.w.Header(), answer.Policy)
	}
	if answer.Stream != nil {
		r.streamEvents(answer)
		return nil
	}
	r.write(http.StatusOK, answer.ContentType, answer.Body)
	return nil
}

// streamEvents sends an answer of the control endpoint that has no end of its own.
func (r *request) streamEvents(answer control.Answer) {
	setContentType(r.w.Header(), answer.ContentType)
	r.w.Header().Set("Cache-Control", "no-store")
	r.w.WriteHeader(http.StatusOK)
	err := answer.Stream(func(b []byte) error {
		if _, err := r.w.Write(b); err != nil {
			return err
		}
		return r.w.flush()
	})
	if err != nil {
		panic(http.ErrAbortHandler) // the client has left
	}
}

// baseURL returns the URL of the server as the client knows it.
func (r *request) baseURL() string {
	if r.http.TLS != nil {
		return "https://" + r.http.Host
	}
	return "http://" + r.http.Host
}

func (r *request) isControl() bool {
	return !r.server.config.NoControl && control.Serves(r.Path)
}

// log records a request whose answer has ended.
func (r *request) log(ended time.Time) {
	e := journal.Request{
		Time:      r.start,
		Method:    r.http.Method,
		URI:       r.http.URL.RequestURI(),
		Apply:     r.isApply(),
		UserAgent: r.userAgent,
		Code:      r.w.code,
		Bytes:     r.w.bytes,
		Duration:  ended.Sub(r.start),
		Revision:  int64(r.revision),
		Panic:     r.w.panic,

		StatusIgnored: r.statusIgnored,

		AuditID:     r.clientAuditID(),
		Annotations: r.annotations,
	}
	if r.user != nil {
		e.User = r.user.Name
	}
	if f := r.w.failure; f != nil {
		e.Message = f.Message
		e.Unimplemented = f.Reason == "NotImplemented"
	}
	r.server.cluster.Journal().RecordRequest(e, r.order)
}

// panicked answers 500 for a bug of the server, unless an answer has begun.
func (r *request) panicked(p any) {
	r.w.panic = fmt.Sprintf("%v\n%s", p, debug.Stack())
	if r.w.code != 0 {
		panic(http.ErrAbortHandler) // a part of the answer was sent
	}
	r.fail(status.Internal(fmt.Sprintf("this request caused apiserver to panic: %v", p)))
}
