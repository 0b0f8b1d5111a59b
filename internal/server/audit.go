package server

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/audit"
	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/registry"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/wire"
)

// maxAudited is the length of the longest answer that the audit log has.
//
// Differs from kube-apiserver: objects in the audit log: the log omits the objects of
// answers that exceed 4 MiB. Request: GET of a list with --audit-policy-file and the level
// RequestResponse.
const maxAudited = 4 << 20

// beginAudit begins the event of a request, if the policy selects it. user is nil if
// authentication has failed. A server without an audit log does nothing. A log that must not
// lose the event refuses the request.
func (r *request) beginAudit(user *authn.User) error {
	log := r.server.config.Audit
	if log == nil {
		return nil
	}
	at := r.attributes()
	s := log.Select(user, &at)
	if s.Level == audit.None {
		return nil
	}
	e := audit.NewEvent(s, r.http, r.start)
	e.AuditID, e.Verb, e.User = r.auditID[0], r.Verb, audit.UserOf(user)
	if r.IsResource {
		e.ObjectRef = &audit.ObjectReference{
			Resource: r.Resource, Namespace: r.Namespace, Name: at.Name, APIGroup: r.Group, APIVersion: r.Version, Subresource: r.Subresource,
		}
	}
	for key, value := range r.authentication {
		e.Annotate(key, value)
	}
	if user != nil && !log.Begin(e, r.server.config.Clock.Now()) {
		return &internalError{r.http.RequestURI, errNotAudited}
	}
	r.event, r.omitManagedFields = e, s.OmitManagedFields
	switch {
	case user == nil: // the only stage is that of the answer
	case r.isLongRunning():
		r.w.started = r.auditStart
	case e.AtLeast(audit.RequestResponse):
		r.sent.captured = &bytes.Buffer{}
	}
	return nil
}

// errNotAudited is the text of kube-apiserver for a request whose event is lost.
var errNotAudited = errors.New("failed to store audit event")

// auditDecision notes the decision of the authorizer.
func (r *request) auditDecision(d authz.Decision) {
	if r.event == nil {
		return
	}
	const decision, reason = "authorization.k8s.io/decision", "authorization.k8s.io/reason"
	switch {
	case d.Allowed:
		r.event.Annotate(decision, "allow")
	case d.Err != nil:
		r.event.Annotate(reason, "internal error")
		return
	default:
		r.event.Annotate(decision, "forbid")
	}
	r.event.Annotate(reason, d.Reason)
}

// auditAdmission notes an annotation of admission.
func (r *request) auditAdmission(a admission.Annotation) {
	if r.event != nil && (!a.AtRequest || r.event.AtLeast(audit.Request)) {
		r.event.Annotate(a.Key, a.Value)
	}
	if a.AtRequest || r.clientAuditID() == "" {
		return
	}
	if r.annotations == nil {
		r.annotations = map[string]string{}
	}
	r.annotations[a.Key] = a.Value
}

// removedRelease matches the release in the warning of a deprecated version.
var removedRelease = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`unavailable in v(\d+\.\d+)\+`) })

// noteDeprecation notes in the metrics and in the audit log that the request is for a
// deprecated version.
func (r *request) noteDeprecation() {
	if !r.deprecated() {
		return
	}
	removed := ""
	if m := removedRelease().FindStringSubmatch(r.typ.Warnings[0]); m != nil && !r.byDefinition {
		removed = m[1]
	}
	r.server.deprecated.Set(deprecatedAPIs, 1, r.Group, removed, r.Resource, r.Subresource, r.Version)
	if r.event == nil {
		return
	}
	r.event.Annotate("k8s.io/deprecated", "true")
	if removed != "" {
		r.event.Annotate("k8s.io/removed-release", removed)
	}
}

// deprecated reports whether the version of the kind that the request is for is deprecated.
func (r *request) deprecated() bool {
	return len(r.typ.Warnings) > 0 && (r.byDefinition || r.sub == nil || r.sub.Kind.Kind == r.typ.Kind)
}

// auditObject notes the object of a body.
func (r *request) auditObject(obj map[string]any, c resource.Codec) {
	e := r.event
	meta := object.Map(obj, "metadata")
	if ref := e.ObjectRef; ref != nil && meta != nil {
		for name, field := range map[string]*string{"namespace": &ref.Namespace, "name": &ref.Name, "uid": &ref.UID, "resourceVersion": &ref.ResourceVersion} {
			if *field == "" {
				*field = object.String(meta, name)
			}
		}
	}
	if e.AtLeast(audit.Request) {
		encode := c.Append
		if t := c.Wire(); t != nil {
			encode = t.AppendUnstored
		}
		e.RequestObject = r.auditedJSON(encode(nil, obj))
	}
}

// auditDeleteOptions notes the options in the body of a deletion. kube-apiserver logs them in
// their internal version.
func (r *request) auditDeleteOptions(options map[string]any) {
	if r.event == nil || !r.event.AtLeast(audit.Request) {
		return
	}
	options = maps.Clone(options)
	options["kind"], options["apiVersion"] = deleteOptionsKind.Kind, deleteOptionsKind.Group+"/__internal"
	r.event.RequestObject = deleteOptionsCodec.Append(nil, options)
}

