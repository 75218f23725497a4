package hostmod

// Plain is what most instances are in some part: nothing exported, no flat names, nothing to do when a
// run is over. Embed it and write the methods that do something.
type Plain struct{}

// Exports gives nothing.
func (Plain) Exports() map[string]any { return nil }

// Native gives nothing.
func (Plain) Native() map[string]any { return nil }

// EndRun does nothing.
func (Plain) EndRun() {}
