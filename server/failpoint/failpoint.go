// Package failpoint marks the moments at which a process may be ended, stopped, held or made to fail,
// for tests of what the product promises then. It promises to cost nothing: without the build tag
// "failpoint" Hit and Error are empty and inlined away, and nothing reads the environment. It must not
// know what its points mean, and imports nothing of ours.
//
// A point has a name of its own, a literal, such as "con.before_commit"; the tests in package oriel/fault
// find every point in the source, so that a new one is covered or fails them.
//
// A program built with the tag reads rules from FAIL, name:nth:action with commas between them. nth
// counts the process's passes of the point from 1, and * is every pass. The actions:
//
//	kill   SIGKILL of the process: no handler of it runs, as at a power cut
//	stop   SIGSTOP of the process until somebody continues it
//	block  says "name\n" on the descriptor FAIL_SAY and waits for a byte on FAIL_HEAR; at the end of
//	       the pipe it goes on
//	error  Error returns an *InjectedError; a Hit goes on
//	panic  panics with an *InjectedError
//
// Where FAIL_WHEN names a file, rules count only the passes after somebody made it. Where FAIL_TRACE
// names one, the name of every point is appended to it at its first pass.
package failpoint

// The variables of the environment.
const (
	Env      = "FAIL"
	SayEnv   = "FAIL_SAY"
	HearEnv  = "FAIL_HEAR"
	WhenEnv  = "FAIL_WHEN"
	TraceEnv = "FAIL_TRACE"
)

// InjectedError is the failure of a point.
type InjectedError struct{ Point string }

func (e *InjectedError) Error() string { return "failpoint " + e.Point }
