// Package settle measures whether Settle of a server waits for managers of
// controller-runtime: whether all that a test has created is reconciled when it returns.
//
// TestManagers does so for the version of the module. The script run does it for several
// versions, many times, on a machine that is busy.
package settle
