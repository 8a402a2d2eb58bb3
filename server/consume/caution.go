package consume

// cautious is how many batches in a row must have met no identity that was taken before the next goes in at
// once again: one that fails has cost the server most of a batch.
const cautious = 16

// caution remembers whether identities were taken lately. One goroutine at a time.
type caution struct{ left int }

// way is how to store the next batch.
func (c *caution) way() way {
	if c.left > 0 {
		return staged
	}
	return atOnce
}

// taken is the way on for a batch that could not go in at once.
func (c *caution) taken() way {
	c.left = cautious
	return staged
}

// learn takes in what became of a stored batch.
func (c *caution) learn(by way, conflicts int) {
	switch {
	case by != staged:
	case conflicts > 0:
		c.left = cautious
	case c.left > 0:
		c.left--
	}
}
