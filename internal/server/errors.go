package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
)

// errNoPage is the error for paths below no API. The answer is plain text.
var errNoPage = errors.New("404 page not found")

// conversionFailed returns the Status of an object that is not converted. With the gate a
// stored one is reported as corrupt, so that it can be deleted unread.
func (r *request) conversionFailed(err *storage.ConversionError) *status.Status {
	if err.Stored == nil || !r.surface.Release().Enabled("AllowUnsafeMalformedObjectDeletion") {
		return status.Unclassified(err.Error())
	}
	switch verb := r.Verb; {
	case err.Get, verb == "get", verb == "delete", verb == "deletecollection":
		key := r.typ.EtcdKey(err.Stored.Namespace, err.Stored.Name, true)
		return status.Internal(storage.CorruptText(key, err.Stored, err))
	case verb == "create", verb == "patch", verb == "update":
		return status.Unclassified(storage.UndecodableText(err.Stored, err))
	}
	return status.Unclassified(err.Error())
}

// readFailed returns the Status of a list of objects that cannot be read.
func (r *request) readFailed(err *storage.UnreadableError) *status.Status {
	switch {
	case !r.surface.Release().Enabled("AllowUnsafeMalformedObjectDeletion"):
		return status.Unclassified(err.Objects[0].Err.Error())
	case err.Cached:
		return status.TooManyRequests(err.Error(), 1)
	}
	details := &status.Details{Group: err.Type.Group, Kind: err.Type.Name, Name: "list"}
	for i := range err.Objects {
		key, text := err.Cause(i)
		details.Causes = append(details.Causes, status.Cause{Reason: "UnexpectedServerResponse", Field: key, Message: text})
	}
	if err.Truncated() {
		details.Causes = append(details.Causes, status.Cause{Reason: "FieldValueTooMany", Message: "too many errors, the list is truncated"})
	}
	return status.Failure(http.StatusInternalServerError, "StorageReadError", err.Error(), details)
}

// asStatus returns the Status of an error. Only this function turns the errors of
// other packages into Statuses.
func (r *request) asStatus(err error) *status.Status {
	if st := mediaStatus(err); st != nil {
		return st
	}
	var (
		st       *status.Status
		tooLarge *storage.TooLargeError
		expired  *storage.ExpiredError
		version  *storage.VersionError
		token    *storage.ContinueError
		convert  *storage.ConversionError
		corrupt  *storage.UnreadableError
	)
	switch {
	case errors.As(err, &st):
		return st
	case errors.As(err, &tooLarge) && tooLarge.FromEtcd && !r.surface.Release().Has(behavior.FutureRevisions):
		return status.Unclassified("etcdserver: mvcc: required revision is a future revision")
	case errors.As(err, &tooLarge):
		retry := 0
		if tooLarge.Waited {
			retry = 1
		}
		return status.Timeout(tooLarge.Error(), retry, status.Cause{Reason: status.CauseResourceVersionTooLarge, Message: "Too large resource version"})
	case errors.As(err, &expired):
		out := status.Expired(expired.Error())
		out.Metadata.Continue = expired.Continue
		return out
	case errors.As(err, &version):
		// The error of kube-apiserver's watch cache for a version that does not
		// parse has no reason.
		if r.Verb == "watch" || !r.typ.NoWatchCache && (r.Verb == "get" || !r.surface.Release().Has(behavior.ListsRefuseVersions) && r.readsCache()) {
			return status.Unclassified(version.Error())
		}
		return status.BadRequest("invalid resource version: " + version.Error())
	case errors.As(err, &corrupt):
		return r.readFailed(corrupt)
	case errors.As(err, &convert):
		return r.conversionFailed(convert)
	case errors.As(err, &token):
		return status.BadRequest(token.Error())
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return status.Timeout("request did not complete within the allotted timeout", 0)
	}
	return status.Internal(err.Error())
}

// readsCache reports whether releases before v1.33 answer a list with a resourceVersion
// from their watch cache.
func (r *request) readsCache() bool {
	q := r.query()
	limit, _ := strconv.Atoi(q.Get("limit"))
	return r.Verb == "list" && limit == 0 && q.Get("continue") == "" && storage.VersionMatch(q.Get("resourceVersionMatch")) != storage.MatchExact
}

// failMalformed answers a request whose path has no resource where it needs one.
func (r *request) failMalformed() {
	h := r.w.Header()
	h.Del("Cache-Control")
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	r.w.WriteHeader(http.StatusInternalServerError)
	fmt.Fprintf(r.w, "Internal Server Error: %q: failed to create RequestInfo: unable to determine kind and namespace from url, %v\n", r.http.RequestURI, r.http.URL)
}

// fail writes an error as the answer.
func (r *request) fail(err error) {
	if errors.Is(err, errTooManyRequests) {
		r.failTooManyRequests()
		return
	}
	h := r.w.Header()
	if errors.Is(err, errNoPage) {
		h.Set("Content-Type", "text/plain; charset=utf-8")
		h.Set("X-Content-Type-Options", "nosniff")
		r.w.WriteHeader(http.StatusNotFound)
		fmt.Fprintln(r.w, errNoPage.Error())
		return
	}
	var internal *internalError
	if errors.As(err, &internal) {
		http.Error(r.w, internal.Error(), http.StatusInternalServerError)
		return
	}
	st := r.asStatus(err)
	r.w.failure = st
	if st.Details != nil && st.Details.RetryAfterSeconds > 0 {
		h.Set("Retry-After", strconv.Itoa(st.Details.RetryAfterSeconds))
	}
	out, accepted := r.offer().NegotiateError(r.http)
	r.w.unaccepted = !accepted
	doc := st.JSON()
	if out.Format != codec.JSON || out.Pretty {
		doc = encode(out, doc, metaType("Status"))
	}
	r.write(int(st.Code), out.ContentType(), doc)
}

// An internalError is the failure of an authorizer, which is answered as text.
type internalError struct {
	uri string
	err error
}

// escapeHTML escapes what a client or an authorizer sent, as kube-apiserver does.
var escapeHTML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func (e *internalError) Error() string {
	return escapeHTML.Replace(fmt.Sprintf("Internal Server Error: %q: %v", e.uri, e.err))
}
