package pods

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
)

// defaultPod sets the defaults of a Pod: those of a template and those that only a
// Pod has.
func defaultPod(pod map[string]any) { defaultPodWith(pod, defaultPodResources) }

// defaultPodWithoutResources sets the defaults of a Pod except those of its own resources.
func defaultPodWithoutResources(pod map[string]any) { defaultPodWith(pod, func(map[string]any) {}) }

func defaultPodWith(pod map[string]any, defaultResources func(spec map[string]any)) {
	spec := object.EnsureMap(pod, "spec")
	for c := range RegularContainers(spec) {
		defaultRequests(c)
	}
	defaultResources(spec)
	object.SetDefault(spec, "enableServiceLinks", true)
	if object.Bool(spec, "hostNetwork") {
		for c := range RegularContainers(spec) {
			for port := range object.Each(c["ports"]) {
				if port["containerPort"] != int64(0) {
					object.SetDefaultIfZero(port, "hostPort", port["containerPort"])
				}
			}
		}
	}
	defaultPodSpec(spec)
	removeInitContainerAnnotations(pod)
	if grace, _ := object.Int(spec, "terminationGracePeriodSeconds"); grace < 0 {
		spec["terminationGracePeriodSeconds"] = int64(1)
	}
	defaultPodStatus(pod)
}

func DefaultTemplate(template map[string]any) {
	defaultPodSpec(object.EnsureMap(template, "spec"))
	removeInitContainerAnnotations(template)
}

// defaultPodSpec sets the defaults that Pods and pod templates share.
func defaultPodSpec(spec map[string]any) {
	object.SetDefault(spec, "dnsPolicy", "ClusterFirst")
	object.SetDefault(spec, "restartPolicy", "Always")
	object.SetDefault(spec, "terminationGracePeriodSeconds", int64(30))
	object.SetDefault(spec, "schedulerName", "default-scheduler")
	if spec["securityContext"] == nil {
		spec["securityContext"] = map[string]any{}
	}
	defaultServiceAccount(spec)
	for c := range AllContainers(spec) {
		defaultContainer(c)
	}
	for v := range object.Each(spec["volumes"]) {
		defaultVolume(v)
	}
	quantity.RoundList(spec["overhead"])
	quantity.RoundRequirements(spec["resources"])
}

// defaultServiceAccount sets serviceAccountName and the deprecated serviceAccount to
// the same name.
func defaultServiceAccount(spec map[string]any) {
	name := spec["serviceAccountName"]
	if name == nil || name == "" {
		name = spec["serviceAccount"]
	}
	if name == nil || name == "" {
		object.Remove(spec, "serviceAccount")
		return
	}
	for _, field := range [...]string{"serviceAccountName", "serviceAccount"} {
		object.Put(spec, field, name)
	}
}

func defaultContainer(c map[string]any) {
	if c["imagePullPolicy"] == nil {
		c["imagePullPolicy"] = pullPolicy(object.String(c, "image"))
	}
	object.SetDefault(c, "terminationMessagePath", "/dev/termination-log")
	object.SetDefault(c, "terminationMessagePolicy", "File")
	for port := range object.Each(c["ports"]) {
		object.SetDefaultIfZero(port, "protocol", "TCP")
	}
	for variable := range object.Each(c["env"]) {
		if source := object.Map(variable, "valueFrom"); source != nil {
			defaultFieldRef(source)
			if key := object.Map(source, "fileKeyRef"); key != nil {
				object.SetDefault(key, "optional", false)
			}
		}
	}
	quantity.RoundRequirements(c["resources"])
	for _, name := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		if probe := object.Map(c, name); probe != nil {
			defaultProbe(probe)
		}
	}
	if lifecycle := object.Map(c, "lifecycle"); lifecycle != nil {
		for _, name := range []string{"postStart", "preStop"} {
			defaultHTTPGet(object.Map(lifecycle, name))
		}
	}
}

func defaultProbe(probe map[string]any) {
	object.SetDefaultIfZero(probe, "timeoutSeconds", int64(1))
	object.SetDefaultIfZero(probe, "periodSeconds", int64(10))
	object.SetDefaultIfZero(probe, "successThreshold", int64(1))
	object.SetDefaultIfZero(probe, "failureThreshold", int64(3))
	defaultHTTPGet(probe)
	if grpc := object.Map(probe, "grpc"); grpc != nil {
		object.SetDefault(grpc, "service", "")
	}
}

// defaultHTTPGet sets the defaults of the httpGet of a probe or a lifecycle handler.
func defaultHTTPGet(handler map[string]any) {
	if get := object.Map(handler, "httpGet"); get != nil {
		object.SetDefaultIfZero(get, "path", "/")
		object.SetDefaultIfZero(get, "scheme", "HTTP")
	}
}

// defaultProtocols sets the protocol of the HTTP handlers of a Pod's containers.
func defaultProtocols(spec map[string]any) {
	for c := range AllContainers(spec) {
		for _, handler := range []map[string]any{
			object.Map(c, "livenessProbe"), object.Map(c, "readinessProbe"), object.Map(c, "startupProbe"),
			object.Map(c, "lifecycle", "postStart"), object.Map(c, "lifecycle", "preStop"),
		} {
			if get := object.Map(handler, "httpGet"); get != nil {
				object.SetDefault(get, "protocol", "HTTP1")
			}
		}
	}
}

func defaultFieldRef(source map[string]any) {
	if ref := object.Map(source, "fieldRef"); ref != nil {
		object.SetDefaultIfZero(ref, "apiVersion", "v1")
	}
}

// defaultPodStatus makes podIP and podIPs agree, and rounds the resources of a status, if there is one.
func defaultPodStatus(pod map[string]any) {
	status := object.Map(pod, "status")
	if status == nil {
		return
	}
	if ip := object.String(status, "podIP"); ip != "" && firstIP(status) != ip {
		status["podIPs"] = []any{map[string]any{"ip": ip}}
	} else if ip = firstIP(status); ip != "" {
		object.Put(status, "podIP", ip)
	}
	for _, name := range []string{"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"} {
		for c := range object.Each(status[name]) {
			quantity.RoundList(c["allocatedResources"])
			quantity.RoundRequirements(c["resources"])
		}
	}
	quantity.RoundList(status["allocatedResources"])
	quantity.RoundRequirements(status["resources"])
}

func firstIP(status map[string]any) string {
	for ip := range object.Each(status["podIPs"]) {
		return object.String(ip, "ip")
	}
	return ""
}

// removeInitContainerAnnotations removes them from a Pod or a template.
func removeInitContainerAnnotations(obj map[string]any) {
	kind.RemoveAnnotations(obj, initContainerAnnotations)
}

// initContainerAnnotations held the init containers before Pods had a field for
// them.
var initContainerAnnotations = []string{
	"pod.beta.kubernetes.io/init-containers", "pod.alpha.kubernetes.io/init-containers",
	"pod.beta.kubernetes.io/init-container-statuses", "pod.alpha.kubernetes.io/init-container-statuses",
}
