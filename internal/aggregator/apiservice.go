package aggregator

import (
	"encoding/base64"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/route"
	"github.com/kubefake/kubefake/internal/storage"
)

// The group and the resource of APIServices.
const (
	group     = "apiregistration.k8s.io"
	resources = "apiservices"
)

// An apiService is an APIService as it is in the store. It is immutable.
type apiService struct {
	stored *storage.Object
	name   string
	resource.GroupVersion
	spec            spec
	groupPriority   int64
	versionPriority int64
	available       bool   // the condition Available is True
	reason          string // of that condition
}

// A spec is what decides how the server of an APIService is called. The zero value is that of
// a local one.
type spec struct {
	namespace, name string // of the Service
	port            int64
	caBundle        string // in PEM
	insecure        bool
}

// isRemote reports whether another server serves the group version.
func (s *apiService) isRemote() bool { return s.spec.name != "" }

// path returns the path of the group version.
func (s *apiService) path() string { return route.VersionPath(s.GroupVersion.String()) }

// parse returns the APIService of an object of type t.
func parse(t *resource.Type, o *storage.Object) *apiService {
	obj := o.Decode(t)
	out := &apiService{
		stored: o, name: o.Name,
		GroupVersion: resource.GroupVersion{Group: object.String(obj, "spec", "group"), Version: object.String(obj, "spec", "version")},
	}
	out.groupPriority, _ = object.Int(obj, "spec", "groupPriorityMinimum")
	out.versionPriority, _ = object.Int(obj, "spec", "versionPriority")
	for c := range object.Each(object.Value(obj, "status", "conditions")) {
		if object.String(c, "type") == "Available" {
			out.available = object.String(c, "status") == "True"
			out.reason = object.String(c, "reason")
		}
	}
	service := object.Map(obj, "spec", "service")
	if service == nil {
		return out
	}
	out.spec.namespace, out.spec.name = object.String(service, "namespace"), object.String(service, "name")
	out.spec.port, _ = object.Int(service, "port")
	out.spec.insecure = object.Bool(obj, "spec", "insecureSkipTLSVerify")
	if pem, err := base64.StdEncoding.DecodeString(object.String(obj, "spec", "caBundle")); err == nil {
		out.spec.caBundle = string(pem)
	}
	return out
}
