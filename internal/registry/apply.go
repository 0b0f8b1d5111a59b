package registry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/fieldmanager"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/wire"
)

// applied returns the update that merges an applied configuration. Each call parses the
// configuration: an attempt changes the values that the result has from it.
//
// See https://kubernetes.io/docs/reference/using-api/server-side-apply/.
func (op *operation) applied(p Patch) func(current *storage.Decoded) (*candidate, error) {
	return func(current *storage.Decoded) (*candidate, error) {
		config, err := parseConfiguration(p)
		if err != nil {
			return nil, op.decodingFailed(p, err)
		}
		old := op.viewOrNil(current)
		obj, err := op.fieldManagers().Apply(old, config.members, op.fieldOptions())
		if err != nil {
			if ended := op.ended(); ended != nil {
				return nil, ended
			}
			return nil, applyFailed(err)
		}
		if config.yaml != nil {
			if err := op.checkDuplicates(config.yaml); err != nil {
				return nil, err
			}
		}
		if uid := object.String(obj, "metadata", "uid"); current == nil && uid != "" {
			return nil, status.Conflict(op.groupResource(), op.Name, fmt.Sprintf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
		}
		c := &candidate{object: obj, textLen: len(p.Data), unpruned: op.Type.WithoutUnknown != nil}
		op.setKind(obj)
		if op.roundTrips() {
			op.roundTripApplied(c, old)
		}
		c.rawMetadata = op.Subresource == "" && op.hasRawMetadata(config.members, obj)
		if c.rawMetadata && op.Type.HasConversionWebhook {
			c.nullTexts = nullTexts(object.Map(config.members, "metadata"))
		}
		return c, op.checkNameAndNamespace(c.meta())
	}
}

// hasRawMetadata reports whether a configuration has metadata of a custom resource that is not read
// as it is written, and result, the object with it, has not got it from elsewhere: nulls, empty maps
// and lists, invalid times. kube-apiserver does not decode the result of an apply. The same apply
// changes the object each time.
func (op *operation) hasRawMetadata(config, result map[string]any) bool {
	if op.Type.Codec.Wire() != nil {
		return false
	}
	given, has := object.Map(config, "metadata"), object.Meta(result)
	return slices.ContainsFunc(clientMetadata, func(name string) bool {
		v, ok := given[name]
		return ok && (has[name] == nil || !object.IsEmpty(v) && !wire.ObjectMeta().IsCanonical(map[string]any{name: v}, nil))
	})
}

// nullTexts returns the paths in metadata of the labels and annotations that are null.
func nullTexts(meta map[string]any) (paths [][]string) {
	for _, field := range []string{"labels", "annotations"} {
		for name, v := range object.Map(meta, field) {
			if v == nil {
				paths = append(paths, []string{field, name})
			}
		}
	}
	return paths
}

// withNullTexts returns obj with null for the labels and annotations that an apply has set to null
// and that are "" in obj: kube-apiserver does not decode the result of an apply before a webhook
// converts it.
func withNullTexts(obj map[string]any, paths [][]string) map[string]any {
	if len(paths) == 0 {
		return obj
	}
	obj = object.Copy(obj)
	for _, path := range paths {
		if texts := object.Map(obj, "metadata", path[0]); texts[path[1]] == "" {
			texts[path[1]] = nil
		}
	}
	return obj
}

// clientMetadata are the fields of metadata that the server does not set in each object.
var clientMetadata = []string{
	"annotations", "deletionGracePeriodSeconds", "deletionTimestamp", "finalizers", "generateName", "labels", "ownerReferences",
}

// decodingFailed returns the Status of an error of parseConfiguration. Since v1.37 kube-apiserver
// converts YAML to JSON for the audit log before it decodes the body.
func (op *operation) decodingFailed(p Patch, err error) error {
	isJSON := bytes.HasPrefix(bytes.TrimLeft(p.Data, " \t\r\n"), []byte("{"))
	if text, ok := strings.CutPrefix(err.Error(), yamlError); ok && !isJSON && op.api().Release.Has(behavior.AppliedYAMLForAudit) {
		return status.BadRequest("error encoding patch: " + text)
	}
	return status.BadRequest("error decoding " + op.patchName() + ": " + err.Error())
}

// yamlError begins the errors of documents that are no YAML.
const yamlError = "error converting YAML to JSON: "

// patchName is what errors call the body of an apply.
func (op *operation) patchName() string {
	if !op.api().Release.Has(behavior.AppliesPatches) {
		return "YAML"
	}
	return "patch"
}

// A configuration is the body of an apply. yaml is its text unless it was read as
// plain JSON.
type configuration struct {
	members map[string]any
	yaml    []byte
}

func parseConfiguration(p Patch) (configuration, error) {
	body := p.Data
	if p.Type == patch.ApplyCBORType {
		var err error
		if body, err = codec.CBORToJSON(body); err != nil {
			return configuration{}, err
		}
	}
	if members, ok := decodePlainJSON(body); ok {
		return configuration{members: members}, nil
	}
	members, err := decodeYAML(body)
	return configuration{members: members, yaml: body}, err
}

// checkDuplicates fails or warns, as the options say, if a configuration has a
// member twice.
func (op *operation) checkDuplicates(body []byte) error {
	if !op.options.strict() {
		return nil
	}
	var members map[string]any
	err := yaml.UnmarshalStrict(body, &members)
	switch {
	case err == nil:
	case op.options.FieldValidation == "Strict":
		return status.BadRequest("error strict decoding " + op.patchName() + ": " + err.Error())
	default:
		// Each line reports one member.
		text := strings.TrimPrefix(err.Error(), yamlError+"yaml: unmarshal errors:\n")
		for _, line := range strings.Split(text, "\n") {
			op.warn(strings.TrimSpace(line))
		}
	}
	return nil
}

// decodePlainJSON does what decodeYAML does for the JSON that clients write, much
// faster. It returns false for a document that YAML reads differently or not at
// all: one with duplicate members, fractions, escapes that YAML has not, long names, or more
// than one line of printable ASCII.
func decodePlainJSON(body []byte) (members map[string]any, ok bool) {
	body = bytes.TrimSuffix(body, []byte("\n"))
	if !bytes.HasPrefix(body, []byte("{")) || !wire.IsPrintableASCII(string(body)) || !hasPlainEscapes(body) {
		return nil, false
	}
	members, twice, err := wire.DecodeUntyped(body, wire.DecodeOptions{Strict: true, Integers: true, MaxName: longestName})
	return members, err == nil && len(twice) == 0
}

// longestName is the longest name, in bytes, that YAML takes as a simple key.
const longestName = 1000

// hasPlainEscapes reports whether YAML has the escapes in a JSON document, too: all but that of a
// slash and those of surrogates, which begin with a D.
func hasPlainEscapes(body []byte) bool {
	for {
		i := bytes.IndexByte(body, '\\')
		if i < 0 || i+2 >= len(body) {
			return i < 0
		}
		if c := body[i+1]; c == '/' || c == 'u' && body[i+2]|' ' == 'd' {
			return false
		}
		body = body[i+2:]
	}
}

// decodeYAML decodes a document into generic form.
func decodeYAML(body []byte) (map[string]any, error) {
	var members map[string]any
	err := yaml.Unmarshal(body, &members, func(d *json.Decoder) *json.Decoder {
		d.UseNumber()
		return d
	})
	if err != nil {
		return nil, err
	}
	if members == nil {
		members = map[string]any{}
	}
	return object.Integers(members), nil
}

// applyFailed returns the Status of an error of fieldmanager.Type.Apply.
func applyFailed(err error) error {
	switch e := err.(type) {
	case *status.Status: // of Kind.Finish
		return e
	case *fieldmanager.RequestError:
		return status.BadRequest(e.Message)
	case *fieldmanager.ConflictError:
		st := status.Failure(409, status.ReasonConflict, e.Error(), &status.Details{})
		for _, c := range e.Conflicts {
			st.Details.Causes = append(st.Details.Causes, status.Cause{Reason: "FieldManagerConflict", Message: c.String(), Field: c.Field})
		}
		return st
	}
	return status.Unclassified(err.Error())
}
