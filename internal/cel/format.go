package cel

import (
	"net/url"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/validation"
)

var formatType = types.NewObjectType("kubernetes.NamedFormat")

// A named format checks strings.
type namedFormat struct {
	name  string
	check func(string) []string
	// size is that of the regular expression which the check is worth.
	size int
}

// formatVal is a named format.
type formatVal struct{ foreign[*namedFormat] }

// Equal compares formats by name.
func (v formatVal) Equal(other ref.Val) ref.Val {
	o, ok := other.(formatVal)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	return types.Bool(v.value.name == o.value.name)
}

// named is a check of names that may or may not be prefixes.
func named(check validation.NameFunc, prefix bool) func(string) []string {
	return func(s string) []string { return check(s, prefix) }
}

// openAPI is a check of a format that schemas have too.
func openAPI(format, message string) func(string) []string {
	return func(s string) []string {
		if schema.IsFormat(format, s) {
			return nil
		}
		return []string{message}
	}
}

// namedFormats are the formats by the names that expressions use.
func namedFormats() map[string]*namedFormat {
	const subdomain, label, dateTime = 60, 30, 71
	return map[string]*namedFormat{
		"dns1123Label":           {"DNS1123Label", named(validation.LabelName, false), label},
		"dns1123LabelPrefix":     {"DNS1123LabelPrefix", named(validation.LabelName, true), label},
		"dns1123Subdomain":       {"DNS1123Subdomain", named(validation.SubdomainName, false), subdomain},
		"dns1123SubdomainPrefix": {"DNS1123SubdomainPrefix", named(validation.SubdomainName, true), subdomain},
		"dns1035Label":           {"DNS1035Label", named(validation.DNS1035LabelName, false), label},
		"dns1035LabelPrefix":     {"DNS1035LabelPrefix", named(validation.DNS1035LabelName, true), label},
		"qualifiedName":          {"QualifiedName", validation.QualifiedName, subdomain},
		"labelValue":             {"LabelValue", validation.LabelValue, 40},
		"uri": {"URI", func(s string) []string {
			if _, err := url.ParseRequestURI(s); err != nil {
				return []string{err.Error()}
			}
			return nil
		}, 1103},
		"uuid":     {"uuid", openAPI("uuid", "does not match the UUID format"), 70},
		"byte":     {"byte", openAPI("byte", "invalid base64"), 84},
		"date":     {"date", openAPI("date", "invalid date"), dateTime},
		"datetime": {"datetime", openAPI("datetime", "invalid datetime"), dateTime},
	}
}

// formatFunctions are format.named, the formats and validate.
func formatFunctions() []function {
	formats := namedFormats()
	value := func(f *namedFormat) ref.Val { return formatVal{foreign[*namedFormat]{formatType, f}} }
	functions := []function{
		global("format.named", "format-named", takes(types.StringType), types.NewOptionalType(formatType), unary(func(name types.String) ref.Val {
			f, ok := formats[string(name)]
			if !ok {
				return types.OptionalNone
			}
			return types.OptionalOf(value(f))
		})),
		method("validate", "format-validate", takes(formatType, types.StringType), types.NewOptionalType(types.NewListType(types.StringType)),
			binary(func(f formatVal, s types.String) ref.Val {
				wrong := f.value.check(string(s))
				if len(wrong) == 0 {
					return types.OptionalNone
				}
				return types.OptionalOf(types.NewStringList(types.DefaultTypeAdapter, wrong))
			})),
	}
	for name, f := range formats {
		functions = append(functions, global("format."+name, "format."+name, takes(), formatType,
			cel.FunctionBinding(func(...ref.Val) ref.Val { return value(f) })))
	}
	return functions
}
