package priority_test

import (
	"fmt"
	"testing"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/priority"
)

func class(name, fields string) string {
	return `{"kind":"PriorityClass","apiVersion":"scheduling.k8s.io/v1","metadata":{"name":"` + name + `"},` + fields + `}`
}

func pod(spec string) string {
	return `{"metadata":{"name":"p","namespace":"n"},"spec":{"containers":[{"name":"c","image":"i"}]` + spec + `}}`
}

func TestPods(t *testing.T) {
	high, defaults := class("high", `"value":7,"preemptionPolicy":"Never"`), []string{class("high", `"value":7,"globalDefault":true`), class("low", `"value":3,"globalDefault":true`)}
	const policyError = "the string value of PreemptionPolicy (%s) must not be provided in pod spec; priority admission controller computed PreemptLowerPriority from the given PriorityClass name"
	admissiontest.Run(t, priority.Plugin{}, []admissiontest.Request{
		{Name: "no class", Resource: "pods", Object: pod(""), Path: "spec.priority", Want: `0`},
		{Name: "class", Resource: "pods", Objects: []string{high}, Object: pod(`,"priorityClassName":"high"`), Path: "spec.priority", Want: `7`},
		{Name: "preemption policy of the class", Resource: "pods", Objects: []string{high}, Object: pod(`,"priorityClassName":"high"`), Path: "spec.preemptionPolicy", Want: `"Never"`},
		{Name: "lowest default class", Resource: "pods", Objects: defaults, Object: pod(""), Path: "spec.priority", Want: `3`},
		{Name: "name of the default class", Resource: "pods", Objects: defaults, Object: pod(""), Path: "spec.priorityClassName", Want: `"low"`},
		{Name: "system class", Resource: "pods", Object: pod(`,"priorityClassName":"system-node-critical"`), Path: "spec.priority", Want: "2000001000"},
		{Name: "empty preemption policy", Resource: "pods", Object: pod(`,"preemptionPolicy":""`), Error: fmt.Sprintf(policyError, "")},
		{Name: "other preemption policy", Resource: "pods", Object: pod(`,"preemptionPolicy":"Never"`), Error: fmt.Sprintf(policyError, "Never")},
		{Name: "unknown class", Resource: "pods", Object: pod(`,"priorityClassName":"none"`), Error: "no PriorityClass with name none was found"},
		{Name: "other priority", Resource: "pods", Object: pod(`,"priority":5`), Error: "the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name"},
		{Name: "update keeps the priority", Resource: "pods", Object: pod(""), Old: pod(`,"priority":2000001000`), Path: "spec.priority", Want: `2000001000`},
		{Name: "update keeps the preemption policy", Resource: "pods", Object: pod(""), Old: pod(`,"preemptionPolicy":"Never"`), Path: "spec.preemptionPolicy", Want: `"Never"`},
		{Name: "status", Resource: "pods", Subresource: "status", Object: pod(""), Old: pod(`,"priority":5`), Path: "spec.priority"},
	})
}

func TestClasses(t *testing.T) {
	const second = `{"metadata":{"name":"e"},"value":2,"globalDefault":true}`
	admissiontest.Run(t, priority.Plugin{}, []admissiontest.Request{
		{Name: "first default", Resource: "priorityclasses.scheduling.k8s.io", Object: second, Path: "globalDefault", Want: `true`},
		{Name: "second default", Resource: "priorityclasses.scheduling.k8s.io", Objects: []string{class("d", `"value":1,"globalDefault":true`)}, Object: second, Error: "PriorityClass d is already marked as default. Only one default can exist"},
		{Name: "update of the default", Resource: "priorityclasses.scheduling.k8s.io", Objects: []string{class("e", `"value":2,"globalDefault":true`)}, Object: second, Old: second, Path: "globalDefault", Want: `true`},
	})
}

func TestPodGroups(t *testing.T) {
	const groups = "podgroups.scheduling.k8s.io"
	group := func(spec string) string { return `{"metadata":{"name":"g","namespace":"n"},"spec":{` + spec + `}}` }
	high := []string{class("high", `"value":7`)}
	on := map[string]bool{"GenericWorkload": true, "GangScheduling": true, "WorkloadAwarePreemption": true}
	admissiontest.Run(t, priority.Plugin{}, []admissiontest.Request{
		{Name: "class", Resource: groups, Gates: on, Objects: high, Object: group(`"priorityClassName":"high"`), Path: "spec.priority", Want: `7`},
		{Name: "no class", Resource: groups, Gates: on, Object: group(""), Path: "spec.priority", Want: `0`},
		{Name: "default class", Resource: groups, Gates: on, Objects: []string{class("low", `"value":3,"globalDefault":true`)}, Object: group(""), Path: "spec.priorityClassName", Want: `"low"`},
		{Name: "other priority", Resource: groups, Gates: on, Objects: high, Object: group(`"priorityClassName":"high","priority":5`), Error: "priority set in the pod group (5) must match the priority computed (7) based on the priority class set in the spec"},
		{Name: "without a gate of its own", Resource: groups, Minor: 37, Gates: map[string]bool{"PodGroupPreemptionPolicy": false}, Objects: high, Object: group(`"priorityClassName":"high"`), Path: "spec.priority", Want: `7`},
		{Name: "preemption policy", Resource: groups, Minor: 37, Gates: map[string]bool{"GenericWorkload": true, "PodGroupPreemptionPolicy": true}, Object: group(""), Path: "spec.preemptionPolicy", Want: `"PreemptLowerPriority"`},
		{Name: "without the gate", Resource: groups, Objects: high, Object: group(`"priorityClassName":"high"`), Path: "spec.priority"},
	})
}
