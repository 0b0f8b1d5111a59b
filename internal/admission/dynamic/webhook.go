package dynamic

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/coverage"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
	client "github.com/kubefake/kubefake/internal/webhook"
)

// A webhook is one webhook of a configuration. Its expressions are compiled on
// first use.
type webhook struct {
	name          string
	configuration string // the name of the configuration
	clientConfig  map[string]any
	criteria      criteria
	conditions    func() *conditions
	version       string // of the AdmissionReviews
	timeout       time.Duration
	dryRunSafe    bool // a dry run has no side effects
	ignoreErrors  bool // failurePolicy Ignore
	reinvoke      bool // reinvocationPolicy IfNeeded
}

// defaultTimeout applies to a webhook without timeoutSeconds.
const defaultTimeout = 10 * time.Second

// compileWebhooks compiles the webhooks of a configuration, without those that
// have no rules and so match nothing.
func compileWebhooks(configuration map[string]any, profile *coverage.Profile) (all []*webhook) {
	count, i := countersOf(configuration, profile), 0
	for m := range object.Each(configuration["webhooks"]) {
		at := fmt.Sprintf("webhooks[%d].", i)
		i++
		w := &webhook{
			name: object.String(m, "name"), configuration: object.String(configuration, "metadata", "name"),
			clientConfig: object.Map(m, "clientConfig"),
			criteria:     compileCriteria(m, "rules"),
			version:      supportedVersion(object.Strings(m, "admissionReviewVersions")),
			timeout:      defaultTimeout,
			dryRunSafe:   m["sideEffects"] == "None" || m["sideEffects"] == "NoneOnDryRun",
			ignoreErrors: m["failurePolicy"] == "Ignore",
			reinvoke:     m["reinvocationPolicy"] == "IfNeeded",
		}
		w.conditions = sync.OnceValue(func() *conditions {
			return compileConditions(m, at, cel.OptionalVariables{Authorizer: true}, w.ignoreErrors, count)
		})
		if profile != nil {
			w.conditions()
		}
		if seconds, ok := object.Int(m, "timeoutSeconds"); ok {
			w.timeout = time.Duration(seconds) * time.Second
		}
		if len(w.criteria.rules) > 0 {
			all = append(all, w)
		}
	}
	return all
}

// A call is the call of a webhook for a request.
type call struct {
	*webhook
	target
	versioned
}

// match returns the call of the webhook for a request; nil if the webhook does
// not match the request.
func (w *webhook) match(ctx context.Context, r *request) (*call, error) {
	t, ok := w.criteria.match(r)
	if !ok {
		return nil, nil
	}
	objects, err := r.in(ctx, t)
	if err != nil {
		return nil, status.Internal(err.Error())
	}
	matches, err := w.conditions().match(ctx, func() cel.Inputs { return r.inputs(t, objects) })
	if err != nil {
		return nil, status.Forbidden(r.GroupResource(), r.Name, err.Error())
	}
	if !matches {
		return nil, nil
	}
	return &call{w, t, objects}, nil
}

// A callError is the failure of a call.
type callError struct {
	webhook string
	cause   error
}

func (e *callError) Error() string {
	return fmt.Sprintf("failed calling webhook %q: %v", e.webhook, e.cause)
}

func (e *callError) Unwrap() error { return e.cause }

// answer returns the answer to a request for an error of a call; nil for a
// callError that the failurePolicy ignores.
func (w *webhook) answer(err error) error {
	var callErr *callError
	if !errors.As(err, &callErr) {
		return err
	}
	if w.ignoreErrors {
		return nil
	}
	return status.Internal(err.Error())
}

// send calls the webhook and returns its response, which allows the request.
//
// Errors: *callError; *status.Status if the webhook denies the request. The
// response of a denial is returned too.
func (c *call) send(ctx context.Context, r *request, mutating bool) (*AdmissionResponse, error) {
	if r.DryRun && !c.dryRunSafe {
		return nil, status.BadRequest(fmt.Sprintf("admission webhook %q does not support dry run", c.name))
	}
	uid := r.server.UID()
	plugin := "ValidatingAdmissionWebhook"
	if mutating {
		plugin = "MutatingAdmissionWebhook"
	}
	body, err := r.server.Call(ctx, plugin, c.clientConfig, c.timeout, c.body(r, uid))
	if errors.Is(err, client.ErrCABundle) {
		return nil, &callError{c.name, fmt.Errorf("could not get REST client: %w", err)}
	}
	if err != nil {
		return nil, &callError{c.name, fmt.Errorf("failed to call webhook: %w", err)}
	}
	review, err := parseReview(r.Access.Release().Minor(), body, c.version)
	if err != nil {
		return nil, &callError{c.name, fmt.Errorf("failed to call webhook: %w", err)}
	}
	response, err := review.verify(c.version, uid, mutating)
	if err != nil {
		return nil, &callError{c.name, fmt.Errorf("received invalid webhook response: %w", err)}
	}
	if !response.Allowed {
		return response, denial(c.name, response.Status)
	}
	return response, nil
}

