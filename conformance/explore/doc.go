// Package explore tests that package explore of scenarios finds planted bugs, and nothing in controllers without a
// bug. It is here because a search makes thousands of requests, which takes four times as long with the race
// detector; the tests of package explore itself search with it.
package explore
