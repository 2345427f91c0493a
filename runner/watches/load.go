package watches

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"gopkg.in/yaml.v3"
)

// File is what a watches file says.
type File struct {
	// Watches are the entries of all its YAML documents, in the order of the file.
	Watches []Watch
	// Warnings are what was found and does not keep the file from being used, sorted by position.
	Warnings []Problem
}

// Options say what a file is read against. The zero value is that of the process.
type Options struct {
	// Dir is the directory that paths in the file are relative to. Default the working directory; the directory of
	// the file itself plays no part.
	Dir string
	// Home is where collections of the user are looked for. Default the environment variable HOME.
	Home string
	// LookupEnv gives the environment. Default os.LookupEnv.
	LookupEnv func(name string) (value string, ok bool)
	// Stat and Open give the files that a watch names. Default os.Stat and os.Open.
	Stat func(path string) (fs.FileInfo, error)
	Open func(path string) (io.ReadCloser, error)
	// Strict makes errors of unknown keys, repeated keys and keys without effect, which are warnings otherwise.
	Strict bool
}

// withDefaults fills in what is not set.
func (o Options) withDefaults() (Options, error) {
	if o.LookupEnv == nil {
		o.LookupEnv = os.LookupEnv
	}
	if o.Stat == nil {
		o.Stat = os.Stat
	}
	if o.Open == nil {
		o.Open = func(path string) (io.ReadCloser, error) { return os.Open(path) }
	}
	if o.Home == "" {
		o.Home, _ = o.LookupEnv("HOME")
	}
	if o.Dir == "" {
		var err error
		if o.Dir, err = os.Getwd(); err != nil {
			return o, fmt.Errorf("find the working directory: %w", err)
		}
	}
	return o, nil
}

// Load reads a watches file. The error is [Problems] when the file can be read and is wrong; the File then still has the
// warnings.
func Load(path string, options Options) (File, error) {
	options, err := options.withDefaults()
	if err != nil {
		return File{}, err
	}
	file, err := options.Open(path)
	if err != nil {
		return File{}, fmt.Errorf("read the watches file: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return File{}, fmt.Errorf("read the watches file: %w", err)
	}
	return Decode(path, data, options)
}

// Decode reads the text of a watches file. The name is used in positions.
func Decode(name string, data []byte, options Options) (File, error) {
	options, err := options.withDefaults()
	if err != nil {
		return File{}, err
	}
	source, problem := newSource(name, data, options.LookupEnv)
	if problem != nil {
		return File{}, Problems{*problem}
	}
	documents, err := parseDocuments(source.expansion.text)
	if err != nil {
		return File{}, Problems{syntaxProblem(source, err)}
	}
	d := &decoder{source: source, options: options}
	file := File{Watches: d.readDocuments(documents)}
	file.Warnings = d.warnings.sorted()
	if errs := d.errors.sorted(); len(errs) > 0 {
		file.Watches = nil
		return file, Problems(errs)
	}
	return file, nil
}

// readDocuments reads the lists of all documents as one.
func (d *decoder) readDocuments(documents []*yaml.Node) []Watch {
	var all []Watch
	entries := 0
	for _, document := range documents {
		root := document.Content[0]
		switch {
		case null(root):
			continue
		case root.Kind != yaml.SequenceNode:
			d.failf(root, "", listHint(root), "a watches file must be a list, not %s", shape(root))
			continue
		}
		for _, item := range root.Content {
			entries++
			if watch, ok := d.readEntry(item); ok {
				all = append(all, watch)
			}
		}
	}
	if entries == 0 && len(d.errors.list) == 0 {
		d.warnings.add(Problem{Position: d.source.originalPosition(0), Message: "the file has no watches, so that nothing will run"})
	}
	d.checkTwice(all)
	d.advise()
	return all
}

func shape(n *yaml.Node) string {
	if n.Kind == yaml.MappingNode {
		return "a mapping"
	}
	return "a single value"
}

func listHint(n *yaml.Node) string {
	if n.Kind == yaml.MappingNode {
		return "put - before the first key of each watch"
	}
	return "write one item with - for each watch"
}

// missing reports whether an error says that a file is not there.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
