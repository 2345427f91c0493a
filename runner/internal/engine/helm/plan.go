package helm

// move is what to do next.
type move string

const (
	moveNone    move = "none"
	moveVerify  move = "verify"  // look at the children and put back what differs
	moveAdopt   move = "adopt"   // as verify, and write down that the release is this resource's
	moveInstall move = "install" // make the first good revision
	moveUpgrade move = "upgrade" // make a new revision
	moveUnlock  move = "unlock"  // mark what was left unfinished, then look again
	moveCompare move = "compare" // render and compare, then look again
	moveGiveUp  move = "give up" // say once more what has failed
	moveStay    move = "stay"    // as verify, if that is asked for, and say what has failed
	moveWait    move = "wait"
	moveRefuse  move = "refuse"
)

// plan chooses the next move. verify asks for a look at the children; same is what comparing found, nil before.
func plan(s state, verify bool, same *bool) move {
	switch s {
	case absent, failedInstall:
		return moveInstall
	case outOfSync, failedUpgrade:
		return moveUpgrade
	case interrupted:
		return moveUnlock
	case givenUp:
		return moveGiveUp
	case rolledBack:
		return moveStay
	case busy:
		return moveWait
	case foreign:
		return moveRefuse
	case unowned:
		return moveAdopt
	case unproven:
		return planUnproven(same)
	default: // unchanged
		if verify {
			return moveVerify
		}
		return moveNone
	}
}

func planUnproven(same *bool) move {
	switch {
	case same == nil:
		return moveCompare
	case *same:
		return moveAdopt
	default:
		return moveUpgrade
	}
}
