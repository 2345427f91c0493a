// Package budget bounds how many runs there are at one time, over all watches, and says who comes next.
package budget
