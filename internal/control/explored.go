package control

import (
	"encoding/json"

	"github.com/kubefake/kubefake/internal/story"
)

// Searches are what searches of package scenarios/explore leave in a directory. That package is built on
// servers, so a program gives them to a server.
type Searches interface {
	// Explored returns what the searches have tried and found so far.
	Explored() (Explored, error)
	// Story returns the story of a finding, by ExploredFinding.StoryName. The error is of type
	// *status.Status if there is none.
	Story(name string) (*story.Story, error)
}

// ShowSearches makes the endpoint answer what searches leave.
func (c *Control) ShowSearches(from Searches) { c.searches.Store(&from) }

// Explored is what searches have left in a directory.
type Explored struct {
	// Directory is that of the searches; empty if the server shows none.
	Directory string `json:"directory,omitempty"`
	// Systems are what was explored, by name.
	Systems []ExploredSystem `json:"systems"`
}

// An ExploredSystem is a system under test with what all of its searches have tried and found.
type ExploredSystem struct {
	// Name is that of the test; empty for searches that are no test's.
	Name string `json:"name"`
	// Searches is the number of searches that have ended, and Running are those that have not.
	Searches int             `json:"searches"`
	Running  []RunningSearch `json:"running,omitempty"`
	// Plans is the number of plans that were run, and States that of the states that they reached.
	Plans  int `json:"plans"`
	States int `json:"states"`
	// Writes, Deliveries and Lists are the numbers of points of the reference run.
	Writes     int `json:"writePoints"`
	Deliveries int `json:"deliveryPoints"`
	Lists      int `json:"listPoints"`
	// Findings are what is wrong. Unrepeated are violations that did not happen again.
	Findings   []ExploredFinding  `json:"findings"`
	Unrepeated []ExploredFinding  `json:"unrepeated"`
	Coverage   []ExploredCoverage `json:"coverage"`
	// Permissions are what the system asked for.
	Permissions []ExploredPermission `json:"permissions"`
}

// A RunningSearch is a search that goes on.
type RunningSearch struct {
	// Summary describes its progress on one line.
	Summary string `json:"summary"`
	// Done is the part of its time that has passed, from 0 to 1.
	Done float64 `json:"done"`
	// Silent is the number of seconds since it has said something. More than a few mean that its process
	// was killed.
	Silent int `json:"silent"`
}

// An ExploredFinding is a plan with which a system misbehaves.
type ExploredFinding struct {
	// Oracle says what requires otherwise, of which object, and Detail what is wrong.
	Oracle  string `json:"oracle"`
	Subject string `json:"subject"`
	Detail  string `json:"detail"`
	// Plan has the decisions that are needed, and Decisions has them in words.
	Plan      []json.RawMessage `json:"plan"`
	Decisions []string          `json:"decisions"`
	// Plans is the number of plans with this violation. Its plan was tried so often, and repeated so often.
	Plans    int `json:"plans"`
	Tried    int `json:"tried"`
	Repeated int `json:"repeated"`
	// File is the file of the plan and Story that of its story. StoryName is the name by which the server
	// knows the story.
	File      string `json:"file,omitempty"`
	Story     string `json:"story,omitempty"`
	StoryName string `json:"storyName,omitempty"`
	// Command runs the plan again.
	Command string `json:"command,omitempty"`
}

// An ExploredCoverage says at how many points of a sort an action was done.
type ExploredCoverage struct {
	// Sort is write, delivery or list.
	Sort   string `json:"sort"`
	Action string `json:"action"`
	// Points is the number of points, Done at how many of them the action was done, and Equal how many were
	// skipped, because the server has the same state at another point.
	Points int `json:"points"`
	Done   int `json:"done"`
	Equal  int `json:"equal"`
}

// An ExploredPermission is a verb and a resource that a system asked for.
type ExploredPermission struct {
	Verb string `json:"verb"`
	// Resource has its group and its subresource, as in deployments.apps/status.
	Resource string `json:"resource"`
	// Reference reports whether the system asked for it without faults too.
	Reference bool `json:"reference,omitempty"`
}

func (c *Control) explored(*Request, none) (Explored, error) {
	from := c.searches.Load()
	if from == nil {
		return Explored{Systems: []ExploredSystem{}}, nil
	}
	return (*from).Explored()
}

// A FindingQuery selects a finding.
type FindingQuery struct {
	// Name is the storyName of the finding.
	Name string `query:"name"`
}

func (c *Control) findingStory(_ *Request, in FindingQuery) (*story.Story, error) {
	from := c.searches.Load()
	if from == nil {
		return nil, notFound("the server shows no search; fakeapi serve --explore DIRECTORY does")
	}
	return (*from).Story(in.Name)
}
