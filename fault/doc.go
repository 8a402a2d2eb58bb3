// Package fault holds the tests that run the built program as a child process, break it, and check
// what its promises say afterwards. It has no code of the product; package server/fault is about
// errors.
package fault
