package clients

import (
	"os"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestMain sets what kubectl, client-go and controller-runtime keep for the whole
// process.
func TestMain(m *testing.M) {
	// kubectl would end the process on an error, and reads preferences from
	// the home directory.
	cmdutil.BehaviorOnFatal(func(message string, code int) { panic(exit{message, code}) })
	os.Setenv("KUBERC", "off")
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	os.Exit(m.Run())
}
