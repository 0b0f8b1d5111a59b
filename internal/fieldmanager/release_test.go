package fieldmanager_test

import (
	"github.com/kubefake/kubefake/internal/fieldmanager"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/schema"
)

func init() {
	fieldmanager.DefaultRelease = func() schema.Documents {
		p, err := release.Open("")
		if err != nil {
			panic(err)
		}
		return p
	}
}
