package warm

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// maxFirstLine bounds the first line of a script, in bytes. Linux has a bound of the same size.
const maxFirstLine = 256

// interpreter returns the Python that runs a script: the absolute path in its first line. One that is found in another
// way, or is given arguments, may be another one than ansible-playbook would have.
func interpreter(script string) (string, error) {
	file, err := os.Open(script)
	if err != nil {
		return "", fmt.Errorf("find the interpreter: %w", err)
	}
	defer func() { _ = file.Close() }()
	line, _ := bufio.NewReaderSize(file, maxFirstLine).ReadSlice('\n')
	words, isScript := strings.CutPrefix(string(line), "#!")
	path := strings.TrimSpace(words)
	if !isScript || !filepath.IsAbs(path) || strings.ContainsAny(path, " \t") || !strings.HasPrefix(filepath.Base(path), "python") {
		return "", fmt.Errorf("%s does not begin with the path of a Python", script)
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("find the interpreter of %s: %w", script, err)
	}
	return path, nil
}
