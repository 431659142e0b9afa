"""Documents as a proofreader sees them: where the prose stands, and what in it must not change.

One reader for each format; each takes the text and returns a `Document` with places in that text."""
