package library

import (
	"net/url"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/validation"
)

// FormatType is the type of named formats.
var FormatType = types.NewObjectType("kubernetes.NamedFormat")

// A namedFormat validates strings.
type namedFormat struct {
	name  string
	check func(string) []string
	// size is the result of FormatSize.
	size int
}

// formatVal is the CEL value of a named format.
type formatVal struct{ Val[*namedFormat] }

// Equal compares formats by name.
func (v formatVal) Equal(other ref.Val) ref.Val {
	o, ok := other.(formatVal)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	return types.Bool(v.Native.name == o.Native.name)
}

// FormatSize returns the size of the regular expression of a named format, from which the
// cost of validate is computed. It returns false if v is not a named format.
func FormatSize(v ref.Val) (size uint64, ok bool) {
	f, ok := v.(formatVal)
	if !ok {
		return 0, false
	}
	return uint64(f.Native.size), true
}

// nameFormat returns the check of a name, or of the prefix of generated names.
func nameFormat(check validation.NameFunc, prefix bool) func(string) []string {
	return func(s string) []string { return check(s, prefix) }
}

// openAPIFormat returns the check of an OpenAPI format.
func openAPIFormat(format, message string) func(string) []string {
	return func(s string) []string {
		if schema.IsFormat(format, s) {
			return nil
		}
		return []string{message}
	}
}

// namedFormats returns the formats by the names that expressions use.
func namedFormats() map[string]*namedFormat {
	const subdomain, label, dateTime = 60, 30, 71
	return map[string]*namedFormat{
		"dns1123Label":           {"DNS1123Label", nameFormat(validation.LabelName, false), label},
		"dns1123LabelPrefix":     {"DNS1123LabelPrefix", nameFormat(validation.LabelName, true), label},
		"dns1123Subdomain":       {"DNS1123Subdomain", nameFormat(validation.SubdomainName, false), subdomain},
		"dns1123SubdomainPrefix": {"DNS1123SubdomainPrefix", nameFormat(validation.SubdomainName, true), subdomain},
		"dns1035Label":           {"DNS1035Label", nameFormat(validation.DNS1035LabelName, false), label},
		"dns1035LabelPrefix":     {"DNS1035LabelPrefix", nameFormat(validation.DNS1035LabelName, true), label},
		"qualifiedName":          {"QualifiedName", validation.QualifiedName, subdomain},
		"labelValue":             {"LabelValue", validation.LabelValue, 40},
		"uri": {"URI", func(s string) []string {
			if _, err := url.ParseRequestURI(s); err != nil {
				return []string{err.Error()}
			}
			return nil
		}, 1103},
		"uuid":     {"uuid", openAPIFormat("uuid", "does not match the UUID format"), 70},
		"byte":     {"byte", openAPIFormat("byte", "invalid base64"), 84},
		"date":     {"date", openAPIFormat("date", "invalid date"), dateTime},
		"datetime": {"datetime", openAPIFormat("datetime", "invalid datetime"), dateTime},
	}
}

// formatFunctions returns the format library: format.named, a function for each
// format, and validate.
func formatFunctions() []function {
	formats := namedFormats()
	value := func(f *namedFormat) ref.Val { return formatVal{NewVal(FormatType, f)} }
	functions := []function{
		global("format.named", "format-named", argTypes(types.StringType), types.NewOptionalType(FormatType), unary(func(name types.String) ref.Val {
			f, ok := formats[string(name)]
			if !ok {
				return types.OptionalNone
			}
			return types.OptionalOf(value(f))
		})),
		method("validate", "format-validate", argTypes(FormatType, types.StringType), types.NewOptionalType(types.NewListType(types.StringType)),
			binary(func(f formatVal, s types.String) ref.Val {
				errs := f.Native.check(string(s))
				if len(errs) == 0 {
					return types.OptionalNone
				}
				return types.OptionalOf(types.NewStringList(types.DefaultTypeAdapter, errs))
			})),
	}
	for name, f := range formats {
		functions = append(functions, global("format."+name, "format."+name, argTypes(), FormatType,
			cel.FunctionBinding(func(...ref.Val) ref.Val { return value(f) })))
	}
	return functions
}
