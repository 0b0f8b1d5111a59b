package jobvalidation_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/jobvalidation"
)

func TestParallelism(t *testing.T) {
	group := func(name, owner, policy string) string {
		return `{"kind":"PodGroup","apiVersion":"scheduling.k8s.io/v1alpha2","metadata":{"name":"` + name + `","namespace":"n","ownerReferences":[{"uid":"` + owner +
			`","controller":true}]},"spec":{"schedulingPolicy":{"` + policy + `":{}}}}`
	}
	job := func(spec string) string {
		return `{"metadata":{"name":"j","namespace":"n","uid":"1"},"spec":{` + spec + `}}`
	}
	const one, two, refused = `"parallelism":1`, `"parallelism":2`, `cannot change parallelism for a Job referencing gang-scheduled PodGroup "g"`
	const named = `,"template":{"spec":{"schedulingGroup":{"podGroupName":"g"}}}`
	gates := map[string]bool{"GenericWorkload": true}
	admissiontest.Run(t, jobvalidation.Plugin{}, []admissiontest.Request{
		{Name: "gang of the Job", Resource: "jobs.batch", Gates: gates, Objects: []string{group("g", "1", "gang")}, Object: job(two), Old: job(one), Error: refused},
		{Name: "gang that the template names", Resource: "jobs.batch", Gates: gates, Objects: []string{group("g", "2", "gang")}, Object: job(two + named), Old: job(one + named), Error: refused},
		{Name: "no gang", Resource: "jobs.batch", Gates: gates, Objects: []string{group("g", "1", "basic"), group("h", "2", "gang")}, Object: job(two), Old: job(one)},
		{Name: "no such group", Resource: "jobs.batch", Gates: gates, Object: job(two + named), Old: job(one + named)},
		{Name: "same parallelism", Resource: "jobs.batch", Gates: gates, Objects: []string{group("g", "1", "gang")}, Object: job(one), Old: job(one)},
		{Name: "without the gates", Resource: "jobs.batch", Objects: []string{group("g", "1", "gang")}, Object: job(two), Old: job(one)},
		{Name: "new Job", Resource: "jobs.batch", Gates: gates, Objects: []string{group("g", "1", "gang")}, Object: job(two)},
	})
}
