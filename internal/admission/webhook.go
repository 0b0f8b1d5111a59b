package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/internal/wire"
	"sigs.k8s.io/yaml"
)

// A hook is one webhook of a configuration.
type hook struct {
	configuration, name string
	client              map[string]any // its clientConfig
	criteria            criteria
	conditions          func() *conditions
	version             string // of the reviews that it is sent
	timeout             time.Duration
	quiet               bool // a dry run has no side effects
	ignore              bool // its failures are passed over
	reinvoked           bool // it is called again where another one changed the object after it
}

// defaultTimeout is how long a webhook has that does not say.
const defaultTimeout = 10 * time.Second

// hooksOf are the webhooks of a configuration.
func hooksOf(configuration map[string]any) (hooks []*hook) {
	for m := range object.Each(configuration["webhooks"]) {
		h := &hook{
			configuration: object.String(configuration, "metadata", "name"),
			name:          object.String(m, "name"),
			client:        object.Map(m, "clientConfig"),
			criteria:      criteriaOf(m, "rules"),
			version:       spoken(object.Strings(m, "admissionReviewVersions")),
			timeout:       defaultTimeout,
			quiet:         m["sideEffects"] == "None" || m["sideEffects"] == "NoneOnDryRun",
			ignore:        m["failurePolicy"] == "Ignore",
			reinvoked:     m["reinvocationPolicy"] == "IfNeeded",
		}
		h.conditions = sync.OnceValue(func() *conditions {
			return compileConditions(m["matchConditions"], cel.OptionalVariables{Authorizer: true}, h.ignore)
		})
		if seconds, ok := object.Int(m, "timeoutSeconds"); ok {
			h.timeout = time.Duration(seconds) * time.Second
		}
		if len(h.criteria.rules) > 0 {
			hooks = append(hooks, h) // one without rules is for nothing
		}
	}
	return hooks
}

// spoken is the first version of AdmissionReview that the server speaks.
func spoken(versions []string) string {
	for _, v := range versions {
		if v == "v1" || v == "v1beta1" {
			return v
		}
	}
	return "v1"
}

// A call is that of a webhook about a request.
type call struct {
	*hook
	target
	pair
}

// call finds out whether a webhook is to be called about a request; nil if not.
func (h *hook) call(ctx context.Context, r *Attributes, s Server) (*call, error) {
	t, ok := h.criteria.matches(r, s)
	if !ok {
		return nil, nil
	}
	p, err := r.in(ctx, t)
	if err != nil {
		return nil, status.Internal(err.Error())
	}
	holds, err := h.conditions().hold(func() cel.Inputs { return r.inputs(t, p, s) })
	if err != nil {
		return nil, status.Forbidden(r.GroupResource(), r.Name, err.Error())
	}
	if !holds {
		return nil, nil
	}
	return &call{h, t, p}, nil
}

// A callError is a failure to ask a webhook.
type callError struct {
	webhook string
	reason  error
}

func (e *callError) Error() string {
	return fmt.Sprintf("failed calling webhook %q: %v", e.webhook, e.reason)
}

func (e *callError) Unwrap() error { return e.reason }

// failed is what becomes of an error of ask: nil for one that is passed over.
func (h *hook) failed(err error) error {
	var callErr *callError
	if !errors.As(err, &callErr) {
		return err
	}
	if h.ignore {
		return nil
	}
	return status.Internal(err.Error())
}

// An AdmissionResponse is what a webhook answers.
type AdmissionResponse struct {
	UID       string         `json:"uid"`
	Allowed   bool           `json:"allowed"`
	Status    *status.Status `json:"status"`
	Patch     []byte         `json:"patch"`
	PatchType *string        `json:"patchType"`
	Warnings  []string       `json:"warnings"`
}

// An AdmissionReview is what it answers as.
type AdmissionReview struct {
	APIVersion string             `json:"apiVersion"`
	Kind       string             `json:"kind"`
	Response   *AdmissionResponse `json:"response"`
}

