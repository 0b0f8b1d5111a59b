package batch

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCheckSchedule(t *testing.T) {
	for schedule, want := range map[string]string{
		"*/5 0-6 1,15 JAN-mar ?": "",
		"@daily":                 "",
		"@every 1h":              "",
		"5/15 * * * *":           "",
		"TZ=UTC @hourly":         "",
		"@often":                 "unrecognized descriptor: @often",
		"@every x":               `failed to parse duration @every x: time: invalid duration "x"`,
		"* * *":                  "expected exactly 5 fields, found 3: [* * *]",
		"61 * * * *":             "end of range (61) above maximum (59): 61",
		"* * 0 * *":              "beginning of range (0) below minimum (1): 0",
		"5-3 * * * *":            "beginning of range (5) beyond end of range (3): 5-3",
		"*/0 * * * *":            "step of range should be a positive number: */0",
		"1-2-3 * * * *":          "too many hyphens: 1-2-3",
		"1/2/3 * * * *":          "too many slashes: 1/2/3",
		"x * * * *":              `failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax`,
		"TZ=Mars/Base * * * * *": "provided bad location Mars/Base: unknown time zone Mars/Base",
		"TZ=UTC":                 "invalid schedule format: runtime error: slice bounds out of range [:-1]",
	} {
		t.Run(schedule, func(t *testing.T) {
			err := checkSchedule(schedule)
			if want == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, want)
			}
		})
	}
}

func FuzzCheckSchedule(f *testing.F) {
	f.Add("* * * * *")
	f.Add("TZ= @every -1h")
	f.Add("1-/,2 - / , ?")
	f.Fuzz(func(t *testing.T, schedule string) { _ = checkSchedule(schedule) })
}
