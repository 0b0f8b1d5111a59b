package validation

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
)

// WebhookURL checks the URL of a webhook.
func WebhookURL(text string, path *Path) List {
	const form = "; desired format: https://host[/path]"
	u, err := url.Parse(text)
	if err != nil {
		return List{Required(path, "url must be a valid URL: "+err.Error()+form)}
	}
	var list List
	if u.Scheme != "https" {
		list = append(list, Invalid(path, u.Scheme, "'https' is the only allowed URL scheme"+form))
	}
	if u.Host == "" {
		list = append(list, Invalid(path, "", "host must be specified"+form))
	}
	if u.User != nil {
		list = append(list, Invalid(path, u.User.String(), "user information is not permitted in the URL"))
	}
	if u.Fragment != "" {
		list = append(list, Invalid(path, u.Fragment, "fragments are not permitted in the URL"))
	}
	if u.RawQuery != "" {
		list = append(list, Invalid(path, u.RawQuery, "query parameters are not permitted in the URL"))
	}
	return list
}

// WebhookService checks the reference to a service in a webhook's clientConfig,
// after its port has been defaulted.
func WebhookService(service map[string]any, path *Path) List {
	var list List
	// kube-apiserver swaps the paths of name and namespace.
	for _, swap := range []struct{ missing, reported string }{{"namespace", "name"}, {"name", "namespace"}} {
		if object.String(service, swap.missing) == "" {
			list = append(list, Required(path.Child(swap.reported), "").Before(behavior.PlainDetails, Detail("service "+swap.reported+" is required")))
		}
	}
	port, _ := object.Int(service, "port")
	if problems := PortNumber(int(port)); len(problems) > 0 {
		list = append(list, Invalid(path.Child("port"), port, "port is not valid: "+strings.Join(problems, ", ")))
	}
	return append(list, webhookPath(object.String(service, "path"), path.Child("path"))...)
}

// webhookPath checks the URL path of a webhook service: segments between
// slashes, each a domain name.
func webhookPath(s string, path *Path) List {
	switch s {
	case "", "/":
		return nil
	case "//":
		return List{Invalid(path, s, "segment[0] may not be empty")}
	}
	var list List
	if !strings.HasPrefix(s, "/") {
		list = append(list, Invalid(path, s, "must start with a '/'"))
	}
	for i, segment := range strings.Split(strings.TrimSuffix(s[1:], "/"), "/") {
		if segment == "" {
			list = append(list, Invalid(path, s, fmt.Sprintf("segment[%d] may not be empty", i)))
			continue
		}
		for _, problem := range DNS1123Subdomain(segment) {
			list = append(list, Invalid(path, s, fmt.Sprintf("segment[%d]: %s", i, problem)))
		}
	}
	return list
}
