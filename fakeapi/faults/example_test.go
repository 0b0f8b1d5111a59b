package faults_test

import (
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/faults"
)

func ExampleParse() {
	list, err := faults.Parse([]byte(`
- {verb: update, resource: deployments.apps, times: 1, code: 409}
- {resource: pods, watch: expire, watches: new}
- {webhook: "*/validate", delay: 9s, probability: 0.5}
`))
	if err != nil {
		panic(err)
	}
	for _, f := range list {
		fmt.Println(f)
	}
	// Output:
	// update of deployments.apps: 409, once
	// watch of pods: expire, new watches only
	// webhook */validate: delay of 9s, 50%
}

func ExampleChaos() {
	srv, err := fakeapi.New(fakeapi.WithInMemory())
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	chaos, err := srv.Inject(faults.Chaos(7)...)
	if err != nil {
		panic(err)
	}
	// Run a controller here. Then the faults with their hits are:
	lines := strings.Split(chaos.String(), "\n")
	fmt.Println(lines[5])
	fmt.Println(lines[9])
	// Output:
	// anything: reset, 2%: hit 0 of 0
	// create,update,patch,delete,deletecollection of anything: reset after serving, 2%: hit 0 of 0
}
