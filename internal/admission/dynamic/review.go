package dynamic

import (
	"errors"
	"fmt"

	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
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

func reviewKind(version string) resource.Kind {
	return resource.Kind{GroupVersion: resource.GroupVersion{Group: reviewGroup, Version: version}, Kind: "AdmissionReview"}
}

func reviewAPIVersion(version string) string { return reviewKind(version).GroupVersion.String() }

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

// parseReview parses the answer to a review of the version, as the release with a minor number does.
func parseReview(minor int, body []byte, version string) (*AdmissionReview, error) {
	var review AdmissionReview
	err := resource.DecodeReview(minor, reviewKind(version), body, &review)
	return &review, err
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
	case a.Kind == "" || a.APIVersion == "":
		gv, _ := resource.ParseGroupVersion(a.APIVersion) // DecodeReview has parsed it
		return nil, fmt.Errorf("expected webhook response of %s, got %s", reviewKind(version).Long(), resource.Kind{GroupVersion: gv, Kind: a.Kind}.Long())
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
