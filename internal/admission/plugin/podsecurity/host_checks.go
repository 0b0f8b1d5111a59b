package podsecurity

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
)

func hostNamespaces(p *pod) (reason, detail string) {
	var shared []string
	for _, name := range []string{"hostNetwork", "hostPID", "hostIPC"} {
		if p.spec.Bool(name) {
			shared = append(shared, name+"=true")
		}
	}
	if len(shared) == 0 {
		return "", ""
	}
	return "host namespaces", strings.Join(shared, ", ")
}

func hostPathVolumes(p *pod) (reason, detail string) {
	var bad []string
	for volume := range p.spec.At("volumes").Objects() {
		if !volume.IsNil("hostPath") {
			bad = append(bad, volume.String("name"))
		}
	}
	if len(bad) == 0 {
		return "", ""
	}
	return "hostPath volumes", pluralWith("volume", bad)
}

func hostPorts(p *pod) (reason, detail string) {
	var bad []string
	ports := set{}
	for _, c := range p.containers {
		before := len(bad)
		for port := range c.At("ports").Objects() {
			if n, _ := port.Int("hostPort"); n != 0 {
				ports[strconv.FormatInt(n, 10)] = true
				if len(bad) == before {
					bad = append(bad, c.String("name"))
				}
			}
		}
	}
	if len(bad) == 0 {
		return "", ""
	}
	return "hostPort", fmt.Sprintf("%s %s %s %s", pluralWith("container", bad), use(bad), plural("hostPort", len(ports)), strings.Join(ports.sorted(), ", "))
}

// handlers are the fields of a container that have a handler.
var handlers = [][]string{{"livenessProbe"}, {"readinessProbe"}, {"startupProbe"}, {"lifecycle", "postStart"}, {"lifecycle", "preStop"}}

func hostProbesAndHostLifecycle(p *pod) (reason, detail string) {
	containers, hosts := set{}, set{}
	for _, c := range p.containers {
		for _, path := range handlers {
			handler := c.At(path...)
			for _, action := range []string{"httpGet", "tcpSocket"} {
				if host := handler.String(action, "host"); host != "" {
					containers[c.String("name")], hosts[host] = true, true
				}
			}
		}
	}
	if len(containers) == 0 {
		return "", ""
	}
	bad := containers.sorted()
	return "probe or lifecycle host", fmt.Sprintf("%s %s %s", pluralWith("container", bad), use(bad), pluralWith("probe or lifecycle host", hosts.sorted()))
}

func hostProcess(p *pod) (reason, detail string) {
	setters := p.settersWhere(func(s object.View) bool { return s.Bool("windowsOptions", "hostProcess") })
	if setters == "" {
		return "", ""
	}
	return "hostProcess", setters + " must not set securityContext.windowsOptions.hostProcess=true"
}
