// Package drift finds what keeps a live object from holding all that a manifest asks for.
//
// The question is one of containment, not of equality: fields, labels, annotations and list items that others added
// are left alone, and so are fields that the API server filled in. The answer is the smallest patch that brings
// back what the manifest asks for, or none.
package drift
