package kindtest

// PodTemplate returns the template field of a workload, with one container.
func PodTemplate(restartPolicy string) string {
	return `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"` + restartPolicy + `","containers":[{"name":"c","image":"i"}]}}`
}

// Pod returns a Pod with one container. container and spec are additional fields of
// the container and of the spec, as JSON without braces.
func Pod(container, spec string) string {
	if container != "" {
		container = "," + container
	}
	if spec != "" {
		spec = "," + spec
	}
	return `{"metadata":{"name":"a","labels":{"a":"1","b":"2"}},"spec":{"containers":[{"name":"c","image":"i"` + container + `}]` + spec + `}}`
}

// NotSubdomain is the error message for a name that is not a DNS subdomain.
const NotSubdomain = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`
