// Package table shows a live table of resources: redrawn in place on a terminal, changed lines only elsewhere.
//
// [Render] is pure. [Screen] keeps the rows, and lets other output pass above them.
package table
