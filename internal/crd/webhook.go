package crd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/internal/wire"
)

// webhookTimeout is the timeout of conversion webhooks.
const webhookTimeout = 30 * time.Second

// convertWebhook implements the conversion strategy Webhook. All objects that need a
// conversion are sent in one request.
func (v *version) convertWebhook(o Options) convertFunc {
	return func(ctx context.Context, objs []map[string]any) ([]map[string]any, error) {
		out := make([]map[string]any, len(objs))
		var sent []map[string]any
		for i, obj := range objs {
			switch {
			case obj["apiVersion"] == v.typ.GroupVersion.String():
				out[i] = obj
			case hasOnlyKind(obj):
				obj["apiVersion"] = v.typ.GroupVersion.String()
				out[i] = obj
			default:
				sent = append(sent, obj)
			}
		}
		if len(sent) == 0 {
			return out, nil
		}
		answer, err := v.review(ctx, o, sent)
		if err != nil {
			return nil, err
		}
		for i := range out {
			if out[i] == nil {
				out[i], answer = answer[0], answer[1:]
			}
		}
		return out, nil
	}
}

// hasOnlyKind reports whether an object has no members but kind and apiVersion: what an apply leaves
// to a manager that owns nothing.
func hasOnlyKind(obj map[string]any) bool {
	return len(obj) == 2 && obj["kind"] != nil && obj["apiVersion"] != nil
}

// review sends objects to the webhook and returns the converted objects.
func (v *version) review(ctx context.Context, o Options, sent []map[string]any) ([]map[string]any, error) {
	of := describe(sent[0])
	failed := func(err error) error { return errors.New("conversion webhook for " + of + " failed: " + err.Error()) }
	hook := v.Definition.spec.At("conversion", "webhook").SharedMembers()
	uid := o.UID()
	want, request, err := v.request(hook, uid, sent)
	if err != nil {
		return nil, err
	}
	body, err := o.Webhooks.Post(ctx, object.Map(hook, "clientConfig"), nil, webhookTimeout, request)
	if err != nil {
		return nil, failed(err)
	}
	converted, err := v.readReview(body, want, uid)
	if err != nil {
		return nil, failed(err)
	}
	if len(converted) != len(sent) {
		return nil, fmt.Errorf("conversion webhook for %s returned %d objects, expected %d", of, len(converted), len(sent))
	}
	for i, text := range converted {
		obj, err := decodeConverted(text)
		if err != nil {
			return nil, err
		}
		if err := v.checkConverted(obj, sent[i]); err != nil {
			return nil, fmt.Errorf("conversion webhook for %s returned %w", of, err)
		}
		sent[i] = obj
	}
	return sent, nil
}

// describe returns the kind of an object for error messages.
func describe(obj map[string]any) string {
	return fmt.Sprintf("%s, Kind=%s", object.String(obj, "apiVersion"), object.String(obj, "kind"))
}

// request returns a ConversionReview in the first supported version of the webhook, and its kind.
func (v *version) request(hook map[string]any, uid string, sent []map[string]any) (kind resource.Kind, review []byte, err error) {
	for _, version := range object.Strings(hook, "conversionReviewVersions") {
		if !slices.Contains(supportedReviewVersions, version) {
			continue
		}
		objects := make([]any, len(sent))
		for i, obj := range sent {
			objects[i] = obj
		}
		kind = resource.Kind{GroupVersion: resource.GroupVersion{Group: "apiextensions.k8s.io", Version: version}, Kind: "ConversionReview"}
		return kind, wire.AppendAny(nil, map[string]any{
			"kind": kind.Kind, "apiVersion": kind.GroupVersion.String(),
			"request": map[string]any{"uid": uid, "desiredAPIVersion": v.typ.GroupVersion.String(), "objects": objects},
		}), nil
	}
	return resource.Kind{}, nil, errors.New("no supported conversion review versions")
}

// A conversionReview is what a webhook returns.
type conversionReview struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Response   *struct {
		UID              string            `json:"uid"`
		ConvertedObjects []json.RawMessage `json:"convertedObjects"`
		Result           struct {
			Status  string `json:"status"`
			Message string `json:"message"`
		} `json:"result"`
	} `json:"response"`
}

