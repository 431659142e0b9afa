"""What cores this machine has, as its system tells."""
