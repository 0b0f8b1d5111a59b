package kinds

import "github.com/kubefake/kubefake/internal/unversioned"

// internal is a part of an object as kube-apiserver quotes it in an error: in
// the form of the Go type of that name, such as "core.SecurityContext".
func internal(typ string, v any) unversioned.Value {
	return unversioned.Value{Type: typ, Value: v}
}
