package cel

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/kubefake/kubefake/internal/object"
)

// An adapter adapts decoded objects whose types an environment does not declare, such as those of
// policies. In them a field set is text.
type adapter struct{ types.Adapter }

// NativeToValue implements [types.Adapter].
func (a adapter) NativeToValue(v any) ref.Val {
	switch v := v.(type) {
	case map[string]any:
		return types.NewStringInterfaceMap(a, v)
	case []any:
		return types.NewDynamicList(a, v)
	case object.FieldsV1:
		return a.NativeToValue(v.Value())
	}
	return a.Adapter.NativeToValue(v)
}

// withAdapter makes the environment read decoded objects.
func withAdapter(env *cel.Env) (*cel.Env, error) {
	return cel.CustomTypeAdapter(adapter{env.CELTypeAdapter()})(env)
}
