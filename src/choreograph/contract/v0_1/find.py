"""Find, a tool without request files."""

OPTIONS = {"--from": "--start", "--to": "--end", "--most": "--count"}
