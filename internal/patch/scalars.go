package patch

import "strings"

// EachScalar calls f with each scalar in the body of a write, and the name of the field or key that has
// it. An element of a list has the name of the list, and the value of an operation of a JSON patch the
// one at the end of its path.
func EachScalar(body any, f func(name string, scalar any)) { eachScalar("", body, f) }

func eachScalar(name string, v any, f func(name string, scalar any)) {
	switch v := v.(type) {
	case map[string]any:
		path, isOperation := v["path"].(string)
		for member, value := range v {
			if isOperation && member == "value" {
				member = nameOf(path)
			}
			eachScalar(member, value, f)
		}
	case []any:
		for _, element := range v {
			eachScalar(name, element, f)
		}
	default:
		f(name, v)
	}
}

// nameOf returns the last name in a JSON Pointer, without the indexes of elements after it.
func nameOf(pointer string) string {
	for {
		at := strings.LastIndexByte(pointer, '/')
		name := pointer[at+1:]
		if at <= 0 || name != "-" && strings.Trim(name, "0123456789") != "" {
			return unescapeStep.Replace(name)
		}
		pointer = pointer[:at]
	}
}