// auditPatch notes the body of a patch, as JSON.
func (r *request) auditPatch(p registry.Patch) {
	body := p.Data
	if r.event == nil || len(body) == 0 || !r.event.AtLeast(audit.Request) {
		return
	}
	var err error
	switch {
	case p.Type == patch.ApplyCBORType:
		body, err = codec.CBORToJSON(body)
	case !json.Valid(body):
		body, err = yaml.YAMLToJSON(body)
	}
	if err == nil {
		r.event.RequestObject = bytes.Clone(body)
	}
}

// auditedJSON returns an object or a list without managed fields, if the policy omits
// them.
func (r *request) auditedJSON(text []byte) json.RawMessage {
	if !json.Valid(text) {
		return nil
	}
	if !r.omitManagedFields || !bytes.Contains(text, []byte(`"managedFields"`)) {
		return bytes.Clone(text)
	}
	var obj map[string]any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&obj); err != nil {
		return nil // unreachable: the text is valid JSON
	}
	delete(object.Map(obj, "metadata"), "managedFields")
	for item := range object.Each(obj["items"]) {
		delete(object.Map(item, "metadata"), "managedFields")
	}
	out, _ := json.Marshal(obj)
	return out
}

// auditStart writes the event of a long-running request whose answer begins.
func (r *request) auditStart() {
	r.event.ResponseStatus = r.auditedStatus()
	r.auditFailure()
	r.server.config.Audit.Write(r.event, audit.ResponseStarted, r.server.config.Clock.Now())
}

// auditFailure notes the Status of a request that has failed and whose answer is not captured.
func (r *request) auditFailure() {
	if r.w.failure != nil && !r.w.unaccepted && r.event.AtLeast(audit.RequestResponse) {
		r.event.ResponseObject = bytes.TrimSpace(r.w.failure.JSON())
	}
}

// auditedStatus returns the status of the answer.
func (r *request) auditedStatus() *audit.ResponseStatus {
	if f := r.w.failure; f != nil && !r.w.unaccepted {
		return &audit.ResponseStatus{Status: f.Status, Message: f.Message, Reason: f.Reason, Details: f.Details, Code: int(f.Code)}
	}
	if r.w.code == 0 {
		return &audit.ResponseStatus{Status: "Success", Message: "Connection closed early", Code: http.StatusOK}
	}
	return &audit.ResponseStatus{Code: r.w.code}
}

// endAudit writes the last event of a request whose answer has ended.
func (r *request) endAudit(ended time.Time) {
	e, log := r.event, r.server.config.Audit
	if e == nil {
		return
	}
	if r.w.panic != "" {
		message, _, _ := strings.Cut(r.w.panic, "\n")
		e.ResponseStatus = &audit.ResponseStatus{Status: "Failure", Message: "APIServer panic'd: " + message, Reason: "InternalError", Code: http.StatusInternalServerError}
		log.Write(e, audit.Panic, ended)
		return
	}
	e.ResponseStatus = r.auditedStatus()
	if r.w.captured == nil {
		r.auditFailure()
	} else if text := r.answeredJSON(); text != nil && !r.w.unaccepted {
		e.ResponseObject = r.auditedJSON(text)
	}
	if st := r.w.answered; st != nil && r.w.code/100 == 2 { // otherwise a fault has replaced it
		e.ResponseStatus = &audit.ResponseStatus{Status: st.Status, Message: st.Message, Reason: st.Reason, Details: st.Details, Code: r.w.code}
	}
	if r.user == nil {
		log.Write(e, audit.ResponseStarted, ended)
		return
	}
	log.Write(e, audit.ResponseComplete, ended)
}

// answeredJSON returns the answer as JSON, if it is an object that is not too long.
func (r *request) answeredJSON() []byte {
	w := r.w
	if w.captured.Len() > maxAudited {
		return nil
	}
	text := w.captured.Bytes()
	if w.Header().Get("Content-Encoding") == "gzip" {
		zipped, err := gzip.NewReader(w.captured)
		if err != nil {
			return nil
		}
		text, err = io.ReadAll(io.LimitReader(zipped, maxAudited+1))
		if err != nil || len(text) > maxAudited {
			return nil
		}
	}
	mediaType, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
	switch mediaType {
	case codec.JSON.MediaType():
		if !r.IsResource && !hasKind(text) { // /version and the like, which are no API objects
			return nil
		}
		return bytes.TrimSpace(text)
	case codec.Protobuf.MediaType():
		return r.protobufToJSON(text)
	case codec.YAML.MediaType():
		converted, _ := yaml.YAMLToJSON(text)
		return converted
	case codec.CBOR.MediaType():
		converted, _ := codec.CBORToJSON(text)
		return converted
	}
	return nil
}

// hasKind reports whether a JSON text is an object with a kind.
func hasKind(text []byte) bool {
	var obj struct{ Kind string }
	return json.Unmarshal(text, &obj) == nil && obj.Kind != ""
}

// protobufToJSON returns an object in an envelope as JSON, nil if it cannot be read.
func (r *request) protobufToJSON(body []byte) []byte {
	envelope, err := wire.ParseEnvelope(body)
	if err != nil {
		return nil
	}
	minor := 0
	if r.surface != nil {
		minor = r.surface.Release().Minor()
	}
	gv, err := resource.ParseGroupVersion(envelope.APIVersion)
	if err != nil {
		return nil
	}
	t, ok := wire.ForKindIn(minor, gv.Group, gv.Version, envelope.Kind)
	if !ok {
		return nil
	}
	obj, err := t.DecodeProto(envelope.Raw)
	if err != nil {
		return nil
	}
	obj["kind"], obj["apiVersion"] = envelope.Kind, envelope.APIVersion
	return t.Append(nil, obj)
}
