"""Speed, memory and quality, stage by stage: `python -m benchmarks` runs every bench_*.py here in turn."""
