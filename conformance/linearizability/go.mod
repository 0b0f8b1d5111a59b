module github.com/kubefake/kubefake/conformance/linearizability

go 1.26.0

require github.com/kubefake/kubefake v0.0.0

require (
	github.com/anishathalye/porcupine v1.3.1
	github.com/google/btree v1.1.3 // indirect
)

replace github.com/kubefake/kubefake => ../..
