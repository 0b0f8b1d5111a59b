package junit

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReport(t *testing.T) {
	r := Report{Name: "all"}
	r.Add("a", Case{Name: "one", ClassName: "a", File: "a.yaml", Line: 3})
	r.Add("a", Case{Name: "two", ClassName: "a", Failure: &Failure{Message: "<no>", Text: "x & y"}})
	r.Add("b", Case{Name: "three", ClassName: "b", Skipped: &Skipped{"not now"}})
	var out strings.Builder
	require.NoError(t, r.Write(&out, 1500*time.Millisecond))
	assert.Equal(t, `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="all" tests="3" failures="1" skipped="1" time="1.500">
  <testsuite name="a" tests="2" failures="1" skipped="0">
    <testcase name="one" classname="a" file="a.yaml" line="3"></testcase>
    <testcase name="two" classname="a">
      <failure message="&lt;no&gt;">x &amp; y</failure>
    </testcase>
  </testsuite>
  <testsuite name="b" tests="1" failures="0" skipped="1">
    <testcase name="three" classname="b">
      <skipped message="not now"></skipped>
    </testcase>
  </testsuite>
</testsuites>
`, out.String())
}
