package dynamic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/wire"
)

// An AdmissionReview is what a webhook returns.
type AdmissionReview struct {
	APIVersion string             `json:"apiVersion"`
	Kind       string             `json:"kind"`
	Response   *AdmissionResponse `json:"response"`
}

// An AdmissionResponse is the response in an AdmissionReview.
type AdmissionResponse struct {
	UID              string            `json:"uid"`
	Allowed          bool              `json:"allowed"`
	Status           *status.Status    `json:"status"`
	Patch            []byte            `json:"patch"`
	PatchType        *string           `json:"patchType"`
	Warnings         []string          `json:"warnings"`
	AuditAnnotations map[string]string `json:"auditAnnotations"`
}

// reviewGroup is the API group of AdmissionReview.
const reviewGroup = "admission.k8s.io"

func reviewAPIVersion(version string) string { return reviewGroup + "/" + version }

// supportedVersion returns the first version of AdmissionReview in the list that
// the server supports.
func supportedVersion(versions []string) string {
	for _, v := range versions {
		if v == "v1" || v == "v1beta1" {
			return v
		}
	}
	return "v1"
}

// parseReview parses the JSON or YAML answer to a review of the version, as the release
// with a minor number does. A text that begins as an object of JSON is JSON.
func parseReview(minor int, body []byte, version string) (*AdmissionReview, error) {
	if len(body) == 0 {
		return nil, errors.New("0-length response with status code: 200 and content type: application/json")
	}
	if !json.Valid(body) && !bytes.HasPrefix(bytes.TrimLeftFunc(body, unicode.IsSpace), []byte("{")) {
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
	switch group, got, _ := strings.Cut(apiVersion, "/"); {
	case apiVersion == "" && kind == "": // accepted
	case group != reviewGroup || kind != "AdmissionReview" || got != "v1" && got != "v1beta1":
		return nil, fmt.Errorf("no kind %q is registered for version %q in scheme %q", kind, apiVersion, resource.Scheme(minor))
	case got != version:
		return nil, fmt.Errorf("converting (%s.AdmissionReview) to (%s.AdmissionReview): unknown conversion", got, version)
	}
	var review AdmissionReview
	if err := json.Unmarshal(body, &review); err != nil {
		return nil, err
	}
	return &review, nil
}

// verify returns the response after the checks that kube-apiserver does in v1.
// It does not check responses in v1beta1.
func (a *AdmissionReview) verify(version, uid string, mutating bool) (*AdmissionResponse, error) {
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
		return nil, fmt.Errorf("expected webhook response of %s, Kind=AdmissionReview, got /, Kind=", reviewAPIVersion(version))
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