// parse reads the answer to a review of a version, in JSON or YAML.
func parse(body []byte, version string) (*AdmissionReview, error) {
	if len(body) == 0 {
		return nil, errors.New("0-length response with status code: 200 and content type: application/json")
	}
	if !json.Valid(body) {
		converted, err := yaml.YAMLToJSON(body)
		if err != nil {
			return nil, err
		}
		body = converted
	}
	apiVersion, kind, err := wire.Identify(body)
	if err != nil {
		return nil, err
	}
	switch group, is, _ := strings.Cut(apiVersion, "/"); {
	case apiVersion == "" && kind == "": // taken for what is expected
	case group != reviewGroup || kind != "AdmissionReview" || is != "v1" && is != "v1beta1":
		return nil, fmt.Errorf("no kind %q is registered for version %q in scheme %q", kind, apiVersion, "pkg/runtime/scheme.go:111")
	case is != version:
		return nil, fmt.Errorf("converting (%s.AdmissionReview) to (%s.AdmissionReview): unknown conversion", is, version)
	}
	var review AdmissionReview
	if err := json.Unmarshal(body, &review); err != nil {
		return nil, err
	}
	return &review, nil
}

// ask calls a webhook and returns its response, which lets the request pass.
//
// Errors: *callError; a *status.Status of a webhook that does not let it pass.
func (c *call) ask(ctx context.Context, r *Attributes, s Server, mutating bool) (*AdmissionResponse, error) {
	if r.DryRun && !c.quiet {
		return nil, status.BadRequest(fmt.Sprintf("admission webhook %q does not support dry run", c.name))
	}
	uid := s.UID()
	body, err := s.Call(ctx, c.client, c.timeout, c.body(r, uid))
	if err != nil {
		return nil, &callError{c.name, fmt.Errorf("failed to call webhook: %w", err)}
	}
	review, err := parse(body, c.version)
	if err != nil {
		return nil, &callError{c.name, fmt.Errorf("failed to call webhook: %w", err)}
	}
	v, err := review.verified(c.version, uid, mutating)
	if err != nil {
		return nil, &callError{c.name, fmt.Errorf("received invalid webhook response: %w", err)}
	}
	if !v.Allowed {
		return v, denial(c.name, v.Status)
	}
	return v, nil
}

// body is the review that is sent.
func (c *call) body(r *Attributes, uid string) []byte {
	review := r.review(c.target)
	review["uid"] = uid
	for name, obj := range map[string]map[string]any{"object": c.object, "oldObject": c.old} {
		if obj == nil {
			review[name] = nil
		} else {
			review[name] = json.RawMessage(r.codec(c.target).Append(nil, obj))
		}
	}
	if r.Options == nil {
		review["options"] = nil
	}
	body, err := json.Marshal(map[string]any{"kind": "AdmissionReview", "apiVersion": reviewVersion(c.version), "request": review})
	if err != nil {
		panic("admission: a review does not encode: " + err.Error()) // unreachable: its objects were decoded
	}
	return body
}

// reviewGroup is the API group of reviews.
const reviewGroup = "admission.k8s.io"

func reviewVersion(version string) string { return reviewGroup + "/" + version }

// verified is the response of a review that has the form of its version. What
// webhooks answer in v1beta1 was never checked.
func (a *AdmissionReview) verified(version, uid string, mutating bool) (*AdmissionResponse, error) {
	v := a.Response
	switch {
	case v == nil:
		return nil, errors.New("webhook response was absent")
	case version != "v1":
		v.PatchType = nil
		return v, nil
	case v.UID != uid:
		return nil, fmt.Errorf("expected response.uid=%q, got %q", uid, v.UID)
	case a.Kind == "":
		return nil, fmt.Errorf("expected webhook response of %s, Kind=AdmissionReview, got /, Kind=", reviewVersion(version))
	case !mutating && len(v.Patch) > 0:
		return nil, errors.New("validating webhook may not return response.patch")
	case !mutating && v.PatchType != nil:
		return nil, errors.New("validating webhook may not return response.patchType")
	case len(v.Patch) > 0 && v.PatchType == nil:
		return nil, errors.New("webhook returned response.patch but not response.patchType")
	case len(v.Patch) == 0 && v.PatchType != nil:
		return nil, errors.New("webhook returned response.patchType but not response.patch")
	case v.PatchType != nil && *v.PatchType == "":
		return nil, fmt.Errorf("webhook returned invalid response.patchType of %q", *v.PatchType)
	}
	return v, nil
}

// denial is the answer to a request that a webhook denies, with what the webhook
// says.
func denial(webhook string, said *status.Status) error {
	st := &status.Status{}
	if said != nil {
		*st = *said
	}
	st.Kind, st.APIVersion = "Status", "v1"
	st.Code = max(st.Code, http.StatusBadRequest)
	if st.Status == "" || st.Status == "Success" {
		st.Status = "Failure"
	}
	by := fmt.Sprintf("admission webhook %q denied the request", webhook)
	switch {
	case st.Message != "":
		st.Message = by + ": " + st.Message
	case st.Reason != "":
		st.Message = by + ": " + st.Reason
	default:
		st.Message = by + " without explanation"
	}
	return st
}

