"""How good answers are, measured against recordings that were held back."""
