package ansible

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apenella/go-ansible/v2/pkg/playbook"
)

// invocation is what a command line of ansible-playbook is made of.
type invocation struct {
	binary      string
	playbook    string
	extraArgs   []string // of the user; whatever they set, the engine's own come later and win
	inventories []string // paths or host lists, at least one
	extraVars   string   // path of a JSON file
	verbosity   int
}

// useFiles puts the extra vars and the vault password into private files, which others do not see in the list of processes.
func (i *invocation) useFiles(dir *runDir) error {
	if err := dir.writeExtraVars(); err != nil {
		return err
	}
	if !dir.hasVault() {
		return nil
	}
	if err := dir.writeVaultPassword(); err != nil {
		return err
	}
	// A file it is, since Ansible resolves the path it gets, which the path of an inherited descriptor need not survive.
	i.extraArgs = append(slices.Clip(i.extraArgs), vaultOption+dir.vaultPassword())
	return nil
}

// vaultOption names the file with the vault password.
const vaultOption = "--vault-password-file="

// command returns the program and its arguments.
func (i *invocation) command() (path string, args []string, err error) {
	options := &playbook.AnsiblePlaybookOptions{Inventory: i.inventories[len(i.inventories)-1]}
	if err := options.AddExtraVarsFile(i.extraVars); err != nil {
		return "", nil, fmt.Errorf("add the extra vars to the command line: %w", err)
	}
	extra := append([]string{}, i.extraArgs...)
	for _, more := range i.inventories[:len(i.inventories)-1] { // the typed options know of one only
		extra = append(extra, "--inventory="+more)
	}
	setVerbosity(options, i.verbosity)
	if more := i.verbosity - 4; more > 0 {
		extra = append(extra, "-"+strings.Repeat("v", more))
	}
	line, err := playbook.NewAnsiblePlaybookCmd(
		playbook.WithBinary(i.binary),
		playbook.WithPlaybooks(i.playbook),
		playbook.WithPlaybookOptions(options),
	).Command()
	if err != nil {
		return "", nil, fmt.Errorf("make the command line: %w", err)
	}
	return line[0], append(extra, line[1:]...), nil
}

func setVerbosity(options *playbook.AnsiblePlaybookOptions, n int) {
	options.VerboseV = n == 1
	options.VerboseVV = n == 2
	options.VerboseVVV = n == 3
	options.VerboseVVVV = n >= 4
}
