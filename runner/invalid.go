package runner

// InvalidError says that the input of an operator (its options or its watches file) is wrong, so that nothing was
// started.
type InvalidError struct{ Err error }

// Error returns the problems, one to a line.
func (e *InvalidError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *InvalidError) Unwrap() error { return e.Err }