// readReview returns the converted objects of a webhook's response to a review of the kind want.
func (v *version) readReview(body []byte, want resource.Kind, uid string) ([]json.RawMessage, error) {
	var review conversionReview
	if err := resource.DecodeReview(v.release.minor, want, body, &review); err != nil {
		return nil, err
	}
	checks := want.Version == "v1" // those of v1beta1 are not checked
	r := review.Response
	switch {
	case checks && (review.Kind == "" || review.APIVersion == ""):
		gv, _ := resource.ParseGroupVersion(review.APIVersion) // DecodeReview has parsed it
		return nil, fmt.Errorf("expected webhook response of %s, got %s", want.Long(), resource.Kind{GroupVersion: gv, Kind: review.Kind}.Long())
	case r == nil:
		return nil, errors.New("no response provided")
	case checks && r.UID != uid:
		return nil, fmt.Errorf("expected response.uid=%q, got %q", uid, r.UID)
	case r.Result.Status != "Success" && r.Result.Message != "":
		return nil, errors.New(r.Result.Message)
	case r.Result.Status != "Success":
		return nil, fmt.Errorf("response.result.status was '%s', not 'Success'", r.Result.Status)
	}
	return r.ConvertedObjects, nil
}

// decodeConverted decodes an object of a webhook's response. A null has no text.
func decodeConverted(text []byte) (map[string]any, error) {
	if string(text) == "null" {
		text = nil
	}
	obj, _, err := wire.DecodeUntyped(text, wire.DecodeOptions{})
	if err != nil {
		return nil, err
	}
	if _, bad := resource.ParseGroupVersion(object.String(obj, "apiVersion")); bad != nil || object.String(obj, "kind") == "" {
		err = missingKind(text)
	}
	return obj, err
}

// checkConverted checks an object that a webhook converted, and restores its metadata. A webhook can
// change only the labels and annotations of metadata.
func (v *version) checkConverted(obj, sent map[string]any) error {
	if got := object.String(obj, "apiVersion"); got != v.typ.GroupVersion.String() {
		return fmt.Errorf("invalid object at index 0: invalid groupVersion (expected %s, received %s)", v.typ.GroupVersion, got)
	}
	if got, want := object.String(obj, "kind"), object.String(sent, "kind"); got != want {
		return fmt.Errorf("invalid object at index 0: invalid kind (expected %s, received %s)", want, got)
	}
	for _, same := range []struct{ text, name string }{{"name", "name"}, {"namespace", "namespace"}, {"UID", "uid"}} {
		if was, is := object.String(sent, "metadata", same.name), object.String(obj, "metadata", same.name); was != is {
			return fmt.Errorf("invalid object: must have the same %s: %s != %s", same.text, was, is)
		}
	}
	if err := restoreMeta(obj, sent); err != nil {
		return fmt.Errorf("invalid metadata: %w", err)
	}
	return nil
}

// restoreMeta sets the metadata of the original except labels and annotations in a converted
// object.
func restoreMeta(obj, sent map[string]any) error {
	value, ok := obj["metadata"]
	if !ok {
		return errors.New("missing metadata in converted object")
	}
	converted, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("invalid metadata of type %T in converted object", value)
	}
	meta := object.Copy(object.Meta(sent))
	obj["metadata"] = meta
	for _, name := range []string{"labels", "annotations"} {
		texts, err := stringMap(converted, name)
		if err != nil {
			return err
		}
		if texts == nil {
			delete(meta, name)
			continue
		}
		if was, _ := meta[name].(map[string]any); !maps.Equal(was, texts) {
			if errs := validateStringMap(name, texts); len(errs) > 0 {
				return errors.New(errs.Message())
			}
		}
		meta[name] = texts
	}
	return nil
}

// stringMap returns a field of metadata that is a map of strings, nil if it is not set.
func stringMap(meta map[string]any, name string) (map[string]any, error) {
	if meta[name] == nil {
		return nil, nil
	}
	texts, ok := meta[name].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("invalid metadata.%s of type %T in converted object", name, meta[name])
	}
	for _, k := range slices.Sorted(maps.Keys(texts)) {
		if _, ok := texts[k].(string); !ok {
			return nil, fmt.Errorf("metadata.%s[%s] must be a string, but is %T in converted object", name, k, texts[k])
		}
	}
	return texts, nil
}

func validateStringMap(name string, texts map[string]any) validation.List {
	if name == "labels" {
		return validation.Labels(texts, metadataPath.Child("labels"))
	}
	return validation.Annotations(texts, metadataPath.Child("annotation"))
}
