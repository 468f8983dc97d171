"""Arrays in, arrays out: quaternions, floor transforms and filters, with no idea of clips or files."""
