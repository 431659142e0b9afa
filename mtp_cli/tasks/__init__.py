"""What a job is: prompts, splitting, protected spans, edits. Nothing here prints or knows a file name."""
