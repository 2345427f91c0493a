// Package differential proves that the executor warm does what the executor direct does: it runs the same small projects
// by both and compares all that comes out. There is nothing here but the test and its projects.
//
// A project is a file in testdata/cases, whose first line says what it proves. What may differ has a name, in
// differences_test.go, and a project that shows it says so. "make differential" runs this against any ansible-core.
package differential