// body returns the encoded AdmissionReview.
func (c *call) body(r *request, uid string) []byte {
	out := r.admissionRequest(c.target)
	out["uid"] = uid
	for name, obj := range map[string]map[string]any{"object": c.object, "oldObject": c.old.SharedMembers()} {
		if obj == nil {
			out[name] = nil
		} else {
			out[name] = json.RawMessage(r.codec(c.target).Append(nil, obj))
		}
	}
	if r.Options == nil {
		out["options"] = nil
	}
	body, err := json.Marshal(map[string]any{"kind": "AdmissionReview", "apiVersion": reviewAPIVersion(c.version), "request": out})
	if err != nil {
		panic("dynamic: encode AdmissionReview: " + err.Error()) // unreachable: the objects were decoded from JSON
	}
	return body
}

// denial returns the answer to a request that a webhook denies. st is the status
// of the response; nil for none.
func denial(webhook string, st *status.Status) error {
	out := &status.Status{}
	if st != nil {
		*out = *st
	}
	out.Kind, out.APIVersion = "Status", "v1"
	out.Code = max(out.Code, http.StatusBadRequest)
	if out.Status == "" || out.Status == "Success" {
		out.Status = "Failure"
	}
	by := fmt.Sprintf("admission webhook %q denied the request", webhook)
	switch {
	case out.Message != "":
		out.Message = by + ": " + out.Message
	case out.Reason != "":
		out.Message = by + ": " + out.Reason
	default:
		out.Message = by + " without explanation"
	}
	return out
}

// validateByWebhooks calls validating webhooks concurrently, and adds the warnings of all. It
// returns the first error, in their order. kube-apiserver returns the one that comes first in
// time, which is that of a webhook that cannot be called, if there is one.
func validateByWebhooks(ctx context.Context, webhooks []*webhook, r *request) error {
	var calls []*call
	for _, w := range webhooks {
		c, err := w.match(ctx, r)
		if err != nil {
			return err
		}
		if c != nil {
			calls = append(calls, c)
		}
	}
	responses, errs := make([]*AdmissionResponse, len(calls)), make([]error, len(calls))
	var wait sync.WaitGroup
	for i, c := range calls {
		wait.Add(1)
		go func() {
			defer wait.Done()
			responses[i], errs[i] = c.send(ctx, r, false)
		}()
	}
	wait.Wait()
	var first, uncalled error
	for i, c := range calls {
		r.addNotes(c.webhook, responses[i])
		if c.failsOpen(ctx, errs[i]) {
			r.Annotate(failedOpenKey(validationKey, 0, i), c.name)
		}
		err := c.answer(errs[i])
		if err != nil && first == nil {
			first = err
		}
		if err != nil && uncalled == nil && isUncalled(errs[i], responses[i]) {
			uncalled = err
		}
	}
	return cmp.Or(uncalled, first)
}

// isUncalled reports whether the error of a webhook was known without a call.
func isUncalled(err error, response *AdmissionResponse) bool {
	var noService *client.NoServiceError
	var refusal *status.Status // that of a dry run has no response, unlike a denial
	return errors.Is(err, client.ErrCABundle) || errors.As(err, &noService) || errors.As(err, &refusal) && response == nil
}

// addNotes adds the warnings and the annotations of a webhook's response, which may be
// nil.
func (r *request) addNotes(w *webhook, response *AdmissionResponse) {
	if response == nil {
		return
	}
	r.Warnings = append(r.Warnings, response.Warnings...)
	for _, key := range slices.Sorted(maps.Keys(response.AuditAnnotations)) {
		r.Annotate(w.name+"/"+key, response.AuditAnnotations[key])
	}
}

// The keys of annotations of the audit log, before the round and the index of a webhook.
const (
	validationKey = "validating.webhook.admission.k8s.io/"
	mutationKey   = "mutation.webhook.admission.k8s.io/"
	patchKey      = "patch.webhook.admission.k8s.io/"
)

// roundKey returns the key of an annotation of a webhook in a round.
func roundKey(prefix string, round, index int) string {
	return fmt.Sprintf("%sround_%d_index_%d", prefix, round, index)
}

