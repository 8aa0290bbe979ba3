"""The proofs: each kills, bends or breaks the server in its own way, and checks what it promised."""
