package server

import (
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/control"
	"github.com/kubefake/kubefake/internal/fault"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/route"
	"github.com/kubefake/kubefake/internal/status"
)

// ServeHTTP serves one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	if s.ctx.Err() != nil {
		http.Error(w, "server closed", http.StatusServiceUnavailable)
		return
	}
	r := &request{
		Route: route.Parse(hr.Method, hr.URL), server: s, http: hr, w: &response{ResponseWriter: w},
		surface: s.registry.Surface(), start: s.config.Clock.Now(), order: s.registry.Journal().Order(),
	}
	defer func() {
		r.log()
		r.count()
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
	r.w.Header().Set("Cache-Control", "no-cache, private")
	if r.meetsFaults() {
		s.faults.Serve(r.w, &fault.Request{HTTP: hr, Route: r.Route}, faultless{r})
		return
	}
	r.respond()
}

// respond answers the request as if there were no faults.
func (r *request) respond() {
	if err := r.serve(); err != nil {
		r.fail(err)
	}
}

func (r *request) serve() (err error) {
	if r.user, err = r.authenticate(); err != nil {
		return err
	}
	if err := r.impersonate(); err != nil {
		return err
	}
	if r.isControl() {
		return r.serveControl()
	}
	if err := r.authorize(); err != nil {
		return err
	}
	if !r.IsResource {
		return r.serveNonResource()
	}
	if err := r.resolve(); err != nil {
		return err
	}
	r.warnDeprecated()
	if err := r.negotiate(); err != nil {
		return err
	}
	return r.serveResource()
}

// serveResource dispatches by verb.
func (r *request) serveResource() error {
	switch {
	case r.Group == "" && r.Resource == "componentstatuses":
		return r.componentStatuses()
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
	if !r.byDefinition && (r.sub == nil || r.sub.Kind.Kind == r.typ.Kind) {
		r.warn(r.typ.Warnings...)
	}
}

// serveControl serves the control endpoint, to administrators only.
func (r *request) serveControl() error {
	if r.server.config.Auth.RBAC && !r.user.InGroup(authn.MastersGroup) {
		return authz.Forbidden(r.user, r.attributes(), "")
	}
	body, err := r.readBody()
	if err != nil {
		return err
	}
	answer, err := r.server.control.Serve(control.Request{Method: r.http.Method, Path: r.Path, Host: r.http.Host, Query: r.query(), Accept: r.http.Header.Get("Accept"), Body: body})
	if err != nil {
		return err
	}
	r.write(http.StatusOK, answer.ContentType, answer.Body)
	return nil
}

func (r *request) isControl() bool {
	return !r.server.config.NoControl && control.Serves(r.Path)
}

// log records a request whose answer has ended.
func (r *request) log() {
	e := journal.Request{
		Time:      r.start,
		Method:    r.http.Method,
		URI:       r.http.URL.RequestURI(),
		UserAgent: r.http.UserAgent(),
		Code:      r.w.code,
		Bytes:     r.w.bytes,
		Duration:  r.server.config.Clock.Now().Sub(r.start),
		Revision:  int64(r.revision),
		Panic:     r.w.panic,
	}
	if r.user != nil {
		e.User = r.user.Name
	}
	if f := r.w.failure; f != nil {
		e.Message = f.Message
		e.Unimplemented = f.Reason == "NotImplemented"
	}
	r.server.registry.Journal().RecordRequest(e, r.order)
}

// panicked answers 500 for a bug of the server, unless an answer has begun.
func (r *request) panicked(p any) {
	r.w.panic = fmt.Sprintf("%v\n%s", p, debug.Stack())
	if r.w.code != 0 {
		panic(http.ErrAbortHandler) // a part of the answer was sent
	}
	r.fail(status.Internal(fmt.Sprintf("this request caused apiserver to panic: %v", p)))
}
