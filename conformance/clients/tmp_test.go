package clients
import (
	_ "k8s.io/kubectl/pkg/cmd"
	_ "sigs.k8s.io/controller-runtime"
)
