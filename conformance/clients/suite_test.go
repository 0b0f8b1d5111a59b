package clients

import (
	"testing"

	"github.com/kubefake/kubefake/conformance/clientsuite"
)

func TestInformers(t *testing.T) { clientsuite.Informers(t) }

func TestPages(t *testing.T) { clientsuite.Pages(t) }

func TestLeaderElection(t *testing.T) { clientsuite.LeaderElection(t) }
