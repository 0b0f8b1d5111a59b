package profile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

// sources are the resources whose objects a profile has, in the order in which a server
// creates them.
var sources = []string{
	"/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
	"/api/v1/namespaces",
	"/apis/scheduling.k8s.io/v1/priorityclasses",
	"/apis/storage.k8s.io/v1/storageclasses",
	"/apis/networking.k8s.io/v1/ingressclasses",
	"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
	"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
	"/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies",
	"/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings",
	"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
	"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
}

// A Recorder reads the profile of a cluster. Its fields are required.
type Recorder struct {
	URL    string // without a slash at the end
	Client *http.Client
	Warn   func(text string) // called for what cannot be read or served
}

// Record reads the profile. It fails if the cluster does not answer /version, discovery or
// CustomResourceDefinitions. What else the user may not read is left out, with a warning.
func (c *Recorder) Record(ctx context.Context) (*Profile, error) {
	var version struct{ Major, Minor, GitVersion string }
	if err := c.read(ctx, "/version", "application/json", &version); err != nil {
		return nil, err
	}
	major, _ := strconv.Atoi(version.Major)
	minor, _ := strconv.Atoi(strings.TrimRight(version.Minor, "+"))
	r, same := closest(major, minor)
	if !same {
		c.Warn(fmt.Sprintf("the cluster has %s, which is not known here; %s is the closest release", version.GitVersion, r.Name()))
	}
	p := &Profile{Format: format, Version: version.GitVersion, Release: r.Name(), Objects: []map[string]any{}}
	served, err := c.servedVersions(ctx)
	if err != nil {
		return nil, err
	}
	config, unknown := runtimeConfig(r, served)
	p.RuntimeConfig = config
	for _, gv := range unknown {
		c.Warn(fmt.Sprintf("the cluster differs from %s in the API version %s, which stays as it is there", r.Name(), gv))
	}
	if gates, err := c.gates(ctx); err != nil {
		c.Warn(missing("feature gates", err))
	} else {
		p.FeatureGates = featureGates(r, gates)
	}
	for i, path := range sources {
		objects, err := c.objects(ctx, path)
		switch {
		case err == nil:
			p.Objects = append(p.Objects, objects...)
		case i == 0:
			return nil, err
		default:
			c.Warn(missing(path, err))
		}
	}
	return p, nil
}

// servedVersions returns the group versions that the cluster serves.
func (c *Recorder) servedVersions(ctx context.Context) (map[resource.GroupVersion]bool, error) {
	var groups struct {
		Groups []struct {
			Name     string
			Versions []struct{ Version string }
		}
	}
	if err := c.read(ctx, "/apis", "application/json", &groups); err != nil {
		return nil, err
	}
	served := map[resource.GroupVersion]bool{{Version: "v1"}: true}
	for _, g := range groups.Groups {
		for _, v := range g.Versions {
			served[resource.GroupVersion{Group: g.Name, Version: v.Version}] = true
		}
	}
	return served, nil
}

const gateMetric = `(?m)^kubernetes_feature_enabled\{name="([^"]+)",stage="[^"]*"\} ([01])$`

// gates returns the feature gates of the cluster.
func (c *Recorder) gates(ctx context.Context) (map[string]bool, error) {
	text, err := c.get(ctx, "/metrics", "text/plain")
	if err != nil {
		return nil, err
	}
	return Gates(text), nil
}

// Gates returns the feature gates in the metrics of a kube-apiserver.
func Gates(metrics []byte) map[string]bool {
	gates := map[string]bool{}
	for _, m := range regexp.MustCompile(gateMetric).FindAllSubmatch(metrics, -1) {
		gates[string(m[1])] = string(m[2]) == "1"
	}
	return gates
}

// objects returns the objects of a resource, as somebody would create them. Those that every
// kube-apiserver has are left out. A resource that is not served has none.
func (c *Recorder) objects(ctx context.Context, path string) ([]map[string]any, error) {
	var list struct {
		APIVersion, Kind string
		Items            []map[string]any
	}
	text, err := c.get(ctx, path, "application/json")
	if err != nil {
		if e := (*statusError)(nil); errors.As(err, &e) && e.code == http.StatusNotFound {
			return nil, nil
		}
		return nil, err
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	var out []map[string]any
	for _, o := range list.Items {
		meta := ownMetadata(object.Meta(o))
		o["apiVersion"], o["kind"], o["metadata"] = list.APIVersion, strings.TrimSuffix(list.Kind, "List"), meta
		if isOwn(o, meta) {
			continue
		}
		delete(o, "status")
		if o["kind"] == "Namespace" {
			delete(o, "spec")
		}
		out = append(out, o)
	}
	return out, nil
}

// isOwn reports whether every kube-apiserver creates the object so.
func isOwn(o, meta map[string]any) bool {
	name := object.String(meta, "name")
	switch o["kind"] {
	case "PriorityClass":
		return strings.HasPrefix(name, "system-")
	case "Namespace":
		return slices.Contains([]string{"default", "kube-node-lease", "kube-public", "kube-system"}, name) && len(object.Map(meta, "labels")) <= 1 && meta["annotations"] == nil
	}
	return false
}

// ownMetadata returns the metadata that an author of an object writes.
func ownMetadata(meta map[string]any) map[string]any {
	out := map[string]any{}
	for _, name := range []string{"name", "labels", "annotations"} {
		if meta[name] != nil {
			out[name] = meta[name]
		}
	}
	if annotations := object.Map(out, "annotations"); annotations != nil {
		delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
		if len(annotations) == 0 {
			delete(out, "annotations")
		}
	}
	return out
}

// read decodes the answer to a GET.
func (c *Recorder) read(ctx context.Context, path, accept string, into any) error {
	text, err := c.get(ctx, path, accept)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	return nil
}

// A statusError is an answer with another code than 200.
type statusError struct {
	path    string
	code    int
	message string
	next    string // the continue token of an expired list
}

func (e *statusError) Error() string {
	return fmt.Sprintf("GET %s: %d %s", e.path, e.code, e.message)
}

func (c *Recorder) get(ctx context.Context, path, accept string) ([]byte, error) {
	body, err := c.open(ctx, path, accept)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(body)
}
