package library

import (
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// JSONPatch returns environment options with the JSON patch library, which only the
// expressions of mutating policies have: jsonpatch.escapeKey.
func JSONPatch() []cel.EnvOption {
	escape := strings.NewReplacer("/", "~1", "~", "~0")
	return functionOptions([]function{
		global("jsonpatch.escapeKey", "string_jsonpatch_escapeKey_string", argTypes(types.StringType), types.StringType,
			unary(func(s types.String) ref.Val { return types.String(escape.Replace(string(s))) })),
	})
}
