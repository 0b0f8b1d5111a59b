package pods

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/kinds/core/volumes"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/validation"
)

// checkValueFrom validates the source of an environment variable. value is the value
// that the variable sets itself.
func checkValueFrom(source validation.View, value string) {
	sources := 0
	count := func(name string, rule func(validation.View)) {
		if ref, ok := source.Lookup(name); ok {
			sources++
			rule(ref)
		}
	}
	count("fieldRef", func(ref validation.View) { checkFieldRef(ref, envFields) })
	count("resourceFieldRef", func(ref validation.View) { checkResourceFieldRef(ref, false) })
	count("configMapKeyRef", checkKeyRef)
	count("secretKeyRef", checkKeyRef)
	count("fileKeyRef", checkFileKeyRef)
	wrong := ""
	switch {
	case sources == 0:
		const otherSources = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"
		source.Add(validation.Invalid(source.Path, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`").
			WithGate("EnvFiles", validation.Invalid(source.Path, "", otherSources)))
		return
	case value != "":
		wrong = "may not be specified when `value` is not empty"
	case sources > 1:
		wrong = "may not have more than one field specified at a time"
	default:
		return
	}
	source.Add(validation.Invalid(source.Path, "", wrong))
}

func checkEnvFrom(c validation.View) {
	for _, source := range c.Each("envFrom") {
		source.FormatIfSet("prefix", validation.RelaxedEnvVarName)
		sources := 0
		for _, name := range []string{"configMapRef", "secretRef"} {
			source.IfPresent(name, func(ref validation.View) {
				sources++
				ref.RequireFormat("name", func(s string) []string { return validation.SubdomainName(s, true) })
			})
		}
		switch sources {
		case 0:
			c.Add(validation.Invalid(c.At("envFrom"), "", "must specify one of: `configMapRef` or `secretRef`"))
		case 2:
			c.Add(validation.Invalid(c.At("envFrom"), "", "may not have more than one field specified at a time"))
		}
	}
}

func checkFieldRef(ref validation.View, supported []string) {
	if !ref.Require("apiVersion") || !ref.Require("fieldPath") {
		return
	}
	field := ref.String("fieldPath")
	unknown := func(why string) { ref.Invalid("fieldPath", "error converting fieldPath: "+why) }
	if version := ref.String("apiVersion"); version != "v1" {
		unknown("unsupported pod version: " + version)
		return
	}
	if prefix, key, ok := splitSubscript(field); ok {
		switch prefix {
		case "metadata.annotations":
			key = strings.ToLower(key)
		case "metadata.labels":
		default:
			unknown("field label does not support subscript: " + field)
			return
		}
		ref.AddList(validation.Each(ref.Path, key, validation.QualifiedName(key)))
		return
	}
	if field == "spec.host" {
		field = "spec.nodeName" // deprecated name
	}
	switch {
	case !slices.Contains(knownFields, field):
		unknown("field label not supported: " + field)
	case !slices.Contains(supported, field):
		ref.Add(validation.NotSupported(ref.At("fieldPath"), field, supported))
	}
}

// splitSubscript splits "metadata.labels['key']" into "metadata.labels" and "key".
func splitSubscript(field string) (prefix, key string, ok bool) {
	rest, ok := strings.CutSuffix(field, "']")
	if !ok {
		return "", "", false
	}
	prefix, key, ok = strings.Cut(rest, "['")
	return prefix, key, ok && prefix != ""
}

// resourceFields are the values of resourceFieldRef.resource besides huge pages.
var resourceFields = []string{
	"limits.cpu", "limits.ephemeral-storage", "limits.memory",
	"requests.cpu", "requests.ephemeral-storage", "requests.memory",
}

// checkResourceFieldRef validates a resourceFieldRef. In a volume file it must name
// the container.
func checkResourceFieldRef(ref validation.View, inFile bool) {
	resource := ref.String("resource")
	isHugePages := strings.HasPrefix(resource, "requests.hugepages-") || strings.HasPrefix(resource, "limits.hugepages-")
	switch {
	case inFile && ref.String("containerName") == "":
		ref.Required("containerName", "")
	case resource == "":
		ref.Required("resource", "")
	case !isHugePages && !slices.Contains(resourceFields, resource):
		ref.Add(validation.NotSupported(ref.At("resource"), resource, resourceFields))
	}
	divisor := ref.String("divisor")
	if divisor == "" || !quantity.IsNonZero(divisor) {
		return
	}
	switch kind, memory := resource[strings.Index(resource, ".")+1:], !slices.Contains(memoryDivisors, divisor); {
	case resource == "limits.cpu" || resource == "requests.cpu":
		if divisor != "1m" && divisor != "1" {
			ref.Add(validation.Invalid(ref.At("divisor"), resource, "only divisor's values 1m and 1 are supported with the cpu resource"))
		}
	case !memory:
	case isHugePages:
		checkBadDivisor(ref, "hugepages")
	case slices.Contains(resourceFields, resource) && kind == "memory":
		checkBadDivisor(ref, "memory")
	case slices.Contains(resourceFields, resource):
		checkBadDivisor(ref, "local ephemeral storage")
	}
}

var memoryDivisors = []string{"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"}

func checkBadDivisor(ref validation.View, resource string) {
	ref.Add(validation.Invalid(ref.At("divisor"), ref.String("resource"),
		fmt.Sprintf("only divisor's values %s are supported with the %s resource", strings.Join(memoryDivisors, ", "), resource)))
}

func checkKeyRef(ref validation.View) {
	ref.Format("name", validation.Subdomain)
	ref.RequireFormat("key", validation.ConfigMapKey)
}

func checkFileKeyRef(ref validation.View) {
	ref.RequireFormat("key", validation.RelaxedEnvVarName)
	ref.RequireFormat("volumeName", validation.DNS1123Label)
	if ref.Require("path") {
		volumes.CheckNoBacksteps(ref, "path")
	}
}

// The fields of a Pod that a fieldRef can select: in an environment variable, and in
// a volume file.
var (
	envFields = []string{
		"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
		"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
	}
	fileFields = []string{"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"}

	// knownFields are the field paths that kube-apiserver can convert. A fieldRef to
	// another one gets a different error.
	knownFields = append([]string{
		"metadata.annotations", "metadata.labels", "spec.restartPolicy", "spec.schedulerName", "status.phase",
	}, envFields...)
)
