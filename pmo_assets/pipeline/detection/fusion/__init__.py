"""Structure and network together: which boxes of both stay, and where their edges lie."""
