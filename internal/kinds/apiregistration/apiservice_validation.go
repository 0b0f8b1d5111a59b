package apiregistration

import (
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// validateAPIService checks an APIService. Without spec.service, this server serves
// the group version.
func validateAPIService(obj map[string]any, _ object.View) validation.List {
	return validation.Collect(obj, nil, func(service validation.View) {
		spec := service.Field("spec")
		service.Names(validation.APIServiceName(spec.String("version"), spec.String("group")))
		if spec.String("group") == "" && spec.String("version") != "v1" {
			spec.Required("group", "only v1 may have an empty group and it better be legacy kube")
		}
		spec.FormatIfSet("group", validation.DNS1123Subdomain)
		spec.Format("version", validation.DNS1035Label)
		checkPriorityUpTo(spec, "groupPriorityMinimum", 20000)
		checkPriorityUpTo(spec, "versionPriority", 1000)
		if remote, ok := spec.Lookup("service"); ok {
			checkRemoteAPI(spec, remote)
		} else {
			checkLocalAPI(spec)
		}
	})
}

func checkPriorityUpTo(spec validation.View, name string, limit int64) {
	if n := spec.Int(name); n <= 0 || n > limit {
		spec.Invalid(name, fmt.Sprintf("must be positive and less than %d", limit))
	}
}

func checkLocalAPI(spec validation.View) {
	if n := len(spec.Bytes("caBundle")); n > 0 {
		spec.Add(validation.Invalid(spec.At("caBundle"), fmt.Sprintf("%d bytes", n), "local APIServices may not have a caBundle"))
	}
	if spec.Bool("insecureSkipTLSVerify") {
		spec.Invalid("insecureSkipTLSVerify", "local APIServices may not have insecureSkipTLSVerify")
	}
}

func checkRemoteAPI(spec, service validation.View) {
	service.Require("namespace")
	service.Require("name")
	checkServicePort(service, "port is not valid: ")
	if spec.Bool("insecureSkipTLSVerify") && len(spec.Bytes("caBundle")) > 0 {
		spec.Invalid("insecureSkipTLSVerify", "may not be true if caBundle is present")
	}
}

// checkServicePort checks the port of the service of an APIService.
func checkServicePort(service validation.View, intro string) {
	if messages := validation.PortNumber(int(service.Int("port"))); len(messages) > 0 {
		service.Add(validation.Invalid(service.At("port"), service.Int("port"), intro+strings.Join(messages, ", ")))
	}
}

func validateAPIServiceStatus(obj map[string]any, _ object.View) validation.List {
	return validation.Collect(obj, nil, func(service validation.View) {
		for _, c := range service.Field("status").Each("conditions") {
			c.OneOf("status", "True", "False", "Unknown")
		}
	})
}
