package kinds

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// validateAPIService checks a group version that another server, or this one,
// answers for. Its name says which.
func validateAPIService(obj, _ map[string]any) validation.List {
	return mistakes(obj, nil, func(service part) {
		spec, meta := service.within("spec"), service.within("metadata")
		for _, member := range []string{"generateName", "name"} {
			meta.ifSet(member, func(name string) []string {
				return validation.APIServiceName(spec.text("version"), spec.text("group"))(name, false)
			})
		}
		if spec.text("group") == "" && spec.text("version") != "v1" {
			spec.missing("group", "only v1 may have an empty group and it better be legacy kube")
		}
		spec.ifSet("group", validation.DNS1123Subdomain)
		spec.is("version", validation.DNS1035Label)
		priorityUpTo(spec, "groupPriorityMinimum", 20000)
		priorityUpTo(spec, "versionPriority", 1000)
		if remote, ok := spec.given("service"); ok {
			remoteAPI(spec, remote)
		} else {
			localAPI(spec)
		}
	})
}

func priorityUpTo(spec part, name string, most int64) {
	if n := spec.integer(name); n <= 0 || n > most {
		spec.invalid(name, fmt.Sprintf("must be positive and less than %d", most))
	}
}

func localAPI(spec part) {
	if n := len(spec.bytes("caBundle")); n > 0 {
		spec.note(validation.Invalid(spec.at("caBundle"), fmt.Sprintf("%d bytes", n), "local APIServices may not have a caBundle"))
	}
	if spec.flag("insecureSkipTLSVerify") {
		spec.invalid("insecureSkipTLSVerify", "local APIServices may not have insecureSkipTLSVerify")
	}
}

func remoteAPI(spec, service part) {
	service.needs("namespace")
	service.needs("name")
	servicePort(service, "port is not valid: ")
	if spec.flag("insecureSkipTLSVerify") && len(spec.bytes("caBundle")) > 0 {
		spec.invalid("insecureSkipTLSVerify", "may not be true if caBundle is present")
	}
}

// servicePort checks the port of a service that answers for the server.
func servicePort(service part, intro string) {
	if messages := validation.PortNumber(int(service.integer("port"))); len(messages) > 0 {
		service.note(validation.Invalid(service.at("port"), service.integer("port"), intro+strings.Join(messages, ", ")))
	}
}

func validateAPIServiceStatus(obj, _ map[string]any) validation.List {
	return mistakes(obj, nil, func(service part) {
		for _, c := range service.within("status").each("conditions") {
			c.oneOf("status", "True", "False", "Unknown")
		}
	})
}

// validateStorageVersion checks a new object. Afterwards only its status means
// anything.
func validateStorageVersion(obj, old map[string]any) validation.List {
	if old != nil {
		return nil
	}
	return validateStorageVersionStatus(obj, nil)
}

func validateStorageVersionStatus(obj, _ map[string]any) validation.List {
	return mistakes(object.Map(obj, "status"), validation.NewPath("status"), func(status part) {
		seen := names{}
		for _, version := range status.each("storageVersions") {
			seen.unique(version, "apiServerID")
			serverStorageVersion(version)
		}
		commonEncoding(status)
		storageVersionConditions(status)
	})
}

func serverStorageVersion(version part) {
	version.is("apiServerID", subdomain)
	encoding, decodable := version.text("encodingVersion"), version.texts("decodableVersions")
	if wrong := apiVersion(encoding); wrong != "" {
		version.invalid("encodingVersion", wrong)
	}
	for i, v := range decodable {
		if wrong := apiVersion(v); wrong != "" {
			version.note(validation.Invalid(version.at("decodableVersions").Index(i), v, wrong))
		}
	}
	if !slices.Contains(decodable, encoding) {
		version.invalid("decodableVersions", "decodableVersions must include encodingVersion "+encoding)
	}
	for i, v := range version.texts("servedVersions") {
		path := version.at("servedVersions").Index(i)
		if wrong := apiVersion(v); wrong != "" {
			version.note(validation.Invalid(path, v, wrong))
		}
		if !slices.Contains(decodable, v) {
			version.note(validation.Invalid(path, v, fmt.Sprintf("individual served version : %s must be included in decodableVersions : %s", v, decodable)))
		}
	}
}

// commonEncoding checks that the version that all servers write in is told, if
// there is one.
func commonEncoding(status part) {
	common := ""
	for i, version := range status.each("storageVersions") {
		switch encoding := version.text("encodingVersion"); {
		case i == 0:
			common = encoding
		case encoding != common:
			common = ""
		}
		if common == "" {
			break
		}
	}
	const name = "commonEncodingVersion"
	switch told := status.has(name); {
	case common == "" && told:
		status.invalid(name, "should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet")
	case common != "" && !told:
		status.invalid(name, "the common encoding version is "+common)
	case common != status.text(name):
		status.invalid(name, "the actual common encoding version is "+common)
	}
}

// storageVersionConditions checks conditions whose paths lack the name of their
// list.
func storageVersionConditions(status part) {
	places := map[string]int{}
	for i, c := range status.each("conditions") {
		c.path = status.path.Index(i)
		typ := c.text("type")
		if first, twice := places[typ]; twice {
			c.invalid("type", fmt.Sprintf("the type of the condition is not unique, it also appears in conditions[%d]", first))
		}
		places[typ] = i
		c.is("type", validation.QualifiedName)
		c.is("status", validation.QualifiedName)
		c.needsEach("reason", "message")
	}
}

// apiVersion says what is wrong with a group and version.
func apiVersion(s string) string {
	group, version, grouped := strings.Cut(s, "/")
	if !grouped {
		group, version = "", s
	}
	if strings.Contains(version, "/") {
		rule := "a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character"
		return "an apiVersion is " + validation.RegexpMessage(rule, "[a-z]([-a-z0-9]*[a-z0-9])?", "my-name", "abc-123") +
			" with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')"
	}
	var wrong []string
	if grouped {
		wrong = append(wrong, apiVersionPart("group", group, validation.DNS1123Subdomain)...)
	}
	wrong = append(wrong, apiVersionPart("version", version, validation.DNS1035Label)...)
	return strings.Join(wrong, ",")
}

func apiVersionPart(name, value string, format func(string) []string) []string {
	if value == "" {
		return []string{name + " part: must be non-empty"}
	}
	messages := format(value)
	for i, m := range messages {
		messages[i] = name + " part: " + m
	}
	return messages
}
