package apiserverinternal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// validateStorageVersion checks a new object. Updates change only the status.
func validateStorageVersion(obj map[string]any, old object.View) validation.List {
	if !old.IsNil() {
		return nil
	}
	return validateStorageVersionStatus(obj, old)
}

func validateStorageVersionStatus(obj map[string]any, _ object.View) validation.List {
	return validation.Collect(object.Map(obj, "status"), validation.NewPath("status"), func(status validation.View) {
		seen := validation.Seen{}
		for _, version := range status.Each("storageVersions") {
			seen.Unique(version, "apiServerID")
			checkServerStorageVersion(version)
		}
		checkCommonEncoding(status)
		checkStorageVersionConditions(status)
	})
}

func checkServerStorageVersion(version validation.View) {
	version.Format("apiServerID", validation.Subdomain)
	encoding, decodable := version.String("encodingVersion"), version.Strings("decodableVersions")
	if wrong := apiVersion(encoding); wrong != "" {
		version.InvalidString("encodingVersion", wrong)
	}
	for i, v := range decodable {
		if wrong := apiVersion(v); wrong != "" {
			version.Add(validation.Invalid(version.At("decodableVersions").Index(i), v, wrong))
		}
	}
	if !slices.Contains(decodable, encoding) {
		version.Invalid("decodableVersions", "decodableVersions must include encodingVersion "+encoding)
	}
	for i, v := range version.Strings("servedVersions") {
		path := version.At("servedVersions").Index(i)
		if wrong := apiVersion(v); wrong != "" {
			version.Add(validation.Invalid(path, v, wrong))
		}
		if !slices.Contains(decodable, v) {
			version.Add(validation.Invalid(path, v, fmt.Sprintf("individual served version : %s must be included in decodableVersions : %s", v, decodable)))
		}
	}
}

// checkCommonEncoding checks that commonEncodingVersion is set to the version that
// all servers encode objects in, or is absent if they differ.
func checkCommonEncoding(status validation.View) {
	common, agreed := "", status.Len("storageVersions") > 0
	for i, version := range status.Each("storageVersions") {
		encoding := version.String("encodingVersion")
		if i == 0 {
			common = encoding
		}
		agreed = agreed && encoding == common
	}
	const name = "commonEncodingVersion"
	switch present := status.Has(name); {
	case !agreed && present:
		status.Invalid(name, "should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet")
	case agreed && !present:
		status.Invalid(name, "the common encoding version is "+common)
	case agreed && common != status.String(name):
		status.Invalid(name, "the actual common encoding version is "+common)
	}
}

// checkStorageVersionConditions checks the conditions. The paths of the errors lack
// the name of the list, as in kube-apiserver.
func checkStorageVersionConditions(status validation.View) {
	places := map[string]int{}
	for i, c := range status.Each("conditions") {
		c.Path = status.Path.Index(i)
		typ := c.String("type")
		if first, twice := places[typ]; twice {
			c.Invalid("type", fmt.Sprintf("the type of the condition is not unique, it also appears in conditions[%d]", first))
		}
		places[typ] = i
		c.Format("type", validation.QualifiedName)
		c.Format("status", validation.QualifiedName)
		c.RequireEach("reason", "message")
	}
}

// apiVersion returns the error text for an invalid apiVersion, "" if s is valid.
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
	var messages []string
	if grouped {
		messages = append(messages, apiVersionPart("group", group, validation.DNS1123Subdomain)...)
	}
	messages = append(messages, apiVersionPart("version", version, validation.DNS1035Label)...)
	return strings.Join(messages, ",")
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
