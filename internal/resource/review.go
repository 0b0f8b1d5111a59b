package resource

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"unicode"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/wire"
)

// reviewVersions are the versions of AdmissionReview and ConversionReview.
var reviewVersions = []string{"v1", "v1beta1"}

// IdentifyReview returns a webhook's answer to a review of the kind want as JSON, and its kind, which is
// want if it has none. The answer is JSON or YAML: a text that begins as an object of JSON is JSON.
func IdentifyReview(want Kind, answer []byte) ([]byte, Kind, error) {
	if !json.Valid(answer) && !bytes.HasPrefix(bytes.TrimLeftFunc(answer, unicode.IsSpace), []byte("{")) {
		converted, err := yaml.YAMLToJSON(answer)
		if err != nil {
			return nil, Kind{}, err
		}
		answer = converted
	}
	apiVersion, kind, err := wire.Identify(answer)
	if err != nil {
		return nil, Kind{}, err
	}
	gv, err := ParseGroupVersion(apiVersion)
	if err != nil {
		return nil, Kind{}, err
	}
	return answer, Kind{GroupVersion: gv, Kind: kind}.Or(want), nil
}

// UnlikeReview returns the error for an answer of the kind got to a review of the kind want.
func UnlikeReview(got, want Kind) error {
	return fmt.Errorf("converting (%s) to (%s): unknown conversion", goType(got), goType(want))
}

// DecodeReview decodes a webhook's answer to a review of admission or conversion, of the kind want, into
// out, as a client of the release does.
func DecodeReview(minor int, want Kind, answer []byte, out any) error {
	answer, got, err := IdentifyReview(want, answer)
	switch {
	case err != nil:
		return err
	case got == want:
	case slices.Contains(unversionedKinds, got.Kind) || got.Group == want.Group && slices.Contains(reviewVersions, got.Version) && hasKind(minor, want.Group, got.Kind):
		return UnlikeReview(got, want)
	default:
		return NotRegistered(minor, got)
	}
	t, ok := wire.ForKindIn(minor, want.Group, want.Version, want.Kind)
	if !ok {
		panic("resource: no Go type is known for " + want.Long()) // unreachable: every release has the kinds of reviews
	}
	review, _, err := t.Decode(answer, wire.DecodeOptions{})
	if err != nil {
		return err
	}
	return json.Unmarshal(t.Append(nil, review), out)
}

// hasKind reports whether a group of reviews has a kind. Its versions have the same kinds.
func hasKind(minor int, group, kind string) bool {
	_, ok := wire.ForKindIn(minor, group, "v1", kind)
	return ok
}
