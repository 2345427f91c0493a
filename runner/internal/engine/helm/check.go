package helm

import "k8s.io/utils/clock"

// CheckChart returns what keeps the chart at path, a directory or an archive, from being used; nil if it loads.
func CheckChart(path string) error {
	_, err := (&chartSource{path: path, clock: clock.RealClock{}}).load()
	return err
}
