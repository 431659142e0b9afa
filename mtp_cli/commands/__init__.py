"""One module per command: options -> call -> exit status. Each has `register(app)`."""
