package openapi

import (
	"encoding/base64"
	"encoding/json"
	"hash/fnv"
	"strings"
)

// sharedName returns the name under which operations share a parameter, "" if
// each operation has its own. The name contains a digest of the parameter.
func sharedName(p parameterV2) (string, error) {
	switch {
	case p.In == "body":
		schema, _ := p.Schema.(map[string]any)
		ref, _ := schema["$ref"].(string)
		if !strings.HasPrefix(ref, "#/definitions/io.k8s.apimachinery") {
			return "", nil
		}
	case p.Name == "name", p.In == "query" && (p.Name == "dryRun" || p.Name == "fieldValidation"):
		return "", nil
	}
	text, err := json.Marshal(p)
	if err != nil {
		return "", err
	}
	digest := fnv.New64()
	digest.Write(text)
	return p.Name + "-" + base64.URLEncoding.EncodeToString(digest.Sum(nil)[:6]), nil
}