// validate asks validating webhooks, all at once. Of several that do not let the
// request pass, the first one is told of, the warnings of all are.
func validate(ctx context.Context, hooks []*hook, r *Attributes, s Server) error {
	var calls []*call
	for _, h := range hooks {
		c, err := h.call(ctx, r, s)
		if err != nil {
			return err
		}
		if c != nil {
			calls = append(calls, c)
		}
	}
	responses, failures := make([]*AdmissionResponse, len(calls)), make([]error, len(calls))
	var asked sync.WaitGroup
	for i, c := range calls {
		asked.Go(func() { responses[i], failures[i] = c.ask(ctx, r, s, false) })
	}
	asked.Wait()
	var first error
	for i, c := range calls {
		r.addWarnings(responses[i])
		if err := c.failed(failures[i]); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// addWarnings adds the warnings of a webhook; nil has none.
func (r *Attributes) addWarnings(v *AdmissionResponse) {
	if v != nil {
		r.Warnings = append(r.Warnings, v.Warnings...)
	}
}

// mutate asks mutating webhooks, one after the other.
func mutate(ctx context.Context, hooks []*hook, r *Attributes, s Server, again *reinvocation) error {
	again.begin(r.Object)
	defer func() { again.last = r.Object }()
	for _, h := range hooks {
		c, err := h.call(ctx, r, s)
		if err != nil {
			return err
		}
		if c == nil || !again.isDue(h) {
			continue
		}
		changed, err := c.mutate(ctx, r, s)
		if changed {
			again.changed()
		}
		if h.reinvoked {
			again.invoked(h)
		}
		if err := h.failed(err); err != nil {
			return err
		}
	}
	return nil
}

// mutate asks one webhook, and reports whether it changes the object.
func (c *call) mutate(ctx context.Context, r *Attributes, s Server) (changed bool, err error) {
	v, err := c.ask(ctx, r, s, true)
	r.addWarnings(v)
	if err != nil || len(v.Patch) == 0 {
		return false, err
	}
	var operations []json.RawMessage
	if err := json.Unmarshal(v.Patch, &operations); err != nil {
		return false, &callError{c.name, fmt.Errorf("received undecodable patch in webhook response: %w", err)}
	}
	switch {
	case len(operations) == 0:
		return false, nil
	case c.object == nil:
		return false, status.Internal(fmt.Sprintf("admission webhook %q attempted to modify the object, which is not supported for this operation", c.name))
	case v.PatchType != nil && *v.PatchType != "JSONPatch":
		return false, &callError{c.name, fmt.Errorf("unsupported patch type %q", *v.PatchType)}
	}
	codec := r.codec(c.target)
	doc, err := patch.JSON(codec.Append(nil, c.object), v.Patch)
	if err != nil {
		return false, status.Internal(err.Error())
	}
	obj, _, err := codec.Decode(doc, false)
	if err == nil && !c.target.kind.Fits(obj) {
		err = fmt.Errorf("the patch makes the object one of another kind: %v %v", obj["apiVersion"], obj["kind"])
	}
	if err != nil {
		return false, status.Internal(err.Error())
	}
	obj = c.target.completed(obj)
	if validation.Equal(obj, c.object) {
		return false, nil
	}
	if err := r.replace(ctx, c.target, obj); err != nil {
		return false, status.Internal(err.Error())
	}
	return true, nil
}

// A reinvocation keeps account of who is to be asked again: who was asked before
// somebody else changed the object, if it wants that.
type reinvocation struct {
	again  bool // the second round
	needed bool // there is to be one
	before map[any]bool
	due    map[any]bool
	last   map[string]any // the object when the round ended
}

// begin begins a round. In the second one, what others have changed since the
// first one ended counts, too.
func (r *reinvocation) begin(obj map[string]any) {
	if r.again && !object.Equal(obj, r.last) {
		r.require()
	}
}

func (r *reinvocation) isDue(who any) bool { return !r.again || r.due[who] }

func (r *reinvocation) changed() {
	r.require()
	r.needed = true
}

func (r *reinvocation) require() {
	for who := range r.before {
		if r.due == nil {
			r.due = map[any]bool{}
		}
		r.due[who] = true
	}
	r.before = nil
}

func (r *reinvocation) invoked(who any) {
	if r.before == nil {
		r.before = map[any]bool{}
	}
	r.before[who] = true
}