// failedOpenKey returns the key of the annotation of a webhook whose failure is ignored.
func failedOpenKey(prefix string, round, index int) string {
	return roundKey("failed-open."+prefix, round, index)
}

// failsOpen reports whether err is a failure that the failurePolicy ignores, and not the
// end of the request.
func (w *webhook) failsOpen(ctx context.Context, err error) bool {
	var callErr *callError
	return w.ignoreErrors && errors.As(err, &callErr) && ctx.Err() == nil
}

// annotateMutation adds the annotation of the audit log about a call that has changed the
// object or not, and about its patch if it has one.
func (c *call) annotateMutation(r *request, round, index int, changed bool, patch []byte) {
	about := struct {
		Configuration string `json:"configuration"`
		Webhook       string `json:"webhook"`
		Mutated       bool   `json:"mutated"`
	}{c.configuration, c.name, changed}
	r.annotateJSON(roundKey(mutationKey, round, index), about, false)
	if patch == nil {
		return
	}
	r.annotateJSON(roundKey(patchKey, round, index), struct {
		Configuration string          `json:"configuration"`
		Webhook       string          `json:"webhook"`
		Patch         json.RawMessage `json:"patch"`
		PatchType     string          `json:"patchType"`
	}{c.configuration, c.name, patch, "JSONPatch"}, true)
}

func (r *request) annotateJSON(key string, value any, atRequest bool) {
	if text, err := json.Marshal(value); err == nil {
		r.Annotations = append(r.Annotations, admission.Annotation{Key: key, Value: string(text), AtRequest: atRequest})
	}
}

// mutateByWebhooks calls mutating webhooks one after the other.
func mutateByWebhooks(ctx context.Context, webhooks []*webhook, r *request, round *reinvocation) error {
	round.begin(r.Object)
	defer func() { round.last = r.Object }()
	second := 0
	if round.isSecond {
		second = 1
	}
	for i, w := range webhooks {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := w.match(ctx, r)
		if err != nil {
			return err
		}
		if c == nil || !round.isDue(w) {
			continue
		}
		changed, patch, err := c.mutate(ctx, r)
		c.annotateMutation(r, second, i, changed, patch)
		if w.failsOpen(ctx, err) {
			r.Annotate(failedOpenKey(mutationKey, second, i), w.name)
		}
		if changed {
			round.changed()
		}
		if w.reinvoke {
			round.add(w)
		}
		if err := w.answer(err); err != nil {
			return err
		}
	}
	if r.unconverted != nil {
		return r.unconverted
	}
	return nil
}

// mutate calls a mutating webhook and reports whether it changed the object of
// the request. applied is the patch that was applied, nil for none.
func (c *call) mutate(ctx context.Context, r *request) (changed bool, applied []byte, err error) {
	response, err := c.send(ctx, r, true)
	r.addNotes(c.webhook, response)
	if err != nil || len(response.Patch) == 0 {
		return false, nil, err
	}
	operations, err := jsonpatch.DecodePatch(response.Patch)
	if err != nil {
		if !r.Access.Release().Has(behavior.WebhookPatchErrors) {
			return false, nil, status.Internal(err.Error())
		}
		return false, nil, &callError{c.name, fmt.Errorf("received undecodable patch in webhook response: %w", err)}
	}
	switch {
	case len(operations) == 0:
		return false, nil, nil
	case c.object == nil:
		return false, nil, status.Internal(fmt.Sprintf("admission webhook %q attempted to modify the object, which is not supported for this operation", c.name))
	case response.PatchType != nil && *response.PatchType != "JSONPatch":
		return false, nil, &callError{c.name, fmt.Errorf("unsupported patch type %q", *response.PatchType)}
	}
	codec := r.codec(c.target)
	doc, err := patch.JSON(codec.PatchDocument(codec.Append(nil, c.object), c.object), response.Patch)
	if err != nil {
		return false, nil, status.Internal(err.Error())
	}
	obj, err := codec.DecodeMutated(doc, r.Name)
	var unconverted *status.Status
	switch {
	case errors.As(err, &unconverted):
		r.unconverted = unconverted
		return true, response.Patch, nil
	case err != nil:
		return false, nil, status.Internal(err.Error())
	}
	obj, err = c.target.ConvertPatched(ctx, codec, obj, r.server.Type)
	if err != nil {
		r.unconverted = status.Unclassified(err.Error())
		return true, response.Patch, nil
	}
	changed = !validation.Equal(obj, c.object)
	if err := r.replace(ctx, c.target, c.target.setDefaults(obj)); err != nil {
		return false, nil, status.Internal(err.Error())
	}
	return changed, response.Patch, nil
}
